//! Results for people, in the width of the terminal.

use std::fmt::Write as _;
use std::time::Duration;

use super::header::{AbHeader, MOST_ROUNDS, Setup};
use super::{AbComparison, Side};
use crate::host::tuning::{Location, Setting, Tuning, Tunings};
use crate::results::command_line::CommandLine;
use crate::term::fold;
use crate::term::table::{Columns, Table};
use crate::text::digits::counted;
use crate::text::digits::whole_u32;
use crate::text::duration;
use crate::verdict::judge::table::{Detail, counts, estimate, tables};
use crate::verdict::judge::{self, JudgedEngine, Judgement, Verdict};

/// Draws the results for a terminal of `width` columns. The text has escape sequences for colours. The caller removes
/// them where they do not belong.
pub fn draw(
    comparison: &AbComparison,
    judgement: &Judgement,
    detail: Detail,
    width: u16,
) -> String {
    let folded = |text: String| fold::text(&text, width.into());
    let mut text = folded(summary(comparison, judgement) + "\n");
    if comparison.header.tunings.is_some() {
        text += "A: settings as they are. B: one of them as it is tried.\n";
    } else {
        for side in Side::BOTH {
            text += &folded(described(side, comparison.header.setup(side)));
        }
    }
    text += &tables(judgement, ["A", "B"], detail, width);
    text += &folded(notes(comparison, judgement));
    text += &folded(legend(&comparison.header, judgement));
    text + &folded(next(comparison, judgement))
}

/// Summarizes the result in a sentence.
fn summary(comparison: &AbComparison, judgement: &Judgement) -> String {
    let (rounds, counts) = (counted(comparison.rounds(), "round"), counts(judgement));
    let inconclusive = if judgement.is_inconclusive() {
        "Inconclusive: "
    } else {
        ""
    };
    format!("{inconclusive}B against A, {rounds}: {counts}.")
}

fn described(side: Side, setup: &Setup) -> String {
    let mut text = format!("{side}: {} ({})", setup.name(), setup.version);
    for option in &setup.options {
        let _ = write!(text, " {option}");
    }
    if let Some(command) = &setup.before {
        let _ = write!(text, ", after: {command}");
    }
    text + "\n"
}

/// Returns the notes below the table: reasons of verdicts, skipped cases, repeated windows, and how many rounds unclear
/// engines need.
pub(crate) fn notes(comparison: &AbComparison, judgement: &Judgement) -> String {
    let mut notes: Vec<String> = Vec::new();
    if comparison.is_of_busy_machine() {
        let (all, disturbed) = comparison.windows();
        notes.push(format!(
            "other programs took CPU time in {disturbed} of {all} windows: a change is called only if it is a hundred \
             times surer"
        ));
    }
    if judgement.is_too_short() {
        let rounds = counted(comparison.rounds(), "round");
        notes.push(format!("{rounds}: too few to call a change, however large"));
    }
    notes.extend(judgement.cases.iter().filter_map(|case| {
        let verdict = &case.answer.verdict;
        let word = verdict.word(judgement.question.by);
        Some(format!("{}: {word}: {}", case.key, verdict.reason()?))
    }));
    notes.extend(comparison.left_out());
    let pairs = comparison.pairs();
    let skipped: Vec<&str> = pairs.iter().filter_map(|pair| pair.refusal()).collect();
    if let [reason, ..] = &skipped[..] {
        let (skipped, all) = (skipped.len(), counted(pairs.len(), "case"));
        notes.push(format!("{skipped} of {all} skipped: {reason}"));
    }
    let repeated: usize = comparison.pairs.iter().map(|pair| pair.repeated).sum();
    if repeated > 0 {
        let windows = counted(repeated, "window");
        notes.push(format!("measured twice: {windows}; the log says why"));
    }
    let engines = judgement.engines.iter();
    let engines = engines.filter(|_| !judgement.is_too_short());
    notes.extend(engines.filter_map(|engine| {
        let would_tell = match rounds_to_tell(comparison, judgement, engine)? {
            rounds if rounds > MOST_ROUNDS => format!("{MOST_ROUNDS} rounds would hardly tell"),
            rounds => format!("some {rounds} rounds would tell"),
        };
        let (label, change) = (&engine.label, estimate(engine.whole.change));
        Some(format!(
            "{label} is unclear: if it really is {change} %, {would_tell}"
        ))
    }));
    let mut text: String = notes.into_iter().map(|note| note + "\n").collect();
    if let Some(tunings) = &comparison.header.tunings {
        text += &left_out(tunings);
    }
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    text
}

/// Returns the number of rounds, from the first one, after which an unclear engine is expected to have a verdict.
/// `None`: it has one, or its change is not known.
fn rounds_to_tell(
    comparison: &AbComparison,
    judgement: &Judgement,
    engine: &JudgedEngine,
) -> Option<u32> {
    /// Where the interval alone is narrow enough, it was the number of questions that forbade a verdict.
    const FEWEST_TIMES: f64 = 1.5;
    /// On a busy machine: the square of the ratio of two normal quantiles, those of errors of 0.05 % and of 5 %.
    const CAUTIOUS_TIMES: f64 = 3.2;
    /// Fewest rounds whose signs can be so rare by chance: one in 2^13.
    const FEWEST_CAUTIOUS: f64 = 14.0;
    let times = engine.times_to_tell(judgement.question);
    let times = times.filter(|_| engine.whole.verdict == Verdict::Unclear)?;
    let mut rounds = f64::from(comparison.rounds()) * times.max(FEWEST_TIMES);
    if comparison.is_of_busy_machine() {
        rounds = (CAUTIOUS_TIMES * rounds).max(FEWEST_CAUTIOUS);
    }
    Some(whole_u32(rounds.ceil()))
}

