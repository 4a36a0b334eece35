//! What github-action-benchmark reads as `customSmallerIsBetter`
//! (<https://github.com/benchmark-action/github-action-benchmark>): a list of figures that are all better the smaller they
//! are. A rate is written as the time per datagram.

use serde_json::{Error, Value, json};

use super::figures::{Figure, RATE, figures};
use crate::results::row::Row;

/// Returns the figures of all rows that were measured.
///
/// # Errors
/// Fails if a figure cannot be written as JSON.
pub(super) fn encode(rows: &[Row]) -> Result<Vec<u8>, Error> {
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
        figures(row)
            .into_iter()
            .map(move |figure| entry(&case, figure))
    };
    let entries: Vec<Value> = rows.iter().flat_map(of_row).collect();
    let mut text = serde_json::to_vec_pretty(&entries)?;
    text.push(b'\n');
    Ok(text)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn a_rate_is_a_time_whose_interval_is_turned_round() {
        let row = Row {
            received_pps_low: Some(160_000.0),
            received_pps_high: Some(250_000.0),
            ..ordinary_row()
        };
        let all: Value = serde_json::from_slice(&encode(&[row]).expect("JSON")).expect("JSON");
        let name = format!("{} ns-per-packet", ordinary_row().case.key());
        let time =
            json!({ "name": name, "unit": "ns", "value": 5000.0, "range": "4000.000 to 6250.000" });
        assert_eq!(all[0], time);
    }
}
