//! Changes between files, from [`crate::verdict::compare`], and between A and B: charts, and tables of changed cases,
//! with intervals and verdicts.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::chart::{Look, Scale, Track, Tracks, dot, key};
use super::summary;
use super::tables::table;
use crate::plan::once_each;
use crate::results::files::Results;
use crate::term::table::Columns;
use crate::text::digits::counted;
use crate::verdict::compare::table::RELATIVE;
use crate::verdict::compare::{Comparison, compare};
use crate::verdict::judge::table::{
    Detail, counts, estimate, interval, largest_first, legend, told, value, visible,
};
use crate::verdict::judge::{Criterion, JudgedCase, Judgement, Metric, Threshold, Verdict};
use crate::verdict::quality::Quality;

/// Returns the heading of this kind of changes.
pub(super) fn what(by: Metric) -> &'static str {
    match by {
        Metric::Speed => "Speed",
        Metric::Cpu => "CPU time",
    }
}

/// Cases in the table, at most. `udpbench compare --details` prints all.
const MOST_CASES: usize = 12;

/// Returns a forest plot of engines and their parts for each judgement, side by side.
pub(super) fn engines(judgements: &[&Judgement]) -> Markup {
    let drawn = judgements.iter().filter(|it| !it.engines.is_empty());
    let drawn: Vec<&&Judgement> = drawn.collect();
    let Some(first) = drawn.first() else {
        return html! { p { "No engine could be judged." } };
    };
    let margin = first.question.threshold.percent();
    html! {
        p .legend {
            "Each line is the interval of this change alone (95 %, or more where ab looks several times), cut off at the edge of the chart. "
            @for verdict in [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unclear] {
                @let words = judgements.iter().map(|it| verdict.word(it.question.by)).collect::<BTreeSet<_>>();
                (key(&look(&verdict).colour(), look(&verdict).sign, &Vec::from_iter(words).join(" or ")))
            }
            (key("r", "┆", "no change"))
            (key("band", "▮", &format!("within ±{margin} %: does not matter")))
        }
        .facets { @for judgement in &drawn { (forest(judgement)) } }
    }
}

/// Draws the change of each engine and its parts, with their intervals and the margin that does not matter.
fn forest(judgement: &Judgement) -> Markup {
    let Criterion { by, threshold } = judgement.question;
    let margin = 100.0 * threshold.fraction();
    let tracks = told(judgement, Detail::Changes);
    let tracks = tracks.filter_map(|(engine, part, answer)| {
        let change = answer.change.filter(|it| it.estimate.is_finite())?;
        let [at, low, high] = [change.estimate, change.low, change.high].map(|it| 100.0 * it);
        Some(Track {
            label: part.map_or_else(|| engine.to_owned(), |part| part.to_string()),
            is_part: part.is_some(),
            drawn: dot(at, Some((low, high)), look(&answer.verdict)),
            values: vec![
                (estimate(Some(change)), interval(Some(change))),
                (answer.verdict.word(by).to_owned(), String::new()),
            ],
        })
    });
    // Wider intervals end at the edge, so that the others stay visible.
    let changes = told(judgement, Detail::Changes).filter_map(|(_, _, answer)| answer.change);
    let ends = changes.map(|change| 150.0 * change.estimate);
    let ends = ends.chain([-2.0 * margin, 2.0 * margin]);
    Tracks {
        columns: &["change %", "verdict"],
        caption: &format!("{}: change of each engine", what(by)),
        scale: Scale::linear(ends),
        reference: Some(0.0),
        band: Some((-margin, margin)),
    }
    .draw(&tracks.collect::<Vec<Track>>())
}

