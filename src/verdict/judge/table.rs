//! Verdicts for people, in the width of the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{Change, JudgedCase, JudgedChange, Judgement, Metric, Obstacle, Part, Verdict};
use crate::term::table::Columns;
use crate::text::digits::counted;

/// Selection of the results that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Each engine, its parts if they changed unlike, and cases that changed or broke.
    Changes,
    /// Every engine, part and case.
    All,
}

impl Detail {
    /// Returns the detail that `--details` asks for.
    pub fn of(is_all: bool) -> Self {
        if is_all { Self::All } else { Self::Changes }
    }
}

/// Counts the verdicts: `2 of 96 cases slower, 1 faster, 80 same, 13 unclear; ...`.
pub(crate) fn counts(judgement: &Judgement) -> String {
    let by = judgement.question.by;
    let engines = judgement.engines.iter().map(|engine| &engine.whole.verdict);
    let cases = judgement.cases.iter().map(|case| &case.answer.verdict);
    let cases = count(by, cases, "case");
    if judgement.engines.is_empty() {
        return cases;
    }
    count(by, engines, judgement.noun) + "; " + &cases
}

fn count<'a>(by: Metric, verdicts: impl Iterator<Item = &'a Verdict>, what: &str) -> String {
    let answers: Vec<_> = verdicts.filter(|verdict| verdict.was_judged()).collect();
    let of = |kind: &Verdict| {
        let kind = kind.word(by);
        (
            answers.iter().filter(|it| it.word(by) == kind).count(),
            kind,
        )
    };
    let (worse, word) = of(&Verdict::Worse);
    let mut text = format!("{worse} of {} {word}", counted(answers.len(), what));
    let others = [
        Verdict::Broken(Obstacle::AtARate),
        Verdict::Better,
        Verdict::Same,
        Verdict::Unclear,
    ];
    for (count, word) in others.iter().map(of).filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {count} {word}");
    }
    text
}

/// Draws the tables of engines and of cases, each below an empty line. `sides`: their names.
pub(crate) fn tables(
    judgement: &Judgement,
    sides: [&'static str; 2],
    detail: Detail,
    width: u16,
) -> String {
    let by = judgement.question.by;
    let engines = told(judgement, detail).map(|(label, part, answer)| match part {
        None => (label.to_owned(), answer),
        Some(part) => (format!("  {part}"), answer),
    });
    let columns = Columns::<(String, &JudgedChange)>::default()
        .word(judgement.noun, |(label, _)| label.clone())
        .spare(1, "cases", |(_, answer)| answer.cases.to_string());
    let engines = verdict(columns, by, |(_, answer)| answer).table(engines);
    let columns = Columns::<JudgedCase>::default()
        .word("case", |it| it.key.clone())
        .spare(1, sides[0], |it| value(it.values[0]))
        .spare(2, sides[1], |it| value(it.values[1]));
    let cases = verdict(columns, by, |it| &it.answer).table(largest_first(judgement, detail));
    let drawn = [engines, cases].map(|table| table.draw(width.into()));
    let drawn = drawn.iter().filter(|text| !text.is_empty());
    drawn.flat_map(|text| ["\n", text]).collect()
}

/// Returns each engine followed by its parts: those of the cut that tells where a change is, or all parts.
pub(crate) fn told(
    judgement: &Judgement,
    detail: Detail,
) -> impl Iterator<Item = (&str, Option<Part>, &JudgedChange)> {
    judgement.engines.iter().flat_map(move |engine| {
        let cuts: Vec<_> = match detail {
            Detail::Changes => engine.telling().into_iter().collect(),
            Detail::All => engine.parts.iter().collect(),
        };
        let parts = cuts.into_iter().flatten();
        let parts = parts.map(|(part, answer)| (&*engine.label, Some(*part), answer));
        std::iter::once((&*engine.label, None, &engine.whole)).chain(parts)
    })
}

/// Returns the cases that are shown, the largest change first. Cases without a change come last.
pub(crate) fn largest_first(judgement: &Judgement, detail: Detail) -> Vec<&JudgedCase> {
    let is_told = |case: &&JudgedCase| detail == Detail::All || case.answer.verdict.is_news();
    let mut told: Vec<&JudgedCase> = judgement.cases.iter().filter(is_told).collect();
    let size = |it: &JudgedCase| {
        it.answer
            .change
            .map_or(-1.0, |change| change.estimate.abs())
    };
    told.sort_by(|one, other| size(other).total_cmp(&size(one)));
    told
}

/// Adds the last columns of a table of changes: interval, estimate and verdict.
fn verdict<'a, R: 'a>(
    columns: Columns<'a, R>,
    by: Metric,
    of: fn(&R) -> &JudgedChange,
) -> Columns<'a, R> {
    columns
        .number("95 % interval", move |row| interval(of(row).change))
        .number("change %", move |row| estimate(of(row).change))
        .word("verdict", move |row| {
            let verdict = &of(row).verdict;
            let style = style(verdict);
            format!("{style}{}{style:#}", verdict.word(by))
        })
}

