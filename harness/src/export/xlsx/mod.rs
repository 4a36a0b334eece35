//! A workbook: a summary to begin with, the rows as they are, charts of them, and the host. The same rows give
//! the same bytes.

mod block;
mod charts;
mod host;
mod rows;
mod summary;

use rust_xlsxwriter::{
    Color, DocProperties, ExcelDateTime, Format, FormatAlign, Workbook, Worksheet, XlsxError,
};
use serde_json::Value;

use self::block::{Block, Quantity};
use self::summary::{Fastest, Summary};
use super::circumstances::first_start;
use crate::row::Row;

/// The rows as an Office Open XML workbook (ECMA-376), with the advice on its first sheet.
///
/// # Errors
/// When there are more rows than a sheet has.
pub(super) fn shape(rows: &[Row], advice: &[String]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    book.set_properties(&properties(rows));
    let formats = Formats::new();
    let fastest = Fastest::of(rows);
    let of_fastest = fastest.as_ref().map(Fastest::block);
    let blocks = charts::blocks(rows, of_fastest.as_ref().map_or(0, Block::below));
    let first = book.add_worksheet().set_name(summary::SHEET)?;
    let mut summary = Summary::new(first, &blocks, &formats)?;
    summary.head(rows, advice)?;
    if let (Some(fastest), Some(block)) = (&fastest, &of_fastest) {
        summary.chart(fastest, &block.draw(Quantity::Received)?)?;
    }
    for block in &blocks {
        summary.table(block)?;
    }
    summary.finish()?;
    rows::fill(book.add_worksheet().set_name("rows")?, rows, &formats)?;
    let sheet = book.add_worksheet().set_name(charts::SHEET)?;
    charts::place(sheet, &charts::draw(&blocks)?)?;
    let data = book.add_worksheet().set_name(block::SHEET)?;
    for block in of_fastest.iter().chain(&blocks) {
        block.write(data, &formats)?;
    }
    data.autofit();
    page(data);
    host::fill(book.add_worksheet().set_name("host")?, rows, &formats)?;
    book.save_to_buffer()
}

/// A workbook has a date: that of the results, not that of the conversion.
fn properties(rows: &[Row]) -> DocProperties {
    let first = first_start(rows).and_then(|time| ExcelDateTime::parse_from_str(time).ok());
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
    /// Of a column that is narrower than its name.
    upright: Format,
    title: Format,
    /// Of a column of numbers.
    heading: Format,
    number: Format,
    paragraph: Format,
}

impl Formats {
    fn new() -> Self {
        let header = Format::new().set_bold();
        let header = header.set_background_color(Color::RGB(0x00DD_E3EA));
        Self {
            upright: header
                .clone()
                .set_rotation(90)
                .set_align(FormatAlign::Center),
            header,
            plain: Format::new(),
            left: Format::new().set_align(FormatAlign::Left),
            title: Format::new().set_bold().set_font_size(14),
            heading: Format::new().set_bold().set_align(FormatAlign::Right),
            number: Format::new().set_num_format("#,##0.0"),
            paragraph: Format::new().set_text_wrap().set_align(FormatAlign::Top),
        }
    }
}

/// Prints a sheet as wide as a page and as long as it takes, with its name and the number of the page below.
fn page(sheet: &mut Worksheet) {
    sheet.set_landscape().set_print_fit_to_pages(1, 0);
    sheet.set_footer("&Ludpbench: &A&R&P of &N");
    // In inches; the default ones leave a third of the paper empty.
    sheet.set_margins(0.5, 0.5, 0.5, 0.6, 0.3, 0.3);
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
        let first = shape(&rows, &["Use std".to_owned()]).expect("it has a shape");
        assert!(first.starts_with(b"PK"));
        assert_eq!(
            first,
            shape(&rows, &["Use std".to_owned()]).expect("it has a shape")
        );
    }

    #[test]
    fn what_no_cell_can_hold_is_cut_and_what_no_calendar_has_is_no_date() {
        let row = Row {
            reason: "é".repeat(40_000),
            board: "Sheet!$A$1".repeat(4_000),
            started_at: "99999-99-99T".to_owned(),
            ..ordinary_row()
        };
        shape(&[row], &[]).expect("it has a shape");
        shape(&[], &[]).expect("it has a shape");
    }
}
