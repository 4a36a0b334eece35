//! CSV output (RFC 4180): a header, then one row per case. Spreadsheets read cells as numbers and texts, never as
//! formulas. Those that write 1,5 for 1.5 need another notation: semicolons and decimal commas.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Format;
use crate::term::escape;

/// Encodes the header and the rows, with all their columns.
///
/// # Errors
/// Fails if a value cannot be written as CSV.
pub(super) fn encode(format: Format, rows: &[impl Serialize]) -> anyhow::Result<Vec<u8>> {
    let first = rows.first().map(fields).transpose()?.unwrap_or_default();
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    table(format, &names, rows)
}

/// Encodes a header and one line per row, with these columns. Without rows there is no header either.
///
/// # Errors
/// Fails as [`encode`] does.
pub(super) fn table(
    format: Format,
    names: &[&str],
    rows: &[impl Serialize],
) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    if !rows.is_empty() {
        let header = names.iter().map(|name| (*name).into());
        text.extend(record(format, header.collect())?);
    }
    for row in rows {
        let row = fields(row)?;
        let cells = names.iter().map(|name| safe(row.get(*name)));
        text.extend(record(format, cells.collect())?);
    }
    Ok(text)
}

/// Returns the cells of a row by column name, as JSON values.
///
/// # Errors
/// Fails if a value cannot be written as JSON.
pub(crate) fn fields(row: &impl Serialize) -> anyhow::Result<Map<String, Value>> {
    match serde_json::to_value(row)? {
        Value::Object(fields) => Ok(fields),
        _ => anyhow::bail!("a row has no columns"),
    }
}

fn record(format: Format, mut cells: Vec<Value>) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new();
    if format == Format::CsvDecimalComma {
        writer.delimiter(b';');
        for cell in cells.iter_mut().filter(|cell| cell.is_number()) {
            *cell = cell.to_string().replace('.', ",").into();
        }
    }
    let mut writer = writer.has_headers(false).from_writer(Vec::new());
    writer.serialize(cells)?;
    Ok(writer.into_inner()?)
}

/// Escapes control characters, so that `cat` of the file does not steer a terminal, and prefixes a text with an
/// apostrophe if a spreadsheet would take it for a formula. Spreadsheets compute such texts and run the commands in
/// them (CWE-1236). The apostrophe marks a text, as it does for texts typed into a cell. Numbers stay numbers, negative
/// ones such as -3 included.
fn safe(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            // A text that begins with an apostrophe would lose it in a spreadsheet.
            let is_special = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']);
            let mark = if is_special { "'" } else { "" };
            format!("{mark}{}", escape::line(text)).into()
        }
        value => value.cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::{ordinary_row, remark};
    use crate::results::row::{Failure, Reason, Row};

    #[test]
    fn no_text_is_a_formula() {
        for text in ["=1+2", "+1", "-1", "@x", "'=1", "''", "'a", "-", "a=1"] {
            let row = Row {
                model: text.to_owned(),
                warnings: vec![remark(text), remark("=1")],
                queue_growth_packets: Some(-3),
                temp_c_start: Some(-1.5),
                ..ordinary_row()
            };
            let bytes = encode(Format::Csv, &[&row]).expect("it can be encoded");
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
        }
    }

    #[test]
    fn no_cell_steers_the_terminal_that_shows_the_file() {
        let row = Row {
            reason: Reason::Failed(Failure::told("\u{1b}]0;title\u{7}\r\n=1")),
            warnings: vec![remark("\t=1")],
            ..ordinary_row()
        };
        let text = String::from_utf8(encode(Format::Csv, &[&row]).expect("it can be encoded"))
            .expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}', '\r', '\t']), "{text}");
        assert!(
            text.contains(r"\u{1b}]0;title\u{7}\r\n=1") && text.contains(r"'\t=1"),
            "{text}"
        );
    }
}
