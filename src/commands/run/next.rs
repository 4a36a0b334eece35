//! The steps that the closing lines of a run advise: whole commands wherever there is one.

use crate::cli::as_typed;
use crate::cli::options::DEFAULT_MAX_TIME;
use crate::commands::session::outputs::Outputs;
use crate::data::{Buffer, Workload};
use crate::results::command_line::CommandLine;
use crate::results::log::Header;
use crate::term::shell;
use crate::text::duration;
use crate::verdict::quality::Fix;

/// Fewest rounds whose intervals cover 95 %.
const ENOUGH_ROUNDS: u32 = 6;
/// Goal of `--until` for a run whose intervals are too wide.
const UNTIL: &str = "5%";
/// Factor of windows, warm-ups and time limits that were too short. Four times as many windows halve intervals.
const LONGER: u32 = 4;

/// Returns the lines of all fixes. A command has a line of its own. Ends that shared a CPU are apart in each command that
/// measures again.
pub(super) fn steps(fixes: &[Fix], header: &Header, outputs: &Outputs) -> Vec<String> {
    let apart = header.plan.pin_apart(&header.environment.host.cpus);
    let is_shared = fixes.contains(&Fix::Apart);
    let pin = apart.ok().filter(|_| is_shared);
    let again = Again {
        header,
        pin: pin.map(|pin| pin.to_string()),
    };
    let measures_again = |fix: &Fix| matches!(fix, Fix::Check(_) | Fix::Again(_));
    let is_apart_anyway = again.pin.is_some() && fixes.iter().any(measures_again);
    let fixes = fixes
        .iter()
        .filter(|fix| !(is_apart_anyway && **fix == Fix::Apart));
    let steps = fixes.map(|fix| step(*fix, &again, outputs));
    steps.collect::<Vec<_>>().concat()
}

fn step(fix: Fix, again: &Again, outputs: &Outputs) -> Vec<String> {
    let header = again.header;
    let schedule = &header.schedule;
    match fix {
        Fix::Words(words) => vec![words.to_owned()],
        Fix::Check(words) => {
            let check = outputs.words.in_commands("udpbench check");
            let commands = check.lines().map(str::to_owned);
            let apart = match again.pin {
                Some(_) => "then run it again with a CPU for each end",
                None => "then run it again",
            };
            let again = again.with(apart, &enough_rounds(header));
            let words = std::iter::once(format!("{words}:"));
            words.chain(commands).chain(again).collect()
        }
        Fix::Again(words) => again.with(words, &enough_rounds(header)),
        Fix::Lossless => at_a_lower_rate(header, outputs),
        Fix::Buffers => {
            let usual = [("--rcvbuf", Buffer::DEFAULT.to_string())];
            let words = "small receive buffers may be why so much is lost. With the usual ones";
            again.with(words, &usual)
        }
        Fix::Resume => {
            let command = outputs.resume_command();
            let text = command.unwrap_or_else(|| "measure what is missing".to_owned());
            vec![as_typed(&text).into_owned()]
        }
        Fix::Apart => apart(again),
        Fix::Longer => {
            let settings = &schedule.settings;
            let measured = duration::in_ms(settings.window * schedule.rounds * LONGER);
            let changes = [
                ("--duration", duration::text(measured)),
                ("--warmup", duration::text(settings.warmup * LONGER)),
            ];
            again.with("longer windows and warm-up", &changes)
        }
        Fix::Rounds if schedule.rounds < ENOUGH_ROUNDS => {
            again.with("enough rounds", &enough_rounds(header))
        }
        Fix::Rounds => vec!["pin the threads (--pin), and run this again".to_owned()],
        Fix::Until => match schedule.until {
            Some(until) => {
                let limit = duration::text(until.max_time * LONGER);
                again.with("more time", &[("--max-time", limit)])
            }
            None => again.with(
                &format!(
                    "until intervals are within +-{UNTIL}, {} at most",
                    duration::text(DEFAULT_MAX_TIME)
                ),
                &[("--until", UNTIL.to_owned())],
            ),
        },
    }
}

