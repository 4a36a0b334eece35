//! The figures of a row that are followed from run to run, in formats of continuous integration.

use std::fmt::Write as _;

use serde_json::{Error, Map, Value, json};

use crate::results::row::{Interval, Row, Status};

/// A figure of a row. All but the rate are better the smaller they are.
struct Figure {
    /// Name of the column, with hyphens.
    name: &'static str,
    /// Unit.
    unit: &'static str,
    /// Estimate.
    value: f64,
    /// Interval of the estimate, if it is known.
    interval: Option<(f64, f64)>,
}

/// Returns the figures of a row that was measured. Empty for other rows.
fn figures(row: &Row) -> Vec<Figure> {
    if row.status != Status::Ok {
        return Vec::new();
    }
    let figure = |name, unit, [value, low, high]: Interval| {
        Some(Figure {
            name,
            unit,
            value: value?,
            interval: low.zip(high),
        })
    };
    let all = [
        figure(RATE, "1/s", row.pps()),
        figure("cpu-ns-per-packet", "ns", row.cpu_ns()),
        figure("rtt-p50-us", "us", row.p50_us()),
        figure("loss-pct", "%", [row.loss_pct, None, None]),
    ];
    all.into_iter().flatten().collect()
}

/// Name of the figure that is better the larger it is.
const RATE: &str = "received-pps";

/// Returns the figures of all rows in the Bencher Metric Format
/// (<https://bencher.dev/docs/reference/bencher-metric-format/>): an object of benchmarks, the cases by their keys, each
/// with its measures. The lower and the upper value are the interval of the row.
///
/// # Errors
/// Fails if a figure cannot be written as JSON.
pub(super) fn bencher(rows: &[Row]) -> Result<Vec<u8>, Error> {
    let measure = |figure: Figure| {
        let mut measure = json!({ "value": figure.value });
        if let Some((low, high)) = figure.interval {
            measure["lower_value"] = low.into();
            measure["upper_value"] = high.into();
        }
        (figure.name.to_owned(), measure)
    };
    let benchmark = |row: &Row| {
        let measures: Map<String, Value> = figures(row).into_iter().map(measure).collect();
        (!measures.is_empty()).then(|| (row.case.key(), Value::Object(measures)))
    };
    let benchmarks: Map<String, Value> = rows.iter().filter_map(benchmark).collect();
    pretty(&Value::Object(benchmarks))
}

/// Returns what github-action-benchmark reads as `customSmallerIsBetter`
/// (<https://github.com/benchmark-action/github-action-benchmark>): a list of figures that are all better the smaller
/// they are. A rate is written as the time per datagram.
///
/// # Errors
/// Fails if a figure cannot be written as JSON.
pub(super) fn github_action_benchmark(rows: &[Row]) -> Result<Vec<u8>, Error> {
    let entry = |case: &str, figure: Figure| -> Value {
        let figure = smaller_is_better(figure);
        let mut entry = json!({
            "name": format!("{case} {}", figure.name), "unit": figure.unit, "value": figure.value,
        });
        if let Some((low, high)) = figure.interval {
            entry["range"] = format!("{low:.3} to {high:.3}").into();
        }
        entry
    };
    let of_row = |row: &Row| {
        let case = row.case.key();
        let figures = figures(row).into_iter();
        figures.map(move |figure| entry(&case, figure))
    };
    let entries: Vec<Value> = rows.iter().flat_map(of_row).collect();
    pretty(&entries.into())
}

/// Turns a rate into the time from one datagram to the next.
fn smaller_is_better(figure: Figure) -> Figure {
    if figure.name != RATE {
        return figure;
    }
    let ns = |per_second: f64| 1e9 / per_second;
    Figure {
        name: "ns-per-packet",
        unit: "ns",
        value: ns(figure.value),
        interval: figure.interval.map(|(low, high)| (ns(high), ns(low))),
    }
}

/// Returns lines that LAVA's test definitions send on (`name result value unit`): one per figure of a case that was
/// measured, and one per case that was not.
pub(super) fn lava(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        // The letters that names of test cases may have.
        let case = row.case.key().replace(':', "-").replace('/', "_");
        let result = match row.status {
            Status::Ok => None,
            Status::Skipped => Some("skip"),
            Status::Failed => Some("fail"),
            Status::Interrupted => Some("unknown"),
        };
        if let Some(result) = result {
            let _ = writeln!(text, "{case} {result}");
        }
        for figure in figures(row) {
            let (name, value, unit) = (figure.name, figure.value, figure.unit);
            let _ = writeln!(text, "{case}-{name} pass {value} {unit}");
        }
    }
    text
}

fn pretty(value: &Value) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
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
