//! Detection of the decimal mark in a CSV file. Spreadsheets in some languages write 1,5 and 1.234,5 for 1.5 and
//! 1,234.5. 1.234 alone can mean either number. A number that could be read a thousand times too large is refused.

/// A cell that should hold a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    /// Byte offset of the row in the text.
    pub(super) at: usize,
    /// Name of the column.
    pub(super) column: &'a str,
    /// Text of the cell, without surrounding blanks.
    pub(super) text: &'a str,
    /// True if udpbench writes numbers of this column with decimals.
    pub(super) has_decimals: bool,
}

/// Notation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// Without decimals.
    Whole,
    /// With decimals after this mark.
    Decimal(char),
    /// With three digits after this mark, which is a decimal mark or a thousands separator: 1.234.
    InDoubt(char),
}

/// Finds the decimal mark of a file: a point or a comma.
///
/// # Errors
/// Returns the first cell that is no number or is ambiguous, and the reason.
pub(super) fn decimal_mark<'a>(
    cells: impl Iterator<Item = Cell<'a>>,
    separator: u8,
) -> Result<char, (Cell<'a>, String)> {
    let (mut marks, mut doubts, mut whole) = ([None; 2], [None; 2], None);
    for cell in cells {
        let wrong = |problem: &str| (cell, format!("{:?} {problem}", cell.text));
        let of = |mark| usize::from(mark == ',');
        match written(cell.text).map_err(wrong)? {
            Written::Whole if cell.has_decimals => _ = whole.get_or_insert(cell),
            Written::Whole => {}
            _ if !cell.has_decimals => return Err(wrong(NOT_WHOLE)),
            Written::Decimal(mark) => _ = marks[of(mark)].get_or_insert(cell),
            Written::InDoubt(mark) => _ = doubts[of(mark)].get_or_insert(cell),
        }
    }
    let refused = |cell: Cell<'a>, problem| Err((cell, format!("{:?} {problem}", cell.text)));
    match (marks, doubts, whole) {
        ([Some(_), Some(cell)], ..) => refused(cell, BOTH_MARKS),
        ([Some(_), None], [_, Some(cell)], _) | ([None, Some(_)], [Some(cell), _], _) => {
            refused(cell, GROUPED)
        }
        // udpbench writes 5.0, so a whole number shows that the file was saved again. None of the many numbers like
        // 1.234 is left, so they may have become whole numbers.
        ([Some(_), None], [None, None], Some(cell)) => refused(cell, NO_POINT),
        ([None, None], [_, Some(cell)], _) => refused(cell, IN_DOUBT),
        ([None, None], [Some(cell), _], _) if separator != b',' => refused(cell, IN_DOUBT),
        ([None, Some(_)], ..) => Ok(','),
        _ => Ok('.'),
    }
}

const NOT_WHOLE: &str = "has decimals, and udpbench writes none here";
const BOTH_MARKS: &str = "has a decimal comma, other numbers have a decimal point";
const GROUPED: &str = "has its digits in groups: such numbers are rounded, or read as others";
const IN_DOUBT: &str = "has decimals, or its digits in groups: nothing in the file says which";
const NO_POINT: &str =
    "has lost its decimal point: a spreadsheet that writes 1,5 for 1.5 takes 1.234 for 1234";

/// Returns the notation of a number.
///
/// # Errors
/// Returns the reason why the text is no number.
fn written(text: &str) -> Result<Written, &'static str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let digits = text.strip_prefix('-').unwrap_or(text);
    if is_number(digits) {
        return Ok(Written::Whole);
    }
    let parts = digits.split_once(['.', ',']);
    let Some((_, decimals)) = parts.filter(|it| is_number(it.0) && is_number(it.1)) else {
        return Err(why_not(digits));
    };
    let mark = if digits.contains(',') { ',' } else { '.' };
    // LibreOffice 7.4 in German takes 0.123 for 123 and 1234.567 for 1234567, and keeps 1.5 as a text.
    if decimals.len() == 3 {
        Ok(Written::InDoubt(mark))
    } else {
        Ok(Written::Decimal(mark))
    }
}

fn why_not(text: &str) -> &'static str {
    let separates = |it: char| ".,'\u{2019}".contains(it) || it.is_whitespace();
    let begins = text.starts_with(|first: char| first.is_ascii_digit());
    let is_of_digits = |more: fn(char) -> bool| {
        begins
            && text
                .chars()
                .all(|it| it.is_ascii_digit() || separates(it) || more(it))
    };
    if text.starts_with('#') {
        "is an error of a spreadsheet's"
    } else if text.ends_with('%') {
        "is a percentage: udpbench writes the number alone"
    } else if is_of_digits(|_| false) {
        GROUPED
    } else if is_of_digits(|it| "eE+-".contains(it)) && text.contains(['e', 'E']) {
        "is rounded: udpbench writes no exponents"
    } else if is_of_digits(|it| it.is_alphabetic() || "-/:".contains(it)) {
        "is no number; a spreadsheet may have taken it for a date"
    } else {
        "is no number"
    }
}