fn style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Worse | Verdict::Broken(_) => AnsiColor::Red.on_default().bold(),
        Verdict::Better => AnsiColor::Green.on_default().bold(),
        Verdict::Unclear | Verdict::Undecided(_) | Verdict::NotComparable(_) => {
            AnsiColor::Yellow.on_default()
        }
        Verdict::Same => Style::new(),
    }
}

/// Formats datagrams per second, or nanoseconds.
pub(crate) fn value(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        // A damaged file may hold any number.
        Some(value) if value.abs() >= 1e9 => "huge".to_owned(),
        Some(value) if value >= 1e6 => format!("{:.2}M", value / 1e6),
        Some(value) if value >= 1e3 => format!("{:.1}k", value / 1e3),
        Some(value) => format!("{value:.1}"),
    }
}

/// Returns what the verdicts mean. `relative`: to what changes are relative, in words after a comma, or nothing.
pub(crate) fn legend(judgement: &Judgement, relative: &str) -> String {
    let question = judgement.question;
    let [what, better, worse] = question.by.words();
    let threshold = question.threshold.percent();
    format!(
        "\
change %: {what}{relative}, after a 95 % interval for each change alone.
{better}, {worse}: surely by more than {threshold} %. same: surely by less, in each part, too. unclear: neither.
"
    )
}

/// Says which change of an engine would have been called one.
pub(crate) fn visible(judgement: &Judgement) -> Option<String> {
    let worse = judgement.question.by.words()[2];
    let visible = judgement.visible()?;
    let pct = (100.0 * visible).ceil();
    Some(if visible.is_finite() {
        format!("Would have seen any engine {pct:.0} % {worse}, in 9 of 10 tries.")
    } else {
        "Even a large change of an engine may not have been seen.".to_owned()
    })
}

/// Returns the estimate, or nothing if there is no change to tell.
pub(crate) fn estimate(change: Option<Change>) -> String {
    change.map_or_else(String::new, |change| percent(change.estimate))
}

/// Returns the interval as `low..high`, or nothing if there is no change to tell.
pub(crate) fn interval(change: Option<Change>) -> String {
    let text = |change: Change| format!("{}..{}", percent(change.low), percent(change.high));
    change.map_or_else(String::new, text)
}

/// Formats a fraction in percent, always with a sign, without `%`: one decimal below 100 %, none from there on, `>999`
/// above 999 %.
pub(crate) fn percent(fraction: f64) -> String {
    // Adding 0 removes the sign of a zero.
    match (1000.0 * fraction).round() / 10.0 + 0.0 {
        percent if percent > 999.0 => ">999".to_owned(),
        percent if percent.abs() >= 99.95 => format!("{percent:+.0}"),
        percent => format!("{percent:+.1}"),
    }
}
