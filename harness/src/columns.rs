//! Tables for people: which columns there is room for, and what becomes of the others.

use std::fmt::Write as _;

use crate::fold;

/// The columns of a table. Words are left-aligned, numbers right-aligned. If all are words, the last one is text, which
/// is folded.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// What stands above them, from left to right; of two lines, where it says so.
    pub headings: &'a [&'a str],
    /// How many of them, the first ones, are words; the others are numbers.
    pub words: usize,
    /// Those that a narrow terminal goes without, the least asked for first.
    pub leaves: &'a [usize],
    /// The longest word that has a cell, in columns of the terminal. A longer one has a line of its own.
    pub longest: usize,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The headings.
    pub header: String,
    /// Each row. Before its last line, it may have one of words that have no cell.
    pub rows: Vec<String>,
    /// Which columns had no room: a line, or nothing.
    pub not_shown: String,
}

/// Text has at least so many columns of the terminal, if others can leave for it.
const LEAST_TEXT: usize = 28;

impl<'a> Columns<'a> {
    /// Draws rows, of a cell for each column, in so many columns of the terminal. Columns leave until the others fit; if
    /// they do not even then, the words stand above the numbers.
    pub fn draw(&self, rows: &[Vec<String>], room: usize) -> Drawn {
        let mut cells = rows.to_vec();
        let mut above: Vec<String> = cells
            .iter_mut()
            .map(|row| self.take_long(row, room))
            .collect();
        let mut shown = self.fitting(&cells, 0, room);
        let mut header = String::new();
        if !self.has_text() && self.width(&cells, &shown) > room {
            shown = self.fitting(&cells, self.words, room);
            let words =
                |row: &Vec<String>| own_line(row[..self.words].iter().map(|it| &**it), room);
            above = rows.iter().map(words).collect();
            header = own_line(self.headings[..self.words].iter().copied(), room);
        }
        let widths: Vec<usize> = shown.iter().map(|&it| self.wide(&cells, it)).collect();
        let lines = self.headings.iter().map(|it| it.lines().count()).max();
        let header_lines = (0..lines.unwrap_or(0)).rev().map(|nth| {
            // Those of fewer lines stand at the bottom.
            let nth = |it: &&'a str| it.lines().rev().nth(nth).unwrap_or_default();
            let headings: Vec<&str> = self.headings.iter().map(nth).collect();
            self.line(&headings, &shown, &widths, room)
        });
        header += &header_lines.collect::<Vec<String>>().join("\n");
        let rows = cells.iter().zip(above).map(|(row, above)| {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            above + &self.line(&row, &shown, &widths, room)
        });
        Drawn {
            header,
            rows: rows.collect(),
            not_shown: self.not_shown(&shown, room),
        }
    }

    fn has_text(&self) -> bool {
        self.words == self.headings.len()
    }

    /// Empties the cells of words that are too long. Returns a line of them, that begins with the first cell.
    fn take_long(&self, row: &mut [String], room: usize) -> String {
        let is_long = |word: &String| columns(word) > self.longest;
        if self.has_text() || !row[..self.words].iter().any(is_long) {
            return String::new();
        }
        let first = std::mem::take(&mut row[0]);
        let long = row[1..self.words].iter_mut().filter(|word| is_long(word));
        let long: Vec<String> = long.map(std::mem::take).collect();
        own_line(std::iter::once(&first).chain(&long).map(|it| &**it), room)
    }

    /// The columns, from that one on, that fit so much room.
    fn fitting(&self, cells: &[Vec<String>], from: usize, room: usize) -> Vec<usize> {
        let mut shown: Vec<usize> = (from..self.headings.len()).collect();
        for &leaves in self.leaves {
            if self.width(cells, &shown) <= room {
                break;
            }
            shown.retain(|&column| column != leaves);
        }
        shown
    }

    fn width(&self, cells: &[Vec<String>], shown: &[usize]) -> usize {
        let wide = |&column: &usize| match self.wide(cells, column) {
            text if self.has_text() && column + 1 == self.words => 2 + text.min(LEAST_TEXT),
            // One blank at either side.
            wide => 2 + wide,
        };
        shown.iter().map(wide).sum()
    }

    /// How wide the widest cell of a column is.
    fn wide(&self, cells: &[Vec<String>], column: usize) -> usize {
        let cells = cells.iter().map(|cells| columns(&cells[column]));
        let headings = self.headings[column].lines().map(columns);
        cells.chain(headings).max().unwrap_or(0)
    }

