//! A workbook: the rows as they are, charts of them, and the host. The same rows give the same bytes.

mod block;
mod charts;
mod host;
mod rows;

use rust_xlsxwriter::{
    Color, DocProperties, ExcelDateTime, Format, FormatAlign, Workbook, Worksheet, XlsxError,
};
use serde_json::Value;

use super::distinct;
use crate::row::Row;

/// The rows as an Office Open XML workbook (ECMA-376).
///
/// # Errors
/// When there are more rows than a sheet has.
pub(super) fn shape(rows: &[Row]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    book.set_properties(&properties(rows));
    let formats = Formats::new();
    rows::fill(book.add_worksheet().set_name("rows")?, rows, &formats)?;
    // The charts come before the sheet that they are drawn from.
    book.add_worksheet().set_name(charts::SHEET)?;
    let data = book.add_worksheet().set_name(block::SHEET)?;
    let drawings = charts::fill(data, rows, &formats)?;
    charts::place(book.worksheet_from_name(charts::SHEET)?, &drawings)?;
    host::fill(book.add_worksheet().set_name("host")?, rows, &formats)?;
    book.save_to_buffer()
}

/// A workbook has a date: that of the results, not that of the conversion.
fn properties(rows: &[Row]) -> DocProperties {
    let first = distinct(rows, |row| &row.started_at).into_iter().min();
    let first = first.and_then(|time| ExcelDateTime::parse_from_str(time).ok());
    let some_day = || ExcelDateTime::from_ymd(2000, 1, 1).unwrap_or_default();
    DocProperties::new()
        .set_title("udpbench")
        .set_creation_datetime(&first.unwrap_or_else(some_day))
}

/// How cells look that are no rows' numbers.
struct Formats {
    header: Format,
    plain: Format,
    left: Format,
}

impl Formats {
    fn new() -> Self {
        let header = Format::new().set_bold();
        Self {
            header: header.set_background_color(Color::RGB(0x00DD_E3EA)),
            plain: Format::new(),
            left: Format::new().set_align(FormatAlign::Left),
        }
    }
}

/// Numbers become numbers, texts stay texts, even `=1+2`; what is missing leaves its cell empty.
fn write(
    sheet: &mut Worksheet,
    (row, column): (u32, u16),
    value: &Value,
    format: &Format,
) -> Result<(), XlsxError> {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            sheet.write_number_with_format(row, column, number, format)?;
        }
        Value::String(text) if !text.is_empty() => {
            sheet.write_string_with_format(row, column, cut(text), format)?;
        }
        _ => {}
    }
    Ok(())
}

/// To what a cell can hold. It counts in UTF-16, in which no character takes more units than in UTF-8 bytes.
fn cut(text: &str) -> &str {
    const MOST: usize = 32_767;
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The number of a row or column, of which there are fewer than their types could count.
fn index<T: TryFrom<usize>>(n: usize) -> Result<T, XlsxError> {
    T::try_from(n).map_err(|_| XlsxError::RowColumnLimitError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::ordinary_row;

    #[test]
    fn the_same_rows_give_the_same_bytes() {
        let rows = [ordinary_row(), ordinary_row()];
        let first = shape(&rows).expect("it has a shape");
        assert!(first.starts_with(b"PK"));
        assert_eq!(first, shape(&rows).expect("it has a shape"));
    }

    #[test]
    fn what_no_cell_can_hold_is_cut_and_what_no_calendar_has_is_no_date() {
        let row = Row {
            reason: "é".repeat(40_000),
            board: "Sheet!$A$1".repeat(4_000),
            started_at: "99999-99-99T".to_owned(),
            ..ordinary_row()
        };
        shape(&[row]).expect("it has a shape");
        shape(&[]).expect("it has a shape");
    }
}
