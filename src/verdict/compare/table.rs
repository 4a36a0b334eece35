//! Results for people, in the width of the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

pub(crate) use super::numbers::{change, interval};
use super::significance::FALSE_DISCOVERY_RATE;
use super::{Against, By, CaseChange, Change, Comparison, EngineChange, Verdict, footnotes};
use crate::data::BlockKey;
use crate::term::fold;
use crate::term::table::{Columns, Table};

/// Selection of the cases that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Cases that changed or broke.
    Changes,
    /// Every case.
    All,
}

/// Draws the results for a terminal of `width` columns. The text has escape sequences for colours. The caller removes
/// them where they do not belong.
pub fn draw(comparison: &Comparison, detail: Detail, width: u16) -> String {
    let by = comparison.options.by;
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = String::new();
    for file in &comparison.files {
        text += &folded(summary(comparison, file));
        let judged = file.engines.iter().filter(|it| it.change.is_some());
        text += &below(&engines(by).table(judged), width);
        let cases = largest_first(&file.cases, detail, |it| (it.change, &it.verdict));
        text += &below(&columns(by).table(cases), width);
        let footnotes = footnotes::lines(file, comparison.options);
        text.push('\n');
        text.extend(footnotes.into_iter().map(|line| folded(line + "\n")));
        text.push('\n');
    }
    text + &folded(legend(comparison))
}

/// Summarizes the result in a sentence.
fn summary(comparison: &Comparison, file: &Against) -> String {
    let by = comparison.options.by;
    let counts = counts(by, file);
    let inconclusive = if file.is_inconclusive() {
        "Inconclusive: "
    } else {
        ""
    };
    let (new, base) = (&file.name, &comparison.base);
    format!("{inconclusive}{new} against {base}: {counts}.\n")
}

/// Counts the cases and engines with each verdict.
pub(crate) fn counts(by: By, file: &Against) -> String {
    let cases = file.cases.iter().map(|case| &case.verdict);
    let engines = file.engines.iter().map(|engine| &engine.verdict);
    count(by, cases, "case") + "; " + &count(by, engines, "engine")
}

/// Counts the verdicts: `2 of 96 cases slower, 1 faster, 80 same, 13 unclear`.
pub(crate) fn count<'a>(by: By, verdicts: impl Iterator<Item = &'a Verdict>, what: &str) -> String {
    let answers: Vec<_> = verdicts.filter(|verdict| verdict.is_answer()).collect();
    let of = |kind: &Verdict| {
        let kind = kind.word(by);
        let alike = answers.iter().filter(|verdict| verdict.word(by) == kind);
        (alike.count(), kind)
    };
    let (worse, word) = of(&Verdict::Worse);
    let plural = if answers.len() == 1 { "" } else { "s" };
    let mut text = format!("{worse} of {} {what}{plural} {word}", answers.len());
    let others = [
        Verdict::Broken(String::new()),
        Verdict::Better,
        Verdict::Same,
        Verdict::Unclear,
    ];
    for (count, word) in others.iter().map(of).filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {count} {word}");
    }
    text
}

/// Draws a table below an empty line. Draws nothing if it has no rows.
pub(crate) fn below(table: &Table, width: u16) -> String {
    match table.draw(width.into()) {
        none if none.is_empty() => none,
        drawn => "\n".to_owned() + &drawn,
    }
}

/// Change between two sides, and its verdict.
type Found<'a> = (Option<Change>, &'a Verdict);

/// Returns the items that are shown, the largest change first. Items without a change come last.
pub(crate) fn largest_first<T>(all: &[T], detail: Detail, of: fn(&T) -> Found) -> Vec<&T> {
    let is_told = |it: &&T| detail == Detail::All || of(it).1.is_news();
    let mut told: Vec<&T> = all.iter().filter(is_told).collect();
    let size = |it: &T| of(it).0.map_or(-1.0, |change| change.estimate.abs());
    told.sort_by(|one, other| size(other).total_cmp(&size(one)));
    told
}

/// Adds the last columns of a table of changes: change, interval and verdict.
pub(crate) fn verdict<'a, R: 'a>(
    columns: Columns<'a, R>,
    by: By,
    of: fn(&R) -> Found,
) -> Columns<'a, R> {
    columns
        .number("change %", move |row| change(of(row).0))
        .number("95 % interval", move |row| interval(of(row).0))
        .word("verdict", move |row| {
            let (_, verdict) = of(row);
            let style = style(verdict);
            format!("{style}{}{style:#}", verdict.word(by))
        })
}

fn style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Worse | Verdict::Broken(_) => AnsiColor::Red.on_default().bold(),
        Verdict::Better => AnsiColor::Green.on_default().bold(),
        Verdict::Unclear | Verdict::NotComparable(_) => AnsiColor::Yellow.on_default(),
        Verdict::Same | Verdict::Reference => Style::new(),
    }
}

fn engines(by: By) -> Columns<'static, EngineChange> {
    let columns = Columns::<EngineChange>::default()
        .word("engine", |it| it.label.clone())
        .spare(2, "cases", |it| it.cases.to_string())
        .spare(1, "blocks", |it| it.blocks.to_string());
    verdict(columns, by, |it| (it.change, &it.verdict))
}

fn columns(by: By) -> Columns<'static, CaseChange> {
    let columns = Columns::<CaseChange>::default()
        .word("case", |it| it.label.clone())
        .word("conn", |it| it.connection.short().to_owned())
        .word("block", |it| block(&it.block))
        .spare(1, "base", |it| value(it.base))
        .spare(2, "new", |it| value(it.new));
    verdict(columns, by, |it| (it.change, &it.verdict))
}

/// Returns a block in the form of a case's key, shortened.
pub(crate) fn block(block: &BlockKey) -> String {
    let mut text = format!("{}t/{}B/{}", block.threads, block.payload, block.ip);
    for value in block.unusual() {
        let _ = write!(text, "/{}", value.key);
    }
    text
}

/// Formats a ratio, or datagrams per second.
pub(crate) fn value(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        // A damaged file may hold any number.
        Some(value) if value.abs() >= 1e9 => "huge".to_owned(),
        Some(value) if value >= 1e6 => format!("{:.1}M", value / 1e6),
        Some(value) if value >= 1e3 => format!("{:.1}k", value / 1e3),
        Some(value) => format!("{value:.3}"),
    }
}

pub(crate) fn legend(comparison: &Comparison) -> String {
    let by = comparison.options.by;
    let [what, better, worse] = by.words();
    let base = match by {
        By::Speed => "ratio_to_std",
        By::Cpu => "cpu_ratio_to_std",
    };
    let threshold = comparison.options.threshold.percent();
    let accidents = 100.0 * FALSE_DISCOVERY_RATE;
    format!(
        "\
change %: {what}, by {base}, with a 95 % interval for each change alone.
{better}, {worse}: significant (against 0 %), estimate {threshold} % or more; {accidents} % may be false alarms.
same: within {threshold} % at 95 %, of an engine also in each part. unclear: interval too wide.
"
    )
}
