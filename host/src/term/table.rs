//! Tables for people: columns define headings and cells, and the table fits them into the terminal.

use std::borrow::Borrow;

use crate::term::fold;

/// Columns of a table of values of type `R`, from left to right.
pub struct Columns<'a, R>(Vec<Column<'a, R>>);

struct Column<'a, R> {
    head: Head,
    cell: Box<dyn Fn(&R) -> String + 'a>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    heading: &'static str,
    kind: Kind,
    leaves: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    Text,
}

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, R> Columns<'a, R> {
    /// Adds a left-aligned column. If a long word left of the numbers does not fit, it gets a line of its own.
    pub fn word(self, heading: &'static str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(heading, Kind::Word, Box::new(cell))
    }

    /// Adds a right-aligned column.
    pub fn number(self, heading: &'static str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(heading, Kind::Number, Box::new(cell))
    }

    /// Adds a right-aligned column that a narrow terminal omits: see [`Columns::leaves`].
    pub fn spare(self, nth: u8, heading: &'static str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.number(heading, cell).leaves(nth)
    }

    /// Adds a last column of text, which is folded.
    pub fn text(self, heading: &'static str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(heading, Kind::Text, Box::new(cell))
    }

    fn column(
        mut self,
        heading: &'static str,
        kind: Kind,
        cell: Box<dyn Fn(&R) -> String + 'a>,
    ) -> Self {
        let head = Head {
            heading,
            kind,
            leaves: 0,
        };
        self.0.push(Column { head, cell });
        self
    }

    /// Lets a narrow terminal omit the last column so far. Columns are omitted in the order of `nth`, from 1. 0: never.
    pub fn leaves(mut self, nth: u8) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.head.leaves = nth;
        }
        self
    }

    /// Removes columns whose cells are empty in all rows.
    pub fn known_of(mut self, rows: &[impl Borrow<R>]) -> Self {
        let is_known = |it: &Column<R>| {
            let mut rows = rows.iter();
            rows.any(|row| !(it.cell)(row.borrow()).is_empty())
        };
        self.0.retain(is_known);
        self
    }

    /// Returns the cells of a row.
    pub fn cells(&self, row: &R) -> Vec<String> {
        self.0.iter().map(|column| (column.cell)(row)).collect()
    }

    /// Returns the table of these rows.
    pub fn table(&self, rows: impl IntoIterator<Item: Borrow<R>>) -> Table {
        let mut table = self.empty();
        for row in rows {
            table.row(self.cells(row.borrow()));
        }
        table
    }

    /// Returns a table without rows.
    pub fn empty(&self) -> Table {
        Table {
            heads: self.0.iter().map(|column| column.head).collect(),
            lines: Vec::new(),
            gap: 2,
        }
    }
}

/// Rows of cells, and lines of text between the rows.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<Head>,
    lines: Vec<Line>,
    /// Blanks between two columns.
    gap: usize,
}

#[derive(Clone, Debug)]
enum Line {
    Row(Vec<String>),
    Text(String),
}

/// Layout of a table for some width.
struct Fit {
    /// Indices of the columns that are shown.
    shown: Vec<usize>,
    /// Widths of these columns.
    widths: Vec<usize>,
    /// Longest word that stays in its row. Longer ones get a line of their own.
    longest: usize,
}

/// Smallest width of a text column, in columns of the terminal, while other columns can be omitted for it.
const LEAST_TEXT: usize = 28;

/// Largest number of lines of a heading.
const MOST_LINES: usize = 2;

/// Longest word that never gets a line of its own while numbers fit beside it.
const LONGEST: usize = 20;

impl Table {
    /// Sets the gap between columns to one blank.
    #[must_use]
    pub fn dense(mut self) -> Self {
        self.gap = 1;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.lines.push(Line::Row(cells));
    }

