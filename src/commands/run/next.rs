//! The steps that the closing lines of a run advise: whole commands wherever there is one.

use crate::cli::as_typed;
use crate::commands::session::outputs::Outputs;
use crate::data::Workload;
use crate::host::placement::{Pin, Placement};
use crate::results::command_line::CommandLine;
use crate::results::log::Header;
use crate::term::duration;
use crate::term::shell;
use crate::verdict::quality::Fix;

/// Fewest rounds whose intervals cover 95 %.
const ENOUGH_ROUNDS: u32 = 6;
/// Goal of `--until` for a run whose intervals are too wide.
const UNTIL: &str = "5%";
/// Factor of windows, warm-ups and time limits that were too short. Four times as many windows halve intervals.
const LONGER: u32 = 4;

/// Returns the step of a fix.
pub(super) fn step(fix: Fix, header: &Header, outputs: &Outputs) -> String {
    let schedule = &header.schedule;
    match fix {
        Fix::Words(words) => outputs.words.in_commands(words),
        Fix::Lossless => at_a_lower_rate(header, outputs),
        Fix::Resume => {
            let command = outputs
                .resume_command()
                .map(|it| as_typed(&it).into_owned());
            command.unwrap_or_else(|| "measure what is missing".to_owned())
        }
        Fix::Apart => apart(header),
        Fix::Longer => {
            let settings = &schedule.settings;
            let measured = settings.window * schedule.rounds * LONGER;
            let changes = [
                ("--duration", duration::text(measured)),
                ("--warmup", duration::text(settings.warmup * LONGER)),
            ];
            again(header, "longer windows and warm-up", &changes)
        }
        Fix::Rounds if schedule.rounds < ENOUGH_ROUNDS => {
            let changes = [("--rounds", ENOUGH_ROUNDS.to_string())];
            again(header, "enough rounds", &changes)
        }
        Fix::Rounds => "pin the threads (--pin), and run this again".to_owned(),
        Fix::Until => match schedule.until {
            Some(until) => {
                let limit = duration::text(until.max_time * LONGER);
                again(header, "more time", &[("--max-time", limit)])
            }
            None => again(
                header,
                &format!("until intervals are within +-{UNTIL}"),
                &[("--until", UNTIL.to_owned())],
            ),
        },
    }
}

/// Returns the command that shows more of the results.
pub(super) fn show_more(outputs: &Outputs) -> Option<String> {
    let log = outputs.samples_path.as_ref()?;
    let command = if cfg!(feature = "report") {
        "report"
    } else {
        "rank"
    };
    let text = format!("udpbench {command} {}", shell::path(log));
    Some(as_typed(&text).into_owned())
}

/// Returns the command that repeats the run with these options.
fn again(header: &Header, what: &str, changes: &[(&str, String)]) -> String {
    let typed = CommandLine(&header.command_line);
    if typed.has("--suite") {
        let changes = changes
            .iter()
            .map(|(flag, value)| format!("{flag} {value}"));
        let changes: Vec<String> = changes.collect();
        return format!("this sweep again with {} ({what})", changes.join(" "));
    }
    format!("{} ({what})", as_typed(&typed.again(changes)))
}

fn at_a_lower_rate(header: &Header, outputs: &Outputs) -> String {
    let larger = "run this again with a larger --rcvbuf";
    let cases = || header.plan.cases().map(|planned| &planned.case);
    let has_rates =
        cases().all(|case| case.transport.is_none() && case.workload != Some(Workload::Bidir));
    if !has_rates {
        return larger.to_owned();
    }
    let command = CommandLine(&header.command_line).find_lossless(&[]);
    let text = format!("udpbench {command} (the rate at which each loses nothing), or {larger}");
    outputs.words.in_commands(&text)
}

/// Returns the command that gives each end CPUs of its own, if the machine has them.
fn apart(header: &Header) -> String {
    let cases = header.plan.runnable().map(|planned| planned.case.threads);
    let placed = cases.max().map(|threads| {
        let placement = Placement::generic(threads, &header.host.cpus);
        let list = |cpus: &[Option<usize>]| cpus.iter().flatten().copied().collect();
        (list(&placement.senders), list(&placement.receivers))
    });
    let placed: Option<(Vec<usize>, Vec<usize>)> = placed;
    let apart = placed.filter(|(senders, receivers)| {
        !senders.is_empty() && !senders.iter().any(|cpu| receivers.contains(cpu))
    });
    match apart {
        Some((senders, receivers)) => {
            let pin = Pin::To(senders, receivers).to_string();
            again(header, "a CPU for each end", &[("--pin", pin)])
        }
        None => "this machine has too few CPUs for both ends: measure between two".to_owned(),
    }
}
