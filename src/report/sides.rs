//! Section of a `udpbench ab` comparison: the setups of A and B, and the changes from A to B.

use maud::{Markup, html};

use super::changes::{self, legend_of, what};
use super::tables::table;
use crate::experiment::ab::table::{legend, notes, settings};
use crate::experiment::ab::{Record, Side, judge};
use crate::plan::once_each;
use crate::term::table::Columns;
use crate::verdict::judge::table::counts;
use crate::verdict::judge::{By, Judgement, Question, Threshold};

/// Returns the results, by speed and by CPU time.
pub(super) fn found(record: &Record) -> Markup {
    let judged = [By::Speed, By::Cpu].map(|by| {
        let threshold = Threshold::default();
        judge(record, Question { by, threshold })
    });
    let notes = judged.each_ref().map(|it| notes(record, it)).concat();
    html! {
        .answer .worse[judged.iter().any(Judgement::is_worse)] {
            p .advice { b { "B against A, " (record.rounds()) " rounds" } }
            @for judgement in &judged {
                p .advice { b { (what(judgement.question.by)) ": " } (counts(judgement)) "." }
            }
        }
        (changes::engines(&judged.each_ref()))
        @match &record.header().tunings {
            Some(tunings) => (table("Settings", &settings(tunings))),
            None => (setups(record)),
        }
        @for judgement in &judged {
            h3 { (what(judgement.question.by)) }
            (changes::cases(judgement, ["A", "B"]))
            (legend_of(&legend(record.header(), judgement)))
        }
        @for note in once_each(notes.lines().filter(|line| !line.is_empty())) { p .bad { (note) } }
    }
}

/// Returns a table of the setups of A and B.
fn setups(record: &Record) -> Markup {
    let setup = |side: &Side| record.header().setup(*side);
    let columns = Columns::<Side>::default()
        .word("side", Side::to_string)
        .word("program", |side| setup(side).name().to_owned())
        .word("version", |side| setup(side).version.clone())
        .word("options", |side| setup(side).options.join(" "))
        .text("command before it", |side| {
            setup(side).before.clone().unwrap_or_default()
        });
    table("Sides", &columns.table(Side::BOTH))
}