    /// Adds text below the rows so far.
    pub fn text(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Text(text.into()));
    }

    /// Returns the cells of all rows.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(cells) => Some(&**cells),
            Line::Text(_) => None,
        })
    }

    /// Returns whether the table has no row.
    pub fn is_empty(&self) -> bool {
        self.rows().next().is_none()
    }

    /// Returns each heading in one line, and whether its column has numbers.
    pub fn headings(&self) -> impl Iterator<Item = (String, bool)> {
        let heads = self.heads.iter();
        heads.map(|head| (head.heading.replace('\n', " "), head.kind == Kind::Number))
    }

    /// Draws the table for `width` columns of the terminal. Columns that do not fit are omitted, and named below the
    /// table. Long words stand above their row.
    pub fn draw(&self, width: usize) -> String {
        let header = (!self.is_empty()).then(|| self.header(width));
        header.unwrap_or_default() + &self.body(width) + &self.not_shown(width)
    }

    /// Draws the headings. A heading with fewer lines than others stands at the bottom.
    pub fn header(&self, width: usize) -> String {
        let fit = self.fit(width);
        let nth = |nth| {
            let heads = self.heads.iter();
            let heading = |head: &Head| head.heading.lines().rev().nth(nth).unwrap_or_default();
            self.line(&heads.map(heading).collect::<Vec<_>>(), &fit, width)
        };
        let keys = (0..self.heads.len()).filter(|&it| fit.longest == 0 && self.is_key(it));
        let keys: Vec<&str> = keys.map(|it| self.heads[it].heading).collect();
        // Empty lines are not drawn.
        let lines: String = (0..MOST_LINES).rev().map(nth).collect();
        own_line(&keys, width) + &lines
    }

    /// Draws the rows and texts below the headings.
    pub fn body(&self, width: usize) -> String {
        let fit = self.fit(width);
        let lines = self.lines.iter().map(|line| match line {
            Line::Text(text) => fold::cut(text, width) + "\n",
            Line::Row(cells) => {
                let (above, cells) = self.split(cells, fit.longest);
                own_line(&above, width) + &self.line(&cells, &fit, width)
            }
        });
        lines.collect()
    }

    fn fit(&self, width: usize) -> Fit {
        let all = 0..self.heads.len();
        let numbers = all.clone().filter(|&column| !self.is_key(column));
        let beside = self.fitting(all.collect(), &[usize::MAX, LONGEST], width);
        let fit = beside.or_else(|_| self.fitting(numbers.collect(), &[0], width));
        fit.unwrap_or_else(|too_wide| too_wide)
    }

    /// Omits columns until the others fit. Returns the layout as an error if it is still too wide.
    fn fitting(&self, mut shown: Vec<usize>, longest: &[usize], width: usize) -> Result<Fit, Fit> {
        loop {
            let mut fits = longest.iter().map(|&it| self.measured(&shown, it));
            let is_narrow = |fit: &Fit| {
                let all: usize = fit.widths.iter().map(|width| width + self.gap).sum();
                all <= width + 1
            };
            if let Some(fit) = fits.find(is_narrow) {
                return Ok(fit);
            }
            let leaving = shown.iter().filter(|&&it| self.heads[it].leaves > 0);
            let Some(&first) = leaving.min_by_key(|&&it| self.heads[it].leaves) else {
                return Err(self.measured(&shown, longest[0]));
            };
            shown.retain(|&it| it != first);
        }
    }

    fn measured(&self, shown: &[usize], longest: usize) -> Fit {
        let width = |head: &Head| head.heading.lines().map(fold::columns).max().unwrap_or(0);
        let mut widths: Vec<usize> = self.heads.iter().map(width).collect();
        for row in self.rows() {
            let (_, cells) = self.split(row, longest);
            for ((width, cell), head) in widths.iter_mut().zip(cells).zip(&self.heads) {
                let most = if head.kind == Kind::Text {
                    LEAST_TEXT
                } else {
                    usize::MAX
                };
                *width = fold::columns(cell).min(most).max(*width);
            }
        }
        Fit {
            widths: shown.iter().map(|&it| widths[it]).collect(),
            shown: shown.to_vec(),
            longest,
        }
    }

    /// Returns whether a column has words and is left of numbers. Its words may stand above the numbers.
    fn is_key(&self, column: usize) -> bool {
        let is_number = |head: &Head| head.kind == Kind::Number;
        let numbers_end = self.heads.iter().rposition(is_number);
        self.heads[column].kind == Kind::Word && numbers_end.is_some_and(|end| column < end)
    }

    /// Splits a row into the words that stand above it and the cells that stay. If long words are taken out, so is the
    /// first word.
    fn split<'a>(&self, row: &'a [String], longest: usize) -> (Vec<&'a str>, Vec<&'a str>) {
        let mut cells: Vec<&str> = row.iter().map(String::as_str).collect();
        let is_long = |&n: &usize| self.is_key(n) && fold::columns(&row[n]) > longest;
        let mut taken: Vec<usize> = (0..row.len()).filter(is_long).collect();
        if !taken.is_empty() && taken[0] > 0 {
            taken.insert(0, 0);
        }
        let taken = taken.into_iter().map(|n| std::mem::take(&mut cells[n]));
        let above = taken.filter(|word| !word.is_empty()).collect();
        (above, cells)
    }

    /// Draws one row, without blanks at the ends of its lines. A row of empty cells draws nothing.
    fn line(&self, cells: &[&str], fit: &Fit, room: usize) -> String {
        let (mut line, mut used) = (String::new(), 0);
        for (&column, &width) in fit.shown.iter().zip(&fit.widths) {
            let (cell, gap) = (cells[column], self.gap - usize::from(line.is_empty()));
            let pad = width.saturating_sub(fold::columns(cell));
            used += gap;
            line += &" ".repeat(gap);
            match self.heads[column].kind {
                Kind::Word => line += &(cell.to_owned() + &" ".repeat(pad)),
                Kind::Number => line += &(" ".repeat(pad) + cell),
                Kind::Text => {
                    let text = fold::cell(cell, room.saturating_sub(used));
                    line += &text.replace('\n', &format!("\n{:used$}", ""));
                }
            }
            used += width;
        }
        let lines = line.lines().map(str::trim_end).filter(|it| !it.is_empty());
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    fn not_shown(&self, width: usize) -> String {
        let shown = self.fit(width).shown;
        let name = |column: usize| match self.heads[column].heading {
            "+-%" => format!("+-% of {}", self.heads[column - 1].heading),
            heading => heading.replace('\n', " "),
        };
        let left_out = (0..self.heads.len())
            .filter(|column| self.heads[*column].leaves > 0 && !shown.contains(column));
        let names: Vec<String> = left_out.map(name).collect();
        if names.is_empty() {
            return String::new();
        }
        let names = names.join(", ");
        let line = format!("Not shown, for want of room: {names}. A wider terminal has them.\n");
        fold::text(&line, width)
    }
}

