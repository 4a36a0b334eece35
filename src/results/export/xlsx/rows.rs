//! The sheet of rows, with the columns of the CSV. Numbers are numbers, so that a spreadsheet can sort, filter and
//! draw them.

use rust_xlsxwriter::{Format, FormatAlign, Worksheet, XlsxError};
use serde_json::Value;

use super::summary::A4;
use super::{heading, index, write};
use crate::results::export::selection::Selection;
use crate::results::row::{Column, Holds, Row};

/// Largest width of a column, in characters. Longer texts do not widen it.
const WIDEST: usize = 40;
/// Smallest width of a column, in characters, which fits the filter button.
const NARROWEST: usize = 5;

/// Width of a printed page, in characters that can still be read.
const PAGE: usize = 180;

pub(super) fn fill(
    sheet: &mut Worksheet,
    rows: &[Row],
    selection: &Selection,
) -> Result<(), XlsxError> {
    let upright = heading().set_rotation(90).set_align(FormatAlign::Center);
    let rows: Vec<Value> = rows
        .iter()
        .filter_map(|row| serde_json::to_value(row).ok())
        .collect();
    let (mut last, mut total) = (0, 0);
    for (place, column) in selection.columns().enumerate() {
        write(sheet, (0, place), &column.name.into(), &upright)?;
        let format = Format::new().set_num_format(number_format(column));
        for (n, row) in rows.iter().enumerate() {
            write(sheet, (n + 1, place), &row[column.name], &format)?;
        }
        let widths = rows.iter().map(|row| width(&row[column.name]));
        let width = widths.max().unwrap_or(0).max(NARROWEST);
        sheet.set_column_width(index(place)?, index::<u16>(width)?)?;
        (last, total) = (place, total + width);
    }
    // Height of the longest rotated name, plus space below it for the filter buttons.
    sheet.set_row_height_pixels(0, 240)?;
    sheet.autofilter(0, 0, index(rows.len())?, index(last)?)?;
    // The header and the engine stay visible.
    sheet.set_freeze_panes(1, 1)?;
    // Columns are printed whole, and each page has the header and the engine.
    sheet.set_repeat_rows(0, 0)?.set_repeat_columns(0, 0)?;
    let pages = index::<u16>(total.div_ceil(PAGE))?;
    sheet.set_landscape().set_paper_size(A4);
    sheet.set_print_fit_to_pages(pages, 0);
    Ok(())
}

/// Returns the width of a value in characters.
fn width(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count().min(WIDEST) + 1,
        // Include thousands separators.
        Value::Number(number) => number.to_string().len() * 7 / 6 + 2,
        _ => 0,
    }
}

/// Returns the number format of a column. Percentages are plain numbers: 1.5 means 1.5 %.
fn number_format(column: &Column) -> &'static str {
    match (column.unit, column.holds) {
        ("Mb/s" | "ns" | "us" | "ms", _) => "#,##0.0",
        ("%", _) => "0.00",
        ("", Holds::Decimals) => "0.0000",
        ("", Holds::WholeNumbers) if column.name == "seed" => "0",
        ("1/s" | "B", _) | ("", Holds::WholeNumbers) => "#,##0",
        _ => "General",
    }
}
