//! The steps that the closing lines of a run advise: whole commands wherever there is one.

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

/// Returns the lines of all fixes. A command has a line of its own. Ends that shared a CPU are apart in each command
/// that measures again.
/// `is_late`: `--until` ended by its time limit.
pub(super) fn steps(
    fixes: &[Fix],
    header: &Header,
    outputs: &Outputs,
    is_late: bool,
) -> Vec<String> {
    let apart = header.plan.pin_apart(&header.environment.host.cpus);
    let apart = apart.map(|pin| pin.to_string());
    let pin = apart.as_ref().ok().filter(|_| fixes.contains(&Fix::Apart));
    let again = Again {
        header,
        pin: pin.map(String::as_str),
    };
    let measures_again = |fix: &Fix| matches!(fix, Fix::Check(_) | Fix::Again(_));
    let is_apart_anyway = again.pin.is_some() && fixes.iter().any(measures_again);
    let steps = fixes.iter().map(|fix| match (fix, &apart) {
        (Fix::Apart, _) if is_apart_anyway => Vec::new(),
        (Fix::Apart, Ok(_)) => again.with("a CPU for each end", &[]),
        (Fix::Apart, Err(instead)) => vec![(*instead).to_owned()],
        (fix, _) => step(*fix, &again, outputs, is_late),
    });
    steps.collect::<Vec<_>>().concat()
}

fn step(fix: Fix, again: &Again, outputs: &Outputs, is_late: bool) -> Vec<String> {
    let schedule = &again.header.schedule;
    let few = schedule.rounds < ENOUGH_ROUNDS;
    let rounds = few.then(|| ("--rounds", ENOUGH_ROUNDS.to_string()));
    let rounds = Vec::from_iter(rounds);
    let (what, changes) = match fix {
        Fix::Words(words) => return vec![words.to_owned()],
        Fix::Lossless => return at_a_lower_rate(again.header),
        Fix::Resume => {
            let command = outputs.resume_command();
            return vec![command.unwrap_or_else(|| "measure what is missing".to_owned())];
        }
        Fix::Check(words) => {
            let mut lines = vec![format!("{words}:")];
            lines.extend(CommandLine(&again.header.run.command_line).checks());
            let apart = again.pin.map_or("", |_| " with a CPU for each end");
            lines.extend(again.with(&format!("then run it again{apart}"), &rounds));
            return lines;
        }
        Fix::Again(words) => (words.to_owned(), Vec::new()),
        Fix::Rounds if few => ("enough rounds".to_owned(), Vec::new()),
        Fix::Rounds | Fix::Apart => {
            return vec!["pin the threads (--pin), and run this again".to_owned()];
        }
        Fix::Buffers => {
            let words = "small receive buffers may be why so much is lost. With the usual ones";
            let usual = ("--rcvbuf", Buffer::DEFAULT.to_string());
            (words.to_owned(), vec![usual])
        }
        Fix::Longer => {
            let settings = &schedule.settings;
            let measured = duration::in_ms(settings.window * schedule.rounds * LONGER);
            let changes = vec![
                ("--duration", duration::text(measured)),
                ("--warmup", duration::text(settings.warmup * LONGER)),
            ];
            ("longer windows and warm-up".to_owned(), changes)
        }
        Fix::Until => match schedule.until {
            Some(until) if is_late => {
                let limit = duration::text(until.max_time * LONGER);
                ("more time".to_owned(), vec![("--max-time", limit)])
            }
            Some(until) => {
                let half = format!("{}%", until.half_width_pct / 2.0);
                (
                    "half of these intervals".to_owned(),
                    vec![("--until", half)],
                )
            }
            None => {
                let most = duration::text(DEFAULT_MAX_TIME);
                let words = format!("until intervals are within +-{UNTIL}, {most} at most");
                (words, vec![("--until", UNTIL.to_owned())])
            }
        },
    };
    again.with(&what, &[changes, rounds].concat())
}

/// Returns the commands that show the hidden warnings, if there are any, and with `is_page` more of the results.
pub(super) fn show_more(outputs: &Outputs, hidden_warnings: usize, is_page: bool) -> Vec<String> {
    let Some(log) = &outputs.samples_path else {
        return Vec::new();
    };
    let report = (is_page && cfg!(feature = "report")).then_some("report");
    let warnings = (hidden_warnings > 0).then_some("summarize --warnings");
    let commands = warnings.into_iter().chain(report);
    let text = commands.map(|command| format!("udpbench {command} {}", shell::path(log)));
    text.collect()
}

/// The command that repeats a run.
struct Again<'a> {
    header: &'a Header,
    /// CPUs that each such command gets.
    pin: Option<&'a str>,
}

impl Again<'_> {
    /// Returns the lines with the command, with these options.
    fn with(&self, what: &str, changes: &[(&str, String)]) -> Vec<String> {
        let pin = self.pin.map(|pin| ("--pin", pin.to_owned()));
        let changes: Vec<(&str, String)> = changes.iter().cloned().chain(pin).collect();
        let typed = CommandLine(&self.header.run.command_line);
        if typed.has("--suite") {
            let mut line = format!("{what}: this sweep again with");
            for (flag, value) in changes {
                line.extend([" ", flag, " ", &value]);
            }
            return vec![line];
        }
        vec![format!("{what}:"), typed.again(&changes)]
    }
}

fn at_a_lower_rate(header: &Header) -> Vec<String> {
    let larger = "run this again with a larger --rcvbuf";
    let cases = || header.plan.cases().map(|planned| &planned.case);
    let has_rates =
        cases().all(|case| case.transport.is_none() && case.workload != Some(Workload::Bidir));
    if !has_rates {
        return vec![larger.to_owned()];
    }
    vec![
        format!("{larger}, or find the rate at which each loses nothing:"),
        CommandLine(&header.run.command_line).find_lossless(&[]),
    ]
}
