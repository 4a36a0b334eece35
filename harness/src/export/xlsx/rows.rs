//! The sheet of rows: all columns of the CSV, as numbers that a spreadsheet can sort and filter.

use rust_xlsxwriter::{Format, Worksheet, XlsxError};

use super::{Formats, index, write};
use crate::row::Row;

/// What is longer does not make its column wider.
const WIDEST_PX: u16 = 300;

pub(super) fn fill(
    sheet: &mut Worksheet,
    rows: &[Row],
    formats: &Formats,
) -> Result<(), XlsxError> {
    let mut columns: Vec<Format> = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        let fields = serde_json::to_value(row).unwrap_or_default();
        let fields = fields.as_object().into_iter().flatten();
        for (column, (name, value)) in fields.enumerate() {
            if n == 0 {
                let place = (0, index(column)?);
                write(sheet, place, &name.as_str().into(), &formats.header)?;
                columns.push(Format::new().set_num_format(number_format(name)));
            }
            let format = columns.get(column).unwrap_or(&formats.plain);
            write(sheet, (index(n + 1)?, index(column)?), value, format)?;
        }
    }
    if let Some(last) = columns.len().checked_sub(1) {
        sheet.autofilter(0, 0, index(rows.len())?, index(last)?)?;
    }
    // The header and the key stay in sight.
    sheet.set_freeze_panes(1, 1)?;
    sheet.autofit_to_max_width(WIDEST_PX);
    Ok(())
}

/// By the unit, which is in the name. Percentages are plain numbers: 1.5 is 1.5 %.
fn number_format(column: &str) -> &'static str {
    let ends = |ends: &[&str]| ends.iter().any(|end| column.ends_with(end));
    let is_rate = column.contains("_pps") || column.contains("_mbps");
    if column == "seed" {
        "0"
    } else if column.contains("ratio_to_std") {
        "0.0000"
    } else if column.contains("_mbps") || ends(&["_ns_per_packet"]) || column.starts_with("rtt_") {
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
    use serde_json::Value;

    use crate::row::tests::ordinary_row;

    #[test]
    fn numbers_look_like_what_they_are() {
        for (column, format) in [
            ("received_pps_low", "#,##0"),
            ("received_mbps", "#,##0.0"),
            ("cpu_ns_per_packet", "#,##0.0"),
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
