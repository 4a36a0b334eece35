//! The answers for people, as wide as the terminal.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::lines::{self, Line};
pub(crate) use super::numbers::{change, interval};
use super::significance::FALSE_DISCOVERY_RATE;
use super::{Against, By, CaseChange, Comparison, EngineChange, Verdict, footnotes};
use crate::columns::Columns;
use crate::data::{BlockKey, Connection};
use crate::fold;

/// Which cases are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Those that changed or broke.
    Changes,
    /// All of them.
    All,
}

/// Draws it, in so many columns of the terminal, with escape sequences for colours, which the caller removes where they
/// do not belong.
pub fn draw(comparison: &Comparison, detail: Detail, width: u16) -> String {
    let by = comparison.options.by;
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = String::new();
    for file in &comparison.files {
        text += &folded(summary(comparison, file));
        engines(&mut text, by, &file.engines, width);
        cases(&mut text, by, &file.cases, detail, width);
        let footnotes = footnotes::lines(file, comparison.options);
        let footnotes = footnotes.into_iter().map(|line| folded(line + "\n"));
        let _ = writeln!(text, "\n{}", footnotes.collect::<String>());
    }
    let mut below = String::new();
    legend(&mut below, comparison);
    text + &folded(below)
}

/// What came of it, in a sentence.
fn summary(comparison: &Comparison, file: &Against) -> String {
    let by = comparison.options.by;
    let cases = count(by, file.cases.iter().map(|case| &case.verdict), "case");
    let engines = count(
        by,
        file.engines.iter().map(|engine| &engine.verdict),
        "engine",
    );
    let inconclusive = if file.is_inconclusive() {
        "Inconclusive: "
    } else {
        ""
    };
    format!(
        "{inconclusive}{} against {}: {cases}; {engines}.\n",
        file.name, comparison.base
    )
}

/// `2 of 96 cases slower, 1 faster, 80 same, 13 unclear`.
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

fn engines(text: &mut String, by: By, engines: &[EngineChange], width: u16) {
    let judged = engines.iter().filter(|engine| engine.change.is_some());
    let lines: Vec<Line> = judged
        .map(|engine| Line {
            label: engine.label.clone(),
            cells: vec![
                engine.cases.to_string(),
                engine.blocks.to_string(),
                change(engine.change),
                interval(engine.change),
            ],
            verdict: &engine.verdict,
        })
        .collect();
    lines::draw(text, by, ENGINES, &lines, width);
}

const ENGINES: Columns = Columns {
    headings: &["engine", "cases", "blocks", "change %", "95 % interval"],
    words: 1,
    leaves: &[2, 1],
    longest: 18,
};

/// Largest first; without a change, after those that have one.
fn cases(text: &mut String, by: By, cases: &[CaseChange], detail: Detail, width: u16) {
    let has_news = |case: &&CaseChange| match case.verdict {
        Verdict::Better | Verdict::Worse | Verdict::Broken(_) => true,
        _ => detail == Detail::All,
    };
    let mut shown: Vec<&CaseChange> = cases.iter().filter(has_news).collect();
    let size = |case: &CaseChange| case.change.map_or(-1.0, |change| change.estimate.abs());
    shown.sort_by(|a, b| size(b).partial_cmp(&size(a)).unwrap_or(Ordering::Equal));
    let lines: Vec<Line> = shown
        .into_iter()
        .map(|case| Line {
            label: case.label.clone(),
            cells: vec![
                connection(case.connection).to_owned(),
                block(&case.block),
                value(case.base),
                value(case.new),
                change(case.change),
                interval(case.change),
            ],
            verdict: &case.verdict,
        })
        .collect();
    lines::draw(text, by, CASES, &lines, width);
}

const CASES: Columns = Columns {
    headings: &[
        "case",
        "conn",
        "block",
        "base",
        "new",
        "change %",
        "95 % interval",
    ],
    words: 3,
    leaves: &[3, 4],
    longest: 18,
};

pub(crate) fn connection(connection: Connection) -> &'static str {
    match connection {
        Connection::Connected => "conn",
        Connection::Unconnected => "unconn",
    }
}

/// As in the key of a case, where it is shortest.
pub(crate) fn block(block: &BlockKey) -> String {
    let mut text = format!("{}t/{}B/{}", block.threads, block.payload, block.ip);
    for value in block.unusual() {
        let _ = write!(text, "/{}", value.key);
    }
    text
}

/// A ratio, or datagrams per second.
pub(crate) fn value(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        // A damaged file may hold anything.
        Some(value) if value.abs() >= 1e9 => "huge".to_owned(),
        Some(value) if value >= 1e6 => format!("{:.1}M", value / 1e6),
        Some(value) if value >= 1e3 => format!("{:.1}k", value / 1e3),
        Some(value) => format!("{value:.3}"),
    }
}

pub(crate) fn legend(text: &mut String, comparison: &Comparison) {
    let (what, base, better, worse) = match comparison.options.by {
        By::Speed => ("datagrams received", "ratio_to_std", "faster", "slower"),
        By::Cpu => (
            "CPU time per datagram",
            "cpu_ratio_to_std",
            "cheaper",
            "dearer",
        ),
    };
    let threshold = comparison.options.threshold.percent();
    let accidents = 100.0 * FALSE_DISCOVERY_RATE;
    let _ = write!(
        text,
        "\
change %: {what}, by {base}, with a 95 % interval for each change alone.
{better}, {worse}: significant (against 0 %), estimate {threshold} % or more; {accidents} % may be false alarms.
same: within {threshold} % at 95 %, of an engine also in each part. unclear: interval too wide.
"
    );
}
