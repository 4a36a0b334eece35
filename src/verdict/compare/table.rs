//! Results for people, in the width of the terminal.

use super::{Comparison, footnotes};
use crate::term::fold;
use crate::verdict::judge::table::{Detail, counts, legend, tables, visible};

/// Draws the results for a terminal of `width` columns. The text has escape sequences for colours. The caller removes
/// them where they do not belong.
pub fn draw(comparison: &Comparison, detail: Detail, width: u16) -> String {
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = folded(summary(comparison));
    text += &tables(&comparison.judgement, ["before", "after"], detail, width);
    text.push('\n');
    let footnotes = footnotes::lines(comparison).into_iter();
    text.extend(footnotes.map(|line| folded(line + "\n")));
    if comparison.judgement.engines.is_empty() {
        return text;
    }
    text + &folded(legend(&comparison.judgement, RELATIVE))
}

/// To what changes are relative: see `sweeps`.
pub(crate) const RELATIVE: &str = ", relative to the other engines";

/// Summarizes the result, and which change would have been seen.
fn summary(comparison: &Comparison) -> String {
    let counts = counts(&comparison.judgement);
    let inconclusive = if comparison.is_inconclusive() {
        "Inconclusive: "
    } else {
        ""
    };
    let [before, after] = comparison.names.each_ref().map(|names| names.join(", "));
    let visible = visible(&comparison.judgement).map_or_else(String::new, |visible| visible + "\n");
    format!("{inconclusive}{after} against {before}: {counts}.\n{visible}")
}