    fn line(&self, row: &[&str], shown: &[usize], widths: &[usize], room: usize) -> String {
        let mut line = String::new();
        for (&column, &width) in shown.iter().zip(widths) {
            let cell = row[column];
            if self.has_text() && column + 1 == self.words {
                let used = columns(&line) + 1;
                let text = fold::text(cell, room.saturating_sub(used));
                let below = format!("\n{:used$}", "");
                line += " ";
                line += &text.replace('\n', &below);
            } else if column < self.words {
                let _ = write!(line, " {cell:width$} ");
            } else {
                let _ = write!(line, " {cell:>width$} ");
            }
        }
        line
    }

    fn not_shown(&self, shown: &[usize], room: usize) -> String {
        let name = |column: usize| match self.headings[column] {
            "+-%" => format!("+-% of {}", self.headings[column - 1]),
            heading => heading.replace('\n', " "),
        };
        let left_out = self.leaves.iter().filter(|column| !shown.contains(column));
        let mut left_out: Vec<usize> = left_out.copied().collect();
        left_out.sort_unstable();
        if left_out.is_empty() {
            return String::new();
        }
        let names: Vec<String> = left_out.into_iter().map(name).collect();
        let names = names.join(", ");
        let line = format!("Not shown, for want of room: {names}. A wider terminal has them.\n");
        fold::text(&line, room)
    }
}

impl Drawn {
    /// All of it, with its headings, and without blanks at the ends of lines.
    pub fn text(&self) -> String {
        let lines = std::iter::once(&self.header).chain(&self.rows);
        lines.map(|lines| trimmed(lines)).collect::<String>() + &self.not_shown
    }
}

/// Lines without blanks at their ends.
pub fn trimmed(text: &str) -> String {
    let lines = text.lines().map(str::trim_end);
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A line above the numbers.
fn own_line<'a>(words: impl Iterator<Item = &'a str>, room: usize) -> String {
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    fold::cut(&format!(" {}", words.join(" ")), room) + "\n"
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        rows.iter().map(row).collect()
    }

    const NUMBERS: Columns = Columns {
        headings: &["engine", "conn", "Mb/s", "+-%", "loss %"],
        words: 2,
        leaves: &[3, 4],
        longest: 12,
    };

    #[test]
    fn columns_leave_in_their_order_and_are_named() {
        let rows = rows(&[
            &["std", "conn", "12.5", "0.3", "1.00"],
            &["nix", "unconn", "9.0", "", ""],
        ]);
        let all = " engine  conn    Mb/s  +-%  loss %\n std     conn    12.5  0.3    1.00\n nix     unconn   9.0\n";
        assert_eq!(NUMBERS.draw(&rows, 36).text(), all);
        let drawn = NUMBERS.draw(&rows, 32);
        assert_eq!(drawn.header, " engine  conn    Mb/s  loss % ");
        assert_eq!(
            drawn.not_shown,
            "Not shown, for want of room: +-%\nof Mb/s. A wider terminal has\nthem.\n"
        );
    }

    #[test]
    fn words_without_room_stand_above_the_numbers() {
        let rows = rows(&[&["mio-level:nix", "conn", "12.5", "0.3", "1.00"]]);
        let wide = NUMBERS.draw(&rows, 40).text();
        assert!(
            wide.contains("\n mio-level:nix\n         conn  12.5"),
            "{wide}"
        );
        let narrow = NUMBERS.draw(&rows, 18).text();
        let expected =
            " engine conn\n Mb/s  loss %\n mio-level:nix\n conn\n 12.5    1.00\nNot shown, for\n";
        assert!(narrow.starts_with(expected), "{narrow}");
    }

    #[test]
    fn text_is_folded_into_the_room_that_is_left() {
        let text = Columns {
            headings: &["engine", "group", "what it is"],
            words: 3,
            leaves: &[1],
            longest: 0,
        };
        let rows = rows(&[&["std", "blocking", "one call per datagram\nthe reference"]]);
        let expected = " engine  what it is\n std     one call per\n         datagram\n         the reference\n";
        let drawn = text.draw(&rows, 24);
        assert!(drawn.text().starts_with(expected), "{}", drawn.text());
        assert!(text.draw(&rows, 60).not_shown.is_empty());
    }
}
