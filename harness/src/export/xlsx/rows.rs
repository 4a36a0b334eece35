//! The sheet of rows: all columns of the CSV, as numbers that a spreadsheet can sort and filter.

use rust_xlsxwriter::{Format, Worksheet, XlsxError};
use serde_json::Value;

use super::{Formats, index, page, write};
use crate::row::Row;

/// What is longer does not make its column wider, in characters.
const WIDEST: usize = 40;
/// The least, for the button of the filter.
const NARROWEST: usize = 4;
/// A bold letter.
const LETTER_PX: usize = 7;
/// The last column on paper: all of them would be too small to read.
const LAST_PRINTED: &str = "status";

/// A column of the sheet.
struct Column {
    format: Format,
    /// In characters.
    width: usize,
}

pub(super) fn fill(
    sheet: &mut Worksheet,
    rows: &[Row],
    formats: &Formats,
) -> Result<(), XlsxError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut longest = 0;
    let mut last_printed = 0;
    for (n, row) in rows.iter().enumerate() {
        let fields = serde_json::to_value(row).unwrap_or_default();
        let fields = fields.as_object().into_iter().flatten();
        for (place, (name, value)) in fields.enumerate() {
            if n == 0 {
                let header = (0, index(place)?);
                write(sheet, header, &name.as_str().into(), &formats.upright)?;
                columns.push(Column {
                    format: Format::new().set_num_format(number_format(name)),
                    width: NARROWEST,
                });
                longest = longest.max(name.len());
                if name == LAST_PRINTED {
                    last_printed = index(place)?;
                }
            }
            let Some(column) = columns.get_mut(place) else {
                continue;
            };
            let place = (index(n + 1)?, index(place)?);
            write(sheet, place, value, &column.format)?;
            column.width = column.width.max(width(value));
        }
    }
    for (place, column) in columns.iter().enumerate() {
        sheet.set_column_width(index(place)?, index::<u16>(column.width + 1)?)?;
    }
    // With space below for the buttons of the filter.
    sheet.set_row_height_pixels(0, index(20 + LETTER_PX * longest)?)?;
    if let Some(last) = columns.len().checked_sub(1) {
        sheet.autofilter(0, 0, index(rows.len())?, index(last)?)?;
    }
    // The header and the engines stay in sight.
    sheet.set_freeze_panes(1, 2)?;
    page(sheet);
    sheet.set_repeat_rows(0, 0)?;
    sheet.set_print_area(0, 0, index(rows.len())?, last_printed)?;
    Ok(())
}

/// That a value takes, in characters.
fn width(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count().min(WIDEST),
        Value::Number(number) => {
            let digits = number.to_string().len();
            // And separators of thousands.
            digits + 1 + digits / 6
        }
        _ => 0,
    }
}

/// By the unit, which is in the name. Percentages are plain numbers: 1.5 is 1.5 %.
fn number_format(column: &str) -> &'static str {
    let ends = |ends: &[&str]| ends.iter().any(|end| column.ends_with(end));
    let is_rate = column.contains("_pps") || column.contains("_mbps");
    if column == "seed" {
        "0"
    } else if column.contains("ratio_to_") {
        "0.0000"
    } else if column.contains("_mbps")
        || column.contains("_ns_per_packet")
        || column.starts_with("rtt_")
    {
        "#,##0.0"
    } else if is_rate
        || ends(&[
            "_packets",
            "_bytes",
            "_calls",
            "_entries",
            "_requests",
            "_answers",
            "_rps",
        ])
    {
        "#,##0"
    } else if ends(&["_pct"]) {
        "0.00"
    } else {
        "General"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::ordinary_row;

    #[test]
    fn numbers_look_like_what_they_are() {
        for (column, format) in [
            ("received_pps_low", "#,##0"),
            ("received_mbps", "#,##0.0"),
            ("cpu_ns_per_packet", "#,##0.0"),
            ("cpu_ns_per_packet_low", "#,##0.0"),
            ("rtt_p99_us_low", "#,##0.0"),
            ("unanswered_requests", "#,##0"),
            ("unaccounted_packets", "#,##0"),
            ("cpu_ratio_to_std_low", "0.0000"),
            ("ratio_sd_pct", "0.00"),
            ("loss_pct", "0.00"),
            ("seed", "0"),
            ("threads", "General"),
            ("case", "General"),
        ] {
            assert_eq!(number_format(column), format, "{column}");
        }
    }

    #[test]
    fn the_columns_are_those_of_the_csv() {
        let csv = crate::export::csv::shape(&[ordinary_row()]).expect("it has a shape");
        let header = String::from_utf8_lossy(&csv);
        let header: Vec<&str> = header
            .lines()
            .next()
            .unwrap_or_default()
            .split(',')
            .collect();
        let fields = serde_json::to_value(ordinary_row()).expect("it has a shape");
        let Value::Object(fields) = fields else {
            panic!("a row is an object")
        };
        assert_eq!(fields.keys().collect::<Vec<_>>(), header);
    }
}
