//! Workbook output (ECMA-376): a summary sheet with a chart, and a sheet of rows. It suits spreadsheets that write
//! 1,5 for 1.5 and misread a CSV. Equal rows give equal bytes.

mod rows;
mod summary;

use rust_xlsxwriter::{
    Color, DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError,
};
use serde_json::{Map, Value};

use super::circumstances::first_start;
use super::selection::Selection;
use crate::results::row::Row;

/// Returns the rows as a workbook, with the advice on its first sheet.
///
/// # Errors
/// Fails if there are more rows than a sheet can hold.
pub(super) fn encode(
    rows: &[Row],
    selection: &Selection,
    advice: &[String],
) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    // The date of the workbook is that of the results, not that of the conversion.
    let first = first_start(rows).and_then(|time| ExcelDateTime::parse_from_str(time).ok());
    let some_day = || ExcelDateTime::from_ymd(2000, 1, 1).unwrap_or_default();
    let properties = DocProperties::new().set_title("udpbench");
    book.set_properties(&properties.set_creation_datetime(&first.unwrap_or_else(some_day)));
    summary::fill(book.add_worksheet().set_name(summary::SHEET)?, rows, advice)?;
    rows::fill(book.add_worksheet().set_name("rows")?, rows, selection)?;
    book.save_to_buffer()
}

/// Returns the results of a search or a comparison as a workbook.
///
/// # Errors
/// Fails if there are more rows than a sheet can hold.
pub(super) fn answers(found: &[Value]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet().set_name("answers")?;
    let names = found.first().and_then(Value::as_object);
    for (place, name) in names.into_iter().flat_map(Map::keys).enumerate() {
        write(sheet, (0, place), &name.as_str().into(), &heading())?;
        for (n, row) in found.iter().enumerate() {
            write(sheet, (n + 1, place), &row[name], &Format::new())?;
        }
    }
    sheet.autofit();
    book.save_to_buffer()
}

/// Returns the format of headings.
fn heading() -> Format {
    let heading = Format::new().set_bold();
    heading.set_background_color(Color::RGB(0x00DD_E3EA))
}

/// Writes a number as a number and a text as a text, even `=1+2`. A missing value leaves its cell empty.
fn write(
    sheet: &mut Worksheet,
    (row, column): (usize, usize),
    value: &Value,
    format: &Format,
) -> Result<(), XlsxError> {
    let (row, column) = (index(row)?, index(column)?);
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

/// Cuts a text to the 32,767 characters that a cell can hold. Cells count UTF-16 units, and no character has more
/// UTF-16 units than UTF-8 bytes.
fn cut(text: &str) -> &str {
    const MOST: usize = 32_767;
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Converts the number of a row or column to the type that the library takes, which counts beyond the limit of a
/// sheet.
fn index<T: TryFrom<usize>>(n: usize) -> Result<T, XlsxError> {
    T::try_from(n).map_err(|_| XlsxError::RowColumnLimitError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;
    use crate::results::row::{Failure, Reason};

    fn book(rows: &[Row]) -> Vec<u8> {
        let advice = ["Use std".to_owned()];
        encode(rows, &Selection::all(), &advice).expect("it can be encoded")
    }

    #[test]
    fn the_same_rows_give_the_same_bytes() {
        let rows = [ordinary_row(), ordinary_row()];
        assert!(book(&rows).starts_with(b"PK"));
        assert_eq!(book(&rows), book(&rows));
    }

    #[test]
    fn what_no_cell_can_hold_is_cut_and_what_no_calendar_has_is_no_date() {
        let row = Row {
            reason: Reason::Failed(Failure::told("é".repeat(40_000))),
            board: "Sheet!$A$1".repeat(4_000),
            started_at: "99999-99-99T".to_owned(),
            ..ordinary_row()
        };
        book(&[row]);
        book(&[]);
    }
}