/// Returns the lines with the command that halves the intervals.
pub(super) fn more_windows(header: &Header) -> Vec<String> {
    let schedule = &header.schedule;
    let rounds = schedule.rounds.saturating_mul(LONGER);
    let measured = duration::in_ms(schedule.settings.window.saturating_mul(rounds));
    let changes = [
        ("--rounds", rounds.to_string()),
        ("--duration", duration::text(measured)),
    ];
    let again = Again { header, pin: None };
    again.with("to tell more apart, four times as many windows", &changes)
}

/// Returns the lines with the command that measures the same at a rate, in datagrams per second.
pub(super) fn at_a_rate(header: &Header, rate: u64) -> Vec<String> {
    let again = Again { header, pin: None };
    let what = "CPU times at a rate that the path takes";
    again.with(what, &[("--rate", rate.to_string())])
}

/// Returns the commands that show the hidden warnings, if there are any, and with `is_page` more of the results.
pub(super) fn show_more(outputs: &Outputs, hidden_warnings: usize, is_page: bool) -> Vec<String> {
    let Some(log) = &outputs.samples_path else {
        return Vec::new();
    };
    let more = if cfg!(feature = "report") {
        "report"
    } else {
        "rank"
    };
    let warnings = (hidden_warnings > 0).then_some("summarize --warnings");
    let commands = warnings.into_iter().chain(is_page.then_some(more));
    let text = commands.map(|command| format!("udpbench {command} {}", shell::path(log)));
    text.map(|text| as_typed(&text).into_owned()).collect()
}

/// The command that repeats a run.
struct Again<'a> {
    header: &'a Header,
    /// CPUs that each such command gets.
    pin: Option<String>,
}

impl Again<'_> {
    /// Returns the lines with the command, with these options.
    fn with(&self, what: &str, changes: &[(&str, String)]) -> Vec<String> {
        let pin = self.pin.clone().map(|pin| ("--pin", pin));
        let changes: Vec<(&str, String)> = changes.iter().cloned().chain(pin).collect();
        let typed = CommandLine(&self.header.run.command_line);
        if typed.has("--suite") {
            let changes = changes
                .iter()
                .map(|(flag, value)| format!("{flag} {value}"));
            let changes: Vec<String> = changes.collect();
            let changes = changes.join(" ");
            return vec![format!("{what}: this sweep again with {changes}")];
        }
        let command = as_typed(&typed.again(&changes)).into_owned();
        vec![format!("{what}:"), command]
    }
}

/// Returns the option for a run whose rounds are too few for intervals of 95 %. Empty: they are enough.
fn enough_rounds(header: &Header) -> Vec<(&'static str, String)> {
    let few = header.schedule.rounds < ENOUGH_ROUNDS;
    let rounds = few.then(|| ("--rounds", ENOUGH_ROUNDS.to_string()));
    rounds.into_iter().collect()
}

fn at_a_lower_rate(header: &Header, outputs: &Outputs) -> Vec<String> {
    let larger = "run this again with a larger --rcvbuf";
    let cases = || header.plan.cases().map(|planned| &planned.case);
    let has_rates =
        cases().all(|case| case.transport.is_none() && case.workload != Some(Workload::Bidir));
    if !has_rates {
        return vec![larger.to_owned()];
    }
    let command = CommandLine(&header.run.command_line).find_lossless(&[]);
    vec![
        format!("{larger}, or find the rate at which each loses nothing:"),
        outputs.words.in_commands(&format!("udpbench {command}")),
    ]
}

/// Returns the command that gives each end CPUs of its own, if the machine has them.
fn apart(again: &Again) -> Vec<String> {
    let header = again.header;
    match header.plan.pin_apart(&header.environment.host.cpus) {
        Ok(_) => again.with("a CPU for each end", &[]),
        Err(instead) => vec![instead.to_owned()],
    }
}
