//! The figures of a row that are followed from run to run, in formats of continuous integration.

use std::fmt::Write as _;

use serde_json::{Error, Map, Value, json};

use crate::results::row::{Interval, Row, Status};

/// A figure of a row: the name of the column, with hyphens; its unit; and the estimate with its interval.
type Figure = (&'static str, &'static str, Interval);

/// Returns the figures of a row that was measured. Empty for other rows. All but the first, the rate, are better the
/// smaller they are.
fn figures(row: &Row) -> impl Iterator<Item = Figure> {
    let all = [
        ("received-pps", "1/s", row.pps()),
        ("cpu-ns-per-packet", "ns", row.cpu_ns()),
        ("rtt-p50-us", "us", row.p50_us()),
        ("loss-pct", "%", [row.loss_pct, None, None]),
    ];
    let is_ok = row.status == Status::Ok;
    all.into_iter()
        .filter(move |(_, _, [value, ..])| is_ok && value.is_some())
}

/// Returns the figures of all rows in the Bencher Metric Format
/// (<https://bencher.dev/docs/reference/bencher-metric-format/>): an object of benchmarks, the cases by their keys, each
/// with its measures. The lower and the upper value are the interval of the row.
///
/// # Errors
/// Fails if a figure cannot be written as JSON.
pub(super) fn bencher(rows: &[Row]) -> Result<Vec<u8>, Error> {
    let measure = |(name, _, [value, low, high]): Figure| {
        let mut measure = json!({ "value": value });
        if let Some((low, high)) = low.zip(high) {
            measure["lower_value"] = low.into();
            measure["upper_value"] = high.into();
        }
        (name.to_owned(), measure)
    };
    let mut benchmarks = Map::new();
    for row in rows {
        let measures: Map<String, Value> = figures(row).map(measure).collect();
        if !measures.is_empty() {
            benchmarks.insert(row.case.key(), measures.into());
        }
    }
    pretty(&benchmarks.into())
}

/// Returns what github-action-benchmark reads as `customSmallerIsBetter`
/// (<https://github.com/benchmark-action/github-action-benchmark>): a list of figures that are all better the smaller
/// they are. A rate is written as the time from one datagram to the next.
///
/// # Errors
/// Fails if a figure cannot be written as JSON.
pub(super) fn github_action_benchmark(rows: &[Row]) -> Result<Vec<u8>, Error> {
    let mut entries = Vec::new();
    for row in rows {
        for figure in figures(row) {
            let (name, unit, [value, low, high]) = match figure {
                ("received-pps", _, [value, low, high]) => {
                    let ns = [value, high, low].map(|pps| Some(1e9 / pps?));
                    ("ns-per-packet", "ns", ns)
                }
                other => other,
            };
            let name = format!("{} {name}", row.case.key());
            let mut entry = json!({ "name": name, "unit": unit, "value": value });
            if let Some((low, high)) = low.zip(high) {
                entry["range"] = format!("{low:.3} to {high:.3}").into();
            }
            entries.push(entry);
        }
    }
    pretty(&entries.into())
}

/// Returns lines that LAVA's test definitions send on (`name result value unit`): one per figure of a case that was
/// measured, and one per case that was not.
pub(super) fn lava(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        // The letters that names of test cases may have.
        let case = row.case.key().replace(':', "-").replace('/', "_");
        let _ = match row.status {
            Status::Ok => Ok(()),
            Status::Skipped => writeln!(text, "{case} skip"),
            Status::Failed => writeln!(text, "{case} fail"),
            Status::Interrupted => writeln!(text, "{case} unknown"),
        };
        for (name, unit, [value, ..]) in figures(row) {
            let _ = writeln!(
                text,
                "{case}-{name} pass {} {unit}",
                value.unwrap_or_default()
            );
        }
    }
    text
}

fn pretty(value: &Value) -> Result<Vec<u8>, Error> {
    Ok([serde_json::to_vec_pretty(value)?, b"\n".to_vec()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn a_measure_has_the_interval_of_its_row() {
        let row = Row {
            received_pps_low: Some(190_000.0),
            received_pps_high: Some(210_000.0),
            ..ordinary_row()
        };
        let skipped = Row {
            status: crate::results::row::Status::Skipped,
            ..ordinary_row()
        };
        let text = bencher(&[row, skipped]).expect("JSON");
        let all: Value = serde_json::from_slice(&text).expect("JSON");
        let case = ordinary_row().case.key();
        let rate =
            json!({ "value": 200_000.0, "lower_value": 190_000.0, "upper_value": 210_000.0 });
        assert_eq!(all[&case]["received-pps"], rate);
        assert_eq!(all.as_object().map(Map::len), Some(1));
    }

    #[test]
    fn a_rate_is_a_time_whose_interval_is_turned_round() {
        let row = Row {
            received_pps_low: Some(160_000.0),
            received_pps_high: Some(250_000.0),
            ..ordinary_row()
        };
        let all: Value =
            serde_json::from_slice(&github_action_benchmark(&[row]).expect("JSON")).expect("JSON");
        let name = format!("{} ns-per-packet", ordinary_row().case.key());
        let time =
            json!({ "name": name, "unit": "ns", "value": 5000.0, "range": "4000.000 to 6250.000" });
        assert_eq!(all[0], time);
    }

    #[test]
    fn each_figure_is_a_line_and_each_case_without_one_too() {
        let failed = Row {
            status: Status::Failed,
            ..ordinary_row()
        };
        let text = lava(&[ordinary_row(), failed]);
        let case = ordinary_row()
            .case
            .key()
            .replace(':', "-")
            .replace('/', "_");
        let mut lines = text.lines();
        let rate = format!("{case}-received-pps pass 200000 1/s");
        assert_eq!(lines.next(), Some(rate.as_str()));
        assert_eq!(lines.next_back(), Some(format!("{case} fail").as_str()));
        assert!(
            text.lines()
                .all(|line| !line.contains([':', '/']) || line.ends_with("1/s"))
        );
    }
}