/// Returns the command that measures so many rounds that all unclear engines are expected to have a verdict, in windows
/// as long as before, or the same again if windows failed or were disturbed. Empty: there is none, or no need.
fn next(comparison: &AbComparison, judgement: &Judgement) -> String {
    let header = &comparison.header;
    // The command that resumes it follows, and is its only next step. A search for settings has no command of `ab`.
    if comparison.is_interrupted || header.tunings.is_some() {
        return String::new();
    }
    let first = if comparison.is_of_busy_machine() || comparison.failed_beside_others() {
        "stop what else runs (udpbench check), then "
    } else {
        ""
    };
    let engines = judgement.engines.iter();
    let rounds = engines.filter_map(|engine| rounds_to_tell(comparison, judgement, engine));
    let rounds = rounds.filter(|&rounds| rounds <= MOST_ROUNDS).max();
    if let Some((rounds, command)) = rounds.and_then(|it| Some((it, command(header, it)?))) {
        let pairs = comparison.pairs();
        let runs = pairs.iter().filter(|pair| pair.refusal().is_none()).count();
        let windows = u32::try_from(2 * runs).unwrap_or(u32::MAX);
        let round = header.a.settings.time_per_window() * windows;
        let time = duration::about(round.saturating_mul(rounds));
        return format!("\nnext  {first}{rounds} rounds, {time}:\n      {command}\n");
    }
    let typed = CommandLine(&header.run.command_line);
    let is_disturbed = comparison.has_failures() || comparison.is_of_busy_machine();
    if judgement.is_inconclusive() && is_disturbed && typed.has("ab") {
        let command = typed.again(&[]);
        return format!("\nnext  {first}measure again:\n      {command}\n");
    }
    String::new()
}

/// Returns the command of a comparison with other `rounds`, and windows as long as before. `None`: a side has a
/// duration of its own.
fn command(header: &AbHeader, rounds: u32) -> Option<String> {
    let mut options = header.a.options.iter().chain(&header.b.options);
    if options.any(|word| word.starts_with("--duration")) {
        return None;
    }
    let words = &header.run.command_line[..];
    let end = words.iter().position(|it| it == "--");
    let (own, both) = words.split_at(end.unwrap_or(words.len()));
    let omitted = ["--decide", "--max-time"];
    let own = CommandLine(own).without(&omitted, &[("--rounds", rounds.to_string())]);
    let together = header.a.settings.window * rounds;
    let together = Duration::from_millis(u64::try_from(together.as_micros().div_ceil(1000)).ok()?);
    let both = CommandLine(both).again(&[("--duration", duration::text(together))]);
    let (_, both) = both.split_once(' ')?;
    Some(format!("{own} -- {both}"))
}

/// Explains the columns and verdicts.
pub(crate) fn legend(header: &AbHeader, judgement: &Judgement) -> String {
    let looks = match header.until {
        Some(until) if until.looks > 1 => format!(
            " All errors are divided among {} looks at the results.",
            until.looks
        ),
        _ => String::new(),
    };
    let window_ms = 1000.0 * header.a.settings.window.as_secs_f64();
    let legend = judge::table::legend(judgement, "");
    let states = match header.environment.host.virtualization {
        Some(_) => " On a virtual machine, two engines may differ otherwise the next time.",
        None => "",
    };
    format!(
        "
B against A, windows of {window_ms:.0} ms in turn, each round in fresh processes.{looks}{states}
{legend}"
    )
}

/// Returns a table of the settings, each with its current and its tried value.
pub fn settings(tunings: &Tunings) -> Table {
    let columns = Columns::<Tuning>::default()
        .word("setting", |tuning| tuning.name.text().to_owned())
        .word("where", location)
        .word("now", |tuning| value(tuning, |it| &it.before))
        .word("tried", |tuning| value(tuning, |it| &it.tried))
        .text("why it might help", |tuning| tuning.name.why().to_owned());
    columns.table(&tunings.tried)
}

fn location(tuning: &Tuning) -> String {
    match &tuning.settings[..] {
        [] => "nowhere".to_owned(),
        [one] => short(&one.location),
        [first, others @ ..] => format!("{} and {} more", short(&first.location), others.len()),
    }
}

/// Returns the value of all places of a setting.
fn value(tuning: &Tuning, of: fn(&Setting) -> &str) -> String {
    let mut values: Vec<&str> = tuning.settings.iter().map(of).collect();
    values.dedup();
    match &values[..] {
        [] => "-".to_owned(),
        [one] => (*one).to_owned(),
        [first, ..] => format!("{first}, .."),
    }
}

/// Returns the path without the directory that all paths of its kind share.
fn short(location: &Location) -> String {
    let text = location.to_string();
    let known = ["/sys/class/net/", "/sys/devices/system/cpu/cpufreq/"];
    let rest = known.iter().find_map(|known| text.strip_prefix(known));
    rest.map_or(text.clone(), str::to_owned)
}

/// Lists the settings that are not tried, each reason once.
pub fn left_out(tunings: &Tunings) -> String {
    let mut text = String::new();
    let alike = tunings
        .left_out
        .chunk_by(|one, other| one.reason == other.reason);
    for alike in alike {
        let names: Vec<&str> = alike.iter().map(|tuning| tuning.name.text()).collect();
        let _ = writeln!(text, "not tried: {}: {}", names.join(", "), alike[0].reason);
    }
    text
}
