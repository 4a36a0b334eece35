//! Section of the comparison of files, from [`crate::verdict::compare`].

use maud::{Markup, html};

use super::board;
use super::changes::{self, legend_of, what};
use crate::results::files::Results;
use crate::verdict::compare::{Comparison, compare, footnotes};
use crate::verdict::judge::table::{counts, legend};
use crate::verdict::judge::{By, Question};

/// Compares a file with the base by speed and by CPU time.
fn comparisons(base: &Results, file: &Results) -> [Comparison; 2] {
    let sides = [base, file].map(std::slice::from_ref);
    [By::Speed, By::Cpu].map(|by| {
        let question = Question {
            by,
            ..Question::default()
        };
        compare(sides, question)
    })
}

/// Returns the verdict on each file after the first, by speed and by CPU time.
pub(super) fn verdicts(files: &[Results]) -> Markup {
    let Some((base, new)) = files.split_first() else {
        return html! {};
    };
    html! {
        @for file in new {
            @let comparisons = comparisons(base, file);
            @let is_worse = comparisons.iter().any(Comparison::is_worse);
            p .advice .worse[is_worse] .plain[!is_worse] {
                b { (title(file, base, files)) "." }
                @for found in &comparisons {
                    " " (what(found.judgement.question.by)) ": " (verdict(found)) "."
                }
            }
        }
    }
}

fn title(file: &Results, base: &Results, files: &[Results]) -> String {
    let (file, base) = (board::shown(file, files), board::shown(base, files));
    format!("{file} against {base}")
}

fn verdict(comparison: &Comparison) -> String {
    match comparison.obstacle() {
        Some(why) => format!("not comparable, {why}"),
        None => counts(&comparison.judgement),
    }
}

/// Returns the changes of each other file against the first. `None`: only one file is given.
pub(super) fn changes(files: &[Results]) -> Option<Markup> {
    let (base, new) = files.split_first().filter(|(_, new)| !new.is_empty())?;
    Some(html! {
        @for file in new {
            h4 { (title(file, base, files)) }
            @for comparison in comparisons(base, file) {
                h5 { (what(comparison.judgement.question.by)) }
                (of_file(&comparison))
            }
        }
    })
}

fn of_file(comparison: &Comparison) -> Markup {
    let judgement = &comparison.judgement;
    let remarks = footnotes::lines(comparison);
    html! {
        @match comparison.obstacle() {
            Some(why) => p { b { "Not comparable:" } " " (why) "." },
            None => {
                (changes::engines(judgement))
                (changes::cases(judgement, ["before", "after"]))
                (legend_of(&legend(judgement)))
            }
        }
        @if !remarks.is_empty() {
            ul { @for remark in remarks { li { (remark) } } }
        }
    }
}
