//! Results for people, in the width of the terminal.

use std::fmt::Write as _;

use super::header::{Header, Setup};
use super::{Record, Side};
use crate::term::digits::counted;
use crate::term::{duration, fold};
use crate::verdict::judge::table::{Detail, counts, tables};
use crate::verdict::judge::{Judgement, Verdict, table};

/// Draws the results for a terminal of `width` columns. The text has escape sequences for colours. The caller removes
/// them where they do not belong.
pub fn draw(record: &Record, judgement: &Judgement, detail: Detail, width: u16) -> String {
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = folded(summary(record, judgement) + "\n");
    for side in Side::BOTH {
        text += &folded(described(side, record.header().setup(side)));
    }
    text += &tables(judgement, ["A", "B"], detail, width);
    text += &folded(notes(record, judgement));
    text + &folded(legend(record.header(), judgement))
}

/// Summarizes the result in a sentence.
pub(crate) fn summary(record: &Record, judgement: &Judgement) -> String {
    let (rounds, counts) = (record.rounds(), counts(judgement));
    format!("B against A, {rounds} rounds: {counts}.")
}

fn described(side: Side, setup: &Setup) -> String {
    let mut text = format!("{side}: {} ({})", setup.name(), setup.version);
    if !setup.options.is_empty() {
        let _ = write!(text, " {}", setup.options.join(" "));
    }
    if let Some(command) = &setup.before {
        let _ = write!(text, ", after: {command}");
    }
    text + "\n"
}

/// Returns the notes below the table: reasons of verdicts, skipped cases, repeated windows, and how much
/// longer unclear engines need.
pub(crate) fn notes(record: &Record, judgement: &Judgement) -> String {
    let reasons = judgement.cases.iter().filter_map(|case| {
        let verdict = &case.answer.verdict;
        let word = verdict.word(judgement.question.by);
        Some(format!("{}: {word}: {}", case.key, verdict.reason()?))
    });
    let pairs = record.pairs();
    let skipped: Vec<&str> = pairs.iter().filter_map(|pair| pair.refusal()).collect();
    let skipped = skipped.first().map(|reason| {
        let (skipped, all) = (skipped.len(), pairs.len());
        format!("{skipped} of {all} cases skipped: {reason}")
    });
    let repeated: usize = record.measured().iter().map(|pair| pair.repeated).sum();
    let repeated = (repeated > 0).then(|| {
        format!(
            "measured twice: {}; the log says why",
            counted(repeated, "window")
        )
    });
    let more = judgement.engines.iter().filter_map(|engine| {
        let rounds = more_rounds(record, judgement, &engine.label)?;
        let each =
            record.header().a.settings.time_per_window() * 2 * windows_of(record, &engine.label);
        Some(format!(
            "{} is unclear: some {rounds} rounds more would tell, {}",
            engine.label,
            duration::about(each * rounds)
        ))
    });
    let busy = record.is_of_busy_machine().then(|| {
        format!(
            "other programs took CPU time in {} of {} windows: a change is called only if it is a hundred times surer",
            record.disturbed_windows(),
            record.windows()
        )
    });
    let notes = busy.into_iter().chain(reasons).chain(skipped);
    let notes = notes.chain(repeated).chain(more);
    let notes: String = notes.map(|note| note + "\n").collect();
    if notes.is_empty() {
        notes
    } else {
        "\n".to_owned() + &notes
    }
}

/// Returns the number of rounds after which an unclear engine is expected to have a verdict, beyond those that it has.
/// `None`: it has one, or would need more than [`MOST_ROUNDS`].
fn more_rounds(record: &Record, judgement: &Judgement, label: &str) -> Option<u32> {
    let engine = judgement
        .engines
        .iter()
        .find(|engine| engine.label == label)?;
    let times = engine
        .times_to_tell(judgement.question)
        .filter(|_| engine.whole.verdict == Verdict::Unclear)?;
    let rounds = f64::from(record.rounds()) * (times - 1.0);
    (1..=MOST_ROUNDS).find(|more| f64::from(*more) >= rounds)
}

/// Number of rounds that nobody waits for.
const MOST_ROUNDS: u32 = 10_000;

/// Returns the number of cases of an engine that run.
fn windows_of(record: &Record, label: &str) -> u32 {
    let pairs = record.pairs();
    let runs = pairs
        .iter()
        .filter(|pair| pair.refusal().is_none() && pair.label() == label);
    u32::try_from(runs.count()).unwrap_or(u32::MAX)
}

/// Explains the columns and verdicts.
pub(crate) fn legend(header: &Header, judgement: &Judgement) -> String {
    let looks = match header.until {
        None => String::new(),
        Some(until) => format!(
            " All errors are divided among {} looks at the results.",
            until.looks
        ),
    };
    let window_ms = 1000.0 * header.a.settings.window.as_secs_f64();
    let legend = table::legend(judgement);
    format!(
        "
B against A, windows of {window_ms:.0} ms in turn, each round in fresh processes.{looks}
{legend}"
    )
}
