//! Results for people, in the width of the terminal.

use std::collections::BTreeMap;

use super::Comparison;
use crate::term::fold;
use crate::text::digits::counted;
use crate::verdict::judge::Verdict;
use crate::verdict::judge::table::{Detail, counts, legend, percent, tables, visible};

/// Draws the results for a terminal of `width` columns. The text has escape sequences for colours. The caller removes
/// them where they do not belong.
pub fn draw(comparison: &Comparison, detail: Detail, width: u16) -> String {
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = folded(summary(comparison));
    text += &tables(&comparison.judgement, ["before", "after"], detail, width);
    text.push('\n');
    let footnotes = comparison.footnotes().into_iter();
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

impl Comparison {
    /// Returns remarks for facts that the numbers of the tables do not show, each once.
    pub(crate) fn footnotes(&self) -> Vec<String> {
        let judgement = &self.judgement;
        let engines = judgement.engines.iter();
        let engines = engines.map(|engine| ("engine", &engine.whole.verdict));
        let cases = judgement.cases.iter();
        let cases = cases.map(|case| ("case", &case.answer.verdict));
        // What is said of engines is not said of cases again.
        let mut reasons: BTreeMap<String, (&str, &str, usize)> = BTreeMap::new();
        for (noun, verdict) in engines.chain(cases) {
            let what = match verdict {
                Verdict::Broken(_) => "broken",
                Verdict::Undecided(_) => "unclear",
                _ => "not judged",
            };
            if let Some(reason) = verdict.reason() {
                let (first, _, count) =
                    reasons.entry(reason.to_string()).or_insert((noun, what, 0));
                *count += usize::from(*first == noun);
            }
        }
        let mut reasons = Vec::from_iter(reasons);
        reasons.sort_by_key(|(_, (noun, ..))| *noun == "case");
        let lines = reasons.into_iter();
        let lines = lines.map(|(reason, (noun, what, count))| {
            format!("{} {what}: {reason}", counted(count, noun))
        });
        let mut lines: Vec<String> = lines.collect();
        lines.extend(self.remarks.iter().cloned());
        lines.extend(self.machine.map(|change| {
            let change = percent(change);
            format!("The machine: {change} %, the median of what was not seen to change. Changes are without it.")
        }));
        lines
    }
}