/// Draws the words that stand above a row, in one line.
fn own_line(words: &[&str], width: usize) -> String {
    if words.is_empty() {
        return String::new();
    }
    fold::cut(&format!(" {}", words.join(" ")), width) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell<const N: usize>(n: usize) -> impl Fn(&[&str; N]) -> String {
        move |row| row[n].to_owned()
    }

    fn numbers(rows: &[[&str; 5]]) -> Table {
        let columns = Columns::default()
            .word("engine", cell(0))
            .word("conn", cell(1))
            .number("Mb/s", cell(2))
            .spare(1, "+-%", cell(3))
            .spare(2, "loss %", cell(4));
        columns.table(rows)
    }

    #[test]
    fn columns_leave_in_their_order_and_are_named() {
        let table = numbers(&[
            ["std", "conn", "12.5", "0.3", "1.00"],
            ["nix", "unconn", "9.0", "", ""],
        ]);
        let all = " engine  conn    Mb/s  +-%  loss %\n std     conn    12.5  0.3    1.00\n nix     unconn   9.0\n";
        assert_eq!(table.draw(34), all);
        let narrow = table.draw(32);
        assert!(narrow.starts_with(" engine  conn    Mb/s  loss %\n"));
        let not_shown =
            "\nNot shown, for want of room: +-%\nof Mb/s. A wider terminal has\nthem.\n";
        assert!(narrow.ends_with(not_shown), "{narrow}");
    }

    #[test]
    fn words_without_room_stand_above_the_numbers() {
        let table = numbers(&[
            ["mio-exhaustive:mio-level", "conn", "12.5", "0.3", "1.00"],
            ["nix", "unconn", "9.0", "", ""],
        ]);
        assert_eq!(table.draw(60).lines().count(), 3);
        let cut = table.draw(40);
        assert!(
            cut.contains("\n mio-exhaustive:mio-level\n         conn    12.5"),
            "{cut}"
        );
        let narrow = table.draw(20);
        let expected = " engine conn\n Mb/s  +-%  loss %\n mio-exhaustive:m...\n conn\n 12.5  0.3    1.00\n nix unconn\n  9.0\n";
        assert!(narrow.starts_with(expected), "{narrow}");
    }

    #[test]
    fn text_is_folded_into_the_room_that_is_left() {
        let columns = Columns::default()
            .word("engine", cell(0))
            .word("group", cell(1))
            .leaves(1)
            .text("what it is", cell(2));
        let what = "one call per datagram\nthe reference for all others";
        let text = columns.table([["std", "blocking", what]]);
        let expected = " engine  what it is\n std     one call per datagram\n         the reference for all others\n";
        assert!(text.draw(40).starts_with(expected), "{}", text.draw(40));
        assert!(!text.draw(60).contains("Not shown"));
    }

    #[test]
    fn text_between_rows_stays_where_it_was_added() {
        let columns = Columns::default().word("engine", cell::<1>(0));
        let mut table = columns.empty();
        assert_eq!(table.draw(60), "");
        for block in ["a", "b"] {
            table.text(format!("-- {block}"));
            table.row(columns.cells(&["std"]));
        }
        assert_eq!(table.draw(60), " engine\n-- a\n std\n-- b\n std\n");
    }
}
