//! Lines of a table that end in a verdict.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{By, Verdict};
use crate::columns::Columns;

/// One line.
pub(crate) struct Line<'a> {
    pub(crate) label: String,
    pub(crate) cells: Vec<String>,
    pub(crate) verdict: &'a Verdict,
}

/// Below a header. The verdict is last, where colour moves nothing.
pub(crate) fn draw(text: &mut String, by: By, columns: Columns, lines: &[Line], width: u16) {
    if lines.is_empty() {
        return;
    }
    let cells = lines.iter().map(|line| {
        let label = std::iter::once(line.label.clone());
        label.chain(line.cells.iter().cloned()).collect()
    });
    let verdicts = lines.iter().map(|line| line.verdict.word(by).len() + 1);
    let widest = verdicts.fold(" verdict".len(), usize::max);
    let room = usize::from(width).saturating_sub(widest);
    let drawn = columns.draw(&cells.collect::<Vec<_>>(), room);
    let _ = writeln!(text, "\n{} verdict", drawn.header);
    for (line, drawn) in lines.iter().zip(&drawn.rows) {
        let style = style(line.verdict);
        let _ = writeln!(text, "{drawn} {style}{}{style:#}", line.verdict.word(by));
    }
    *text += &drawn.not_shown;
}

fn style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Worse | Verdict::Broken(_) => AnsiColor::Red.on_default().bold(),
        Verdict::Better => AnsiColor::Green.on_default().bold(),
        Verdict::Unclear | Verdict::NotComparable(_) => AnsiColor::Yellow.on_default(),
        Verdict::Same | Verdict::Reference => Style::new(),
    }
}
