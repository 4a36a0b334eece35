//! Lines of a table that end in a verdict.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{By, Verdict};

/// One line.
pub(crate) struct Line<'a> {
    pub(crate) label: String,
    pub(crate) cells: Vec<String>,
    pub(crate) verdict: &'a Verdict,
}

/// The longest cell; longer ones get a line of their own, with the label.
const MAX_CELL: usize = 14;

/// Below a header, whose columns from a number on are right-aligned; longer labels than `max_label` get a line of their
/// own. The verdict is last, where colour moves nothing.
pub(crate) fn draw(
    text: &mut String,
    by: By,
    (header, numbers): (&[&str], usize),
    max_label: usize,
    lines: &[Line],
) {
    if lines.is_empty() {
        return;
    }
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.iter().copied());
    for column in table.column_iter_mut().skip(numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in lines {
        let label = if line.is_long(max_label) {
            ""
        } else {
            &line.label
        };
        let cells = line.cells.iter().map(|cell| match cell.len() {
            0..=MAX_CELL => cell.as_str(),
            _ => "",
        });
        table.add_row(std::iter::once(label).chain(cells));
    }
    let mut drawn = table.lines();
    let _ = writeln!(text, "\n{} verdict", drawn.next().unwrap_or_default());
    for (line, drawn) in lines.iter().zip(drawn) {
        if line.is_long(max_label) {
            let long = line.cells.iter().filter(|cell| cell.len() > MAX_CELL);
            let own: Vec<&str> = std::iter::once(&line.label)
                .chain(long)
                .map(String::as_str)
                .collect();
            let _ = writeln!(text, " {}", own.join(" "));
        }
        let style = style(line.verdict);
        let _ = writeln!(text, "{drawn} {style}{}{style:#}", line.verdict.word(by));
    }
}

impl Line<'_> {
    fn is_long(&self, max_label: usize) -> bool {
        self.label.len() > max_label || self.cells.iter().any(|cell| cell.len() > MAX_CELL)
    }
}

fn style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Worse | Verdict::Broken(_) => AnsiColor::Red.on_default().bold(),
        Verdict::Better => AnsiColor::Green.on_default().bold(),
        Verdict::Unclear | Verdict::NotComparable(_) => AnsiColor::Yellow.on_default(),
        Verdict::Same | Verdict::Reference => Style::new(),
    }
}
