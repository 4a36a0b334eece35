//! Cells of CSV files.

use std::collections::BTreeMap;

/// Returns the cells of a column of a CSV.
pub(crate) fn column(csv: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    rows.map(|row| row.expect("CSV")[name].clone()).collect()
}
