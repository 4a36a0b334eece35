//! Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format/>): an object of benchmarks, the
//! cases by their keys, each with its measures. The lower and the upper value are the interval of the row.

use serde_json::{Error, Map, Value, json};

use super::figures::{Figure, figures};
use crate::results::row::Row;

/// Returns the figures of all rows that were measured.
///
/// # Errors
/// Fails if a figure cannot be written as JSON.
pub(super) fn encode(rows: &[Row]) -> Result<Vec<u8>, Error> {
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
    let mut text = serde_json::to_vec_pretty(&benchmarks)?;
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
        let text = encode(&[row, skipped]).expect("JSON");
        let all: Value = serde_json::from_slice(&text).expect("JSON");
        let case = ordinary_row().case.key();
        let rate =
            json!({ "value": 200_000.0, "lower_value": 190_000.0, "upper_value": 210_000.0 });
        assert_eq!(all[&case]["received-pps"], rate);
        assert_eq!(all.as_object().map(Map::len), Some(1));
    }
}
