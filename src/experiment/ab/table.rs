//! Results for people, in the width of the terminal.

use std::fmt::Write as _;

use super::header::{Header, Setup};
use super::judge::{Answer, CaseAnswer, FALSE_DISCOVERY_RATE, Judgement, MARGIN};
use super::{Record, Side};
use crate::term::fold;
use crate::term::table::{Columns, Table};
use crate::verdict::compare::table::{Detail, below, count, largest_first, value, verdict};
use crate::verdict::compare::{By, Part, place};

/// Draws the results for a terminal of `width` columns. The text has escape sequences for colours. The caller removes
/// them where they do not belong.
pub fn draw(record: &Record, judgement: &Judgement, detail: Detail, width: u16) -> String {
    let by = judgement.question.by;
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = folded(summary(judgement) + "\n");
    for side in Side::BOTH {
        text += &folded(described(side, record.header().setup(side)));
    }
    text += &below(&engines(judgement), width);
    let cases = largest_first(&judgement.cases, detail, |it| {
        (it.answer.change, &it.answer.verdict)
    });
    text += &below(&columns(by).table(cases), width);
    text += &folded(notes(record, judgement));
    text + &folded(legend(record.header(), judgement))
}

/// Summarizes the result in a sentence.
pub fn summary(judgement: &Judgement) -> String {
    let (rounds, counts) = (judgement.rounds, counts(judgement));
    format!("B against A, {rounds} rounds: {counts}.")
}

/// Counts the cases and engines with each verdict.
pub(crate) fn counts(judgement: &Judgement) -> String {
    let by = judgement.question.by;
    let cases = judgement.cases.iter().map(|case| &case.answer.verdict);
    let engines = judgement.engines.iter().map(|engine| &engine.all.verdict);
    count(by, cases, "case") + "; " + &count(by, engines, "engine")
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

fn engines(judgement: &Judgement) -> Table {
    let columns = Columns::<(String, &Answer)>::default()
        .word("engine", |(label, _)| label.clone())
        .spare(1, "cases", |(_, answer)| answer.cases.to_string());
    let by = judgement.question.by;
    let columns = verdict(columns, by, |(_, answer)| (answer.change, &answer.verdict));
    let told = told(judgement, Detail::Changes);
    columns.table(told.map(|(label, part, answer)| match part {
        None => (label.to_owned(), answer),
        Some(part) => (format!("  {}", place(&[part])), answer),
    }))
}

/// Returns each engine followed by its parts: the parts of the cut that tells most, or all parts.
pub(crate) fn told(
    judgement: &Judgement,
    detail: Detail,
) -> impl Iterator<Item = (&str, Option<Part>, &Answer)> {
    judgement.engines.iter().flat_map(move |engine| {
        let telling = engine
            .telling
            .and_then(|number| engine.parts.get(number..=number));
        let cuts = match detail {
            Detail::Changes => telling.unwrap_or_default(),
            Detail::All => &engine.parts,
        };
        let parts = cuts.iter().flatten();
        let parts = parts.map(|(part, answer)| (&*engine.label, Some(*part), answer));
        std::iter::once((&*engine.label, None, &engine.all)).chain(parts)
    })
}

fn columns(by: By) -> Columns<'static, CaseAnswer> {
    let columns = Columns::<CaseAnswer>::default()
        .word("case", |it| it.key.clone())
        .spare(1, "A", |it| value(it.a))
        .spare(2, "B", |it| value(it.b));
    verdict(columns, by, |it| (it.answer.change, &it.answer.verdict))
}

/// Returns the notes below the table: reasons of verdicts, skipped cases, and repeated windows.
pub(crate) fn notes(record: &Record, judgement: &Judgement) -> String {
    let reasons = judgement.cases.iter().filter_map(|case| {
        let reason = case.answer.verdict.reason()?;
        Some(format!("{}: {reason}", case.key))
    });
    let pairs = record.pairs();
    let skipped: Vec<&str> = pairs.iter().filter_map(|pair| pair.refusal()).collect();
    let skipped = skipped.first().map(|reason| {
        let (skipped, all) = (skipped.len(), pairs.len());
        format!("{skipped} of {all} cases skipped: {reason}")
    });
    let repeated: usize = record.measured().iter().map(|pair| pair.repeated).sum();
    let repeated =
        (repeated > 0).then(|| format!("{repeated} windows were measured twice: the log says why"));
    let notes = reasons.chain(skipped).chain(repeated);
    let notes: String = notes.map(|note| note + "\n").collect();
    if notes.is_empty() {
        notes
    } else {
        "\n".to_owned() + &notes
    }
}

/// Explains the columns and verdicts.
pub(crate) fn legend(header: &Header, judgement: &Judgement) -> String {
    let question = judgement.question;
    let [what, better, worse] = question.by.words();
    let threshold = question.threshold.percent();
    let looks = match judgement.looks {
        1 => String::new(),
        looks => format!("\nAll errors are divided among {looks} looks at the results."),
    };
    let margin = 100.0 * MARGIN.min(question.threshold.fraction());
    let accidents = 100.0 * FALSE_DISCOVERY_RATE;
    let window_ms = 1000.0 * header.a.settings.window.as_secs_f64();
    format!(
        "
change %: {what}, B against A, windows of {window_ms:.0} ms in turn, each round in fresh processes.
{better}, {worse}: surely by more than {margin} %; {accidents} % of these verdicts may be false alarms.
same: surely by less than {threshold} %, of an engine in each of its parts, too. unclear: neither.{looks}
"
    )
}
