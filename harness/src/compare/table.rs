//! The answers for people, at most 100 columns wide.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::lines::{self, Line};
pub(crate) use super::numbers::{change, interval};
use super::significance::FALSE_DISCOVERY_RATE;
use super::{Against, By, CaseChange, Comparison, EngineChange, Verdict, footnotes};
use crate::data::{BlockKey, Connection};
use crate::export::table::wrapped;

/// The longest label that leaves the table within 100 columns.
const MAX_LABEL: usize = 18;

/// Which cases are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Those that changed or broke.
    Changes,
    /// All of them.
    All,
}

/// Draws it, with escape sequences for colours, which the caller removes where they do not belong.
pub fn draw(comparison: &Comparison, detail: Detail) -> String {
    let mut text = String::new();
    for file in &comparison.files {
        summary(&mut text, comparison, file);
        engines(&mut text, comparison.options.by, &file.engines);
        cases(&mut text, comparison.options.by, &file.cases, detail);
        let _ = writeln!(text, "\n{}", footnotes::draw(file, comparison.options));
    }
    legend(&mut text, comparison);
    text
}

/// What came of it, in a sentence.
fn summary(text: &mut String, comparison: &Comparison, file: &Against) {
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
    let sentence = format!(
        "{inconclusive}{} against {}: {cases}; {engines}.",
        file.name, comparison.base
    );
    text.push_str(&wrapped([sentence]));
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

fn engines(text: &mut String, by: By, engines: &[EngineChange]) {
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
    let header = ["engine", "cases", "blocks", "change %", "95 % interval"];
    lines::draw(text, by, (&header, 1), MAX_LABEL, &lines);
}

/// Largest first; without a change, after those that have one.
fn cases(text: &mut String, by: By, cases: &[CaseChange], detail: Detail) {
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
    let header = [
        "case",
        "conn",
        "block",
        "base",
        "new",
        "change %",
        "95 % interval",
    ];
    lines::draw(text, by, (&header, 3), MAX_LABEL, &lines);
}

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
