//! The answers for people, as wide as the terminal.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::judge::{Answer, CaseAnswer, Engine, FALSE_DISCOVERY_RATE, Judgement, MARGIN};
use super::log::{Header, Setup};
use super::{Record, Side};
use crate::columns::Columns;
use crate::compare::lines::{self, Line};
use crate::compare::table::{Detail, change, count, interval, value};
use crate::compare::{By, Verdict, place};
use crate::fold;

/// Draws it, in so many columns of the terminal, with escape sequences for colours, which the caller removes where they
/// do not belong.
pub fn draw(record: &Record, judgement: &Judgement, detail: Detail, width: u16) -> String {
    let by = judgement.question.by;
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = folded(summary(judgement) + "\n");
    for side in Side::BOTH {
        text += &folded(described(side, record.header().setup(side)));
    }
    engines(&mut text, by, &judgement.engines, width);
    cases(&mut text, by, &judgement.cases, detail, width);
    text += &folded(notes(record, judgement));
    text + &folded(legend(record.header(), judgement))
}

/// What came of it, in a sentence.
pub fn summary(judgement: &Judgement) -> String {
    let by = judgement.question.by;
    let cases = judgement.cases.iter().map(|case| &case.answer.verdict);
    let engines = judgement.engines.iter().map(|engine| &engine.all.verdict);
    format!(
        "B against A, {} rounds: {}; {}.",
        judgement.rounds,
        count(by, cases, "case"),
        count(by, engines, "engine")
    )
}

fn described(side: Side, setup: &Setup) -> String {
    let program = setup.program.as_deref().unwrap_or("this udpbench");
    let mut text = format!("{side}: {program} ({})", setup.version);
    if !setup.options.is_empty() {
        let _ = write!(text, " {}", setup.options.join(" "));
    }
    if let Some(command) = &setup.before {
        let _ = write!(text, ", after: {command}");
    }
    text + "\n"
}

fn engines(text: &mut String, by: By, engines: &[Engine], width: u16) {
    let mut lines = Vec::new();
    for engine in engines {
        lines.push(line(engine.label.clone(), &engine.all));
        let parts = engine.telling.and_then(|number| engine.parts.get(number));
        for (part, answer) in parts.into_iter().flatten() {
            lines.push(line(format!("  {}", place(&[*part])), answer));
        }
    }
    lines::draw(text, by, ENGINES, &lines, width);
}

const ENGINES: Columns = Columns {
    headings: &["engine", "cases", "change %", "95 % interval"],
    words: 1,
    leaves: &[1],
    longest: LONGEST,
};

const CASES: Columns = Columns {
    headings: &["case", "A", "B", "change %", "95 % interval"],
    words: 1,
    leaves: &[1, 2],
    longest: LONGEST,
};

/// The longest key that leaves all columns within 100.
const LONGEST: usize = 44;

/// Largest first.
fn cases(text: &mut String, by: By, cases: &[CaseAnswer], detail: Detail, width: u16) {
    let has_news = |case: &&CaseAnswer| match case.answer.verdict {
        Verdict::Better | Verdict::Worse | Verdict::Broken(_) => true,
        _ => detail == Detail::All,
    };
    let mut shown: Vec<&CaseAnswer> = cases.iter().filter(has_news).collect();
    let size = |case: &CaseAnswer| {
        case.answer
            .change
            .map_or(-1.0, |change| change.estimate.abs())
    };
    shown.sort_by(|a, b| size(b).partial_cmp(&size(a)).unwrap_or(Ordering::Equal));
    let lines: Vec<Line> = shown
        .into_iter()
        .map(|case| Line {
            label: case.key.clone(),
            cells: vec![
                value(case.a),
                value(case.b),
                change(case.answer.change),
                interval(case.answer.change),
            ],
            verdict: &case.answer.verdict,
        })
        .collect();
    lines::draw(text, by, CASES, &lines, width);
}

fn line(label: String, answer: &Answer) -> Line<'_> {
    Line {
        label,
        cells: vec![
            answer.cases.to_string(),
            change(answer.change),
            interval(answer.change),
        ],
        verdict: &answer.verdict,
    }
}

/// What the numbers cannot say.
fn notes(record: &Record, judgement: &Judgement) -> String {
    let mut notes: Vec<String> = Vec::new();
    for case in &judgement.cases {
        if let Some(reason) = case.answer.verdict.reason() {
            notes.push(format!("{}: {reason}", case.key));
        }
    }
    let pairs = record.pairs();
    let skipped: Vec<&str> = pairs.iter().filter_map(|pair| pair.refusal()).collect();
    if let Some(reason) = skipped.first() {
        notes.push(format!(
            "{} of {} cases skipped: {reason}",
            skipped.len(),
            pairs.len()
        ));
    }
    let repeated: usize = record.measured().iter().map(|pair| pair.repeated).sum();
    if repeated > 0 {
        notes.push(format!(
            "{repeated} windows were measured twice: the log says why"
        ));
    }
    let lines = notes.into_iter().map(|note| format!("\n{note}"));
    match lines.collect::<String>() {
        none if none.is_empty() => none,
        notes => notes + "\n",
    }
}

fn legend(header: &Header, judgement: &Judgement) -> String {
    let question = judgement.question;
    let (what, better, worse) = match question.by {
        By::Speed => ("datagrams received", "faster", "slower"),
        By::Cpu => ("CPU time per datagram", "cheaper", "dearer"),
    };
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
