//! CSV (RFC 4180): a header, then one row per case. It opens in a spreadsheet as numbers and texts, and never
//! as a formula.

use serde::Serialize;
use serde_json::Value;

/// The header and the rows. Without a row there is no header either.
///
/// # Errors
/// None that is known: all that a row holds has a shape in CSV.
pub fn shape(rows: &[impl Serialize]) -> anyhow::Result<Vec<u8>> {
    lines(true, rows)
}

/// A line for each row, after the header if that is asked for.
///
/// # Errors
/// As for [`shape`].
pub(super) fn lines(with_header: bool, rows: &[impl Serialize]) -> anyhow::Result<Vec<u8>> {
    let mut form = csv::WriterBuilder::new();
    let mut writer = form.has_headers(false).from_writer(Vec::new());
    for (n, row) in rows.iter().enumerate() {
        let Value::Object(mut columns) = serde_json::to_value(row)? else {
            anyhow::bail!("a row has no columns");
        };
        if with_header && n == 0 {
            writer.write_record(columns.keys())?;
        }
        columns.values_mut().for_each(quote);
        writer.serialize(columns.values().collect::<Vec<_>>())?;
    }
    Ok(writer.into_inner()?)
}

/// A spreadsheet computes what begins so, and runs what it names (CWE-1236). A quotation mark in front makes it
/// a text, which is what people type there, too. Numbers stay numbers: -3 is one.
fn quote(value: &mut Value) {
    if let Value::String(text) = value {
        if text.starts_with(is_taken_for_more) {
            text.insert(0, '\'');
        }
    }
}

/// A text as it was before it was written.
pub(crate) fn unquoted(text: &str) -> &str {
    let rest = text.strip_prefix('\'');
    let quoted = rest.filter(|rest| rest.starts_with(is_taken_for_more));
    quoted.unwrap_or(text)
}

/// With the mark itself, or a text that has one of its own would lose it.
fn is_taken_for_more(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;
    use crate::row::Row;
    use crate::row::tests::ordinary_row;

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
            let bytes = shape(&[&row]).expect("it has a shape");
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
