//! Section of the comparison of files, from [`crate::verdict::compare`].

use maud::{Markup, html};

use super::changes::{self, legend_of, what};
use super::{files, summary};
use crate::results::export::once_each;
use crate::results::files::Results;
use crate::verdict::compare::table::RELATIVE;
use crate::verdict::compare::{Comparison, compare, footnotes};
use crate::verdict::judge::table::{counts, legend, visible};
use crate::verdict::judge::{By, Judgement, Question, Verdict};
use crate::verdict::quality::Quality;

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

fn title(file: &Results, base: &Results, files: &[Results]) -> String {
    let (file, base) = (files::name(file, files), files::name(base, files));
    format!("{file} against {base}")
}

/// Returns the verdict on all engines in a few words, with a dash after it.
fn in_short(comparison: &Comparison) -> String {
    if comparison.obstacle().is_some() {
        return String::new();
    }
    let Judgement {
        question, engines, ..
    } = &comparison.judgement;
    let is_any = |is: fn(&Verdict) -> bool| engines.iter().any(|engine| is(&engine.whole.verdict));
    let [_, better, worse] = question.by.words();
    let margin = question.threshold.percent();
    let text = if comparison.is_worse() {
        format!("something is {worse}")
    } else if is_any(|verdict| *verdict == Verdict::Better) {
        format!("something is {better}, nothing is surely {worse}")
    } else if is_any(Verdict::is_unclear) || engines.is_empty() {
        "no sure change".to_owned()
    } else {
        format!("no change of more than {margin} %")
    };
    text + ": "
}

fn verdict(comparison: &Comparison) -> String {
    match comparison.obstacle() {
        Some(why) => format!("not comparable, {why}"),
        None => counts(&comparison.judgement),
    }
}

/// Returns the changes of each other file against the first: a verdict, a forest plot, and tables. `None`: only one file
/// is given.
pub(super) fn changes(files: &[Results]) -> Option<Markup> {
    let (base, new) = files.split_first().filter(|(_, new)| !new.is_empty())?;
    Some(html! {
        @for file in new { (of_file(file, base, files)) }
    })
}

fn of_file(file: &Results, base: &Results, files: &[Results]) -> Markup {
    let comparisons = comparisons(base, file);
    let is_worse = comparisons.iter().any(Comparison::is_worse);
    let grade = [base, file].map(|file| Quality::of(&file.rows).grade);
    let grade = grade[0].max(grade[1]);
    let class = if is_worse {
        "worse"
    } else {
        summary::class(grade)
    };
    let judged = comparisons.iter().filter(|it| it.obstacle().is_none());
    let judged: Vec<&Judgement> = judged.map(|it| &it.judgement).collect();
    html! {
        h3 { (title(file, base, files)) }
        .answer .(class) {
            p .chips { span { (summary::reach(summary::network(&base.rows))) } (summary::quality_chip(grade)) }
            @for found in &comparisons {
                p .advice { b { (what(found.judgement.question.by)) ": " (in_short(found)) } (verdict(found)) "." }
                @if let Some(visible) = visible(&found.judgement) { p .legend { (visible) } }
            }
        }
        @if !judged.is_empty() { (changes::engines(&judged)) }
        @for judgement in &judged {
            h4 { (what(judgement.question.by)) }
            (changes::cases(judgement, ["before", "after"]))
            (legend_of(&legend(judgement, RELATIVE)))
        }
        @let remarks = remarks(&comparisons);
        @if !remarks.is_empty() {
            ul { @for remark in remarks { li { (remark) } } }
        }
    }
}

/// Returns the distinct remarks.
fn remarks(comparisons: &[Comparison]) -> Vec<String> {
    once_each(comparisons.iter().flat_map(footnotes::lines))
}
