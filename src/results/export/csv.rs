//! CSV output (RFC 4180): a header, then one row per case. Spreadsheets read cells as numbers and texts, never as
//! formulas.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::selection::Selection;
use crate::results::row::Row;

/// Encodes the header and the rows, with all their columns. Without rows there is no header either.
///
/// # Errors
/// Fails if a value cannot be written as CSV.
pub fn encode(rows: &[impl Serialize]) -> anyhow::Result<Vec<u8>> {
    let rows = rows.iter().map(fields).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = rows
        .first()
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    let mut text = record(names.iter().copied())?;
    for row in &rows {
        text.extend(line(row, names.iter().copied())?);
    }
    Ok(if rows.is_empty() { Vec::new() } else { text })
}

/// Returns the header of a file with these columns.
///
/// # Errors
/// Fails if a column name cannot be written as CSV.
pub(super) fn header(selection: &Selection) -> anyhow::Result<Vec<u8>> {
    record(selection.columns().map(|column| column.name))
}

/// Returns one CSV line per row, with these columns.
///
/// # Errors
/// Fails if a value cannot be written as CSV.
pub(super) fn lines(selection: &Selection, rows: &[Row]) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    for row in rows {
        let names = selection.columns().map(|column| column.name);
        text.extend(line(&fields(row)?, names)?);
    }
    Ok(text)
}

fn fields(row: &impl Serialize) -> anyhow::Result<Map<String, Value>> {
    match serde_json::to_value(row)? {
        Value::Object(fields) => Ok(fields),
        _ => anyhow::bail!("a row has no columns"),
    }
}

fn line<'a>(
    row: &Map<String, Value>,
    names: impl Iterator<Item = &'a str>,
) -> anyhow::Result<Vec<u8>> {
    record(names.map(|name| guard_formula(row.get(name))))
}

fn record(cells: impl Iterator<Item = impl Serialize>) -> anyhow::Result<Vec<u8>> {
    let mut form = csv::WriterBuilder::new();
    let mut writer = form.has_headers(false).from_writer(Vec::new());
    writer.serialize(cells.collect::<Vec<_>>())?;
    Ok(writer.into_inner()?)
}

/// Prefixes a text with an apostrophe if a spreadsheet would take it for a formula. Spreadsheets compute such texts
/// and run the commands in them (CWE-1236). The apostrophe marks a text, as it does for texts typed into a cell.
/// Numbers stay numbers, negative ones such as -3 included.
fn guard_formula(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) if text.starts_with(needs_apostrophe) => {
            format!("'{text}").into()
        }
        value => value.cloned().unwrap_or_default(),
    }
}

/// Returns the cells of a row by column name, as texts without apostrophes.
pub(crate) fn texts(row: &Row) -> BTreeMap<String, String> {
    let cells = fields(row).unwrap_or_default().into_iter();
    let text = |value| match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        number => number.to_string(),
    };
    cells.map(|(name, value)| (name, text(value))).collect()
}

/// Removes the apostrophe that [`guard_formula`] wrote in front of a text.
pub(crate) fn unguard_formula(text: &str) -> &str {
    let rest = text.strip_prefix('\'');
    let quoted = rest.filter(|rest| rest.starts_with(needs_apostrophe));
    quoted.unwrap_or(text)
}

/// Returns whether a text with this first character needs an apostrophe. The apostrophe itself is included, because
/// a text that begins with one would lose it on reading.
fn needs_apostrophe(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::files::Results;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn no_text_is_a_formula_and_each_is_read_as_it_was() {
        for text in [
            "=1+2", "+1", "-1", "@x", "\t=1", "\r=1", "'=1", "''", "'a", "-", "a=1",
        ] {
            let row = Row {
                model: text.to_owned(),
                warnings: vec![text.to_owned(), "=1".to_owned()],
                queue_growth_packets: Some(-3),
                temp_c_start: Some(-1.5),
                ..ordinary_row()
            };
            let bytes = encode(&[&row]).expect("it can be encoded");
            let mut reader = csv::Reader::from_reader(&bytes[..]);
            let cells = reader.records().flatten().next().expect("a row");
            for cell in &cells {
                let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
                assert!(!is_formula || cell.parse::<f64>().is_ok(), "{cell:?}");
            }
            let cells = String::from_utf8(bytes.clone()).expect("UTF-8");
            assert!(
                cells.contains(",-3,") && cells.contains(",-1.5,"),
                "{cells}"
            );
            let results = Results::from_csv("x.csv", &bytes[..]).expect("it is read");
            assert_eq!(results.rows[0].model, text);
            let first = results.rows[0].warnings.first().map_or("", String::as_str);
            assert_eq!(first, text);
        }
    }
}