/// Returns a table of the cases that are better, worse or broken. `sides`: their names.
pub(super) fn cases(judgement: &Judgement, sides: [&'static str; 2]) -> Markup {
    let by = judgement.question.by;
    let news = largest_first(judgement, Detail::Changes);
    let columns = Columns::<&JudgedCase>::default()
        .word("case", |case| case.key.clone())
        .word("verdict", |case| case.answer.verdict.word(by).to_owned())
        .number("95 % interval", |case| interval(case.answer.change))
        .number("change %", |case| estimate(case.answer.change))
        .number(sides[0], |case| value(case.values[0]))
        .number(sides[1], |case| value(case.values[1]));
    let [_, better, worse] = by.words();
    let kinds = format!("{better}, {worse} or broken");
    let what = what(by);
    let caption = format!("{what}: cases that are {kinds}, the largest change first");
    let more = news.len().saturating_sub(MOST_CASES);
    html! {
        @if news.is_empty() {
            p { "No case is " (kinds) "." }
        } @else {
            (table(&caption, &columns.table(&news[..news.len() - more])))
            @if more > 0 { p { "And " (counted(more, "more case")) "." } }
        }
    }
}

/// Returns the look of a verdict. Its sign distinguishes verdicts without colours.
fn look(verdict: &Verdict) -> Look {
    Look {
        colour: match verdict {
            Verdict::Better => 3,
            Verdict::Worse | Verdict::Broken(_) => 8,
            _ => 7,
        },
        sign: match verdict {
            Verdict::Better => "▲",
            Verdict::Worse => "▼",
            unclear if unclear.is_unclear() => "○",
            _ => "●",
        },
    }
}

/// Returns the lines of a legend as one paragraph.
pub(super) fn legend_of(text: &str) -> Markup {
    html! { p .legend { @for line in text.lines() { (line) " " } } }
}

/// Compares a file with the base by speed and by CPU time.
fn comparisons(base: &Results, file: &Results) -> [Comparison; 2] {
    let sides = [base, file].map(std::slice::from_ref);
    let threshold = Threshold::default();
    [Metric::Speed, Metric::Cpu].map(|by| compare(sides, Criterion { by, threshold }))
}

fn verdict(comparison: &Comparison) -> String {
    match comparison.obstacle() {
        Some(why) => format!("not comparable, {why}"),
        None => counts(&comparison.judgement),
    }
}

/// Returns the changes of each other file against the first: a verdict, a forest plot, and tables. `None`: only one
/// file is given.
pub(super) fn changes(files: &[Results]) -> Option<Markup> {
    let (base, new) = files.split_first().filter(|(_, new)| !new.is_empty())?;
    Some(html! {
        @for file in new { (of_file(file, base, files)) }
    })
}

fn of_file(file: &Results, base: &Results, files: &[Results]) -> Markup {
    let comparisons = comparisons(base, file);
    let is_worse = comparisons.iter().any(|it| it.judgement.is_worse());
    let grade = [base, file].map(|file| Quality::of(&file.rows).grade);
    let grade = grade[0].max(grade[1]);
    let worse = is_worse.then(|| "worse".to_owned());
    let class = worse.unwrap_or_else(|| grade.to_string());
    let judged = comparisons.iter().filter(|it| it.obstacle().is_none());
    let judged: Vec<&Judgement> = judged.map(|it| &it.judgement).collect();
    html! {
        h3 { (summary::name(file, files)) " against " (summary::name(base, files)) }
        .answer .(class) {
            p .chips { span { (summary::reach(summary::network(&base.rows))) } (summary::quality_chip(grade)) }
            @for found in &comparisons {
                p .advice { b { (what(found.judgement.question.by)) ": " } (verdict(found)) "." }
                @if let Some(visible) = visible(&found.judgement) { p .legend { (visible) } }
            }
        }
        @if !judged.is_empty() { (engines(&judged)) }
        @for judgement in &judged {
            h4 { (what(judgement.question.by)) }
            (cases(judgement, ["before", "after"]))
            (legend_of(&legend(judgement, RELATIVE)))
        }
        @let remarks = once_each(comparisons.iter().flat_map(Comparison::footnotes));
        @if !remarks.is_empty() {
            ul { @for remark in remarks { li { (remark) } } }
        }
    }
}
