//! `udpbench plan`: shows which cases would run, which are skipped and why, and how long it takes. Measures nothing.

use std::fmt::{Display, Write as _};
use std::process::ExitCode;

use super::remote_host::RemoteHost;
use super::{about, interrupt_on_signals};
use crate::cli::options::suite::{expected_time, parts, requests, searches};
use crate::cli::options::{Request, find, without_effect};
use crate::cli::{FindCommand, PlanArgs, PlanCommand};
use crate::experiment::find::Record;
use crate::experiment::suite;
use crate::plan::{Decision, Planned, once_each};
use crate::term::output::show;
use crate::text::digits::counted;

/// Prints the plan. Its first line is the number of cases and the duration.
///
/// # Errors
/// Fails on bad input, or if standard output cannot be written.
pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let PlanArgs { what, run, details } = args;
    if let Some(PlanCommand::Find(asked)) = what {
        return searches_of(&asked.what);
    }
    let interrupt = interrupt_on_signals()?;
    let other = RemoteHost::on(&run.remote, &run.placement.board, true, &interrupt)?;
    let peer = other.as_ref().map(|other| &other.peer);
    let write = if *details { each_case } else { groups };
    let mut out = String::new();
    match &run.suite {
        None => {
            let request = Request::new(run, peer)?;
            writeln!(out, "{}", summary(&request))?;
            machine(&mut out, &request)?;
            write(&mut out, &request)?;
        }
        Some(name) => {
            let found = suite::find("--suite", name)?;
            let requests = requests(&found, run, peer)?;
            let searches = searches(&found, run, peer)?;
            let all = about(expected_time(&requests, &searches));
            writeln!(out, "{}: {all}", parts(&requests, &searches))?;
            requests
                .first()
                .map_or(Ok(()), |it| machine(&mut out, it))?;
            for (sweep, request) in found.sweeps.iter().zip(&requests) {
                writeln!(out, "\n== {}: {}", sweep.name, sweep.about)?;
                writeln!(out, "{}", summary(request))?;
                write(&mut out, request)?;
            }
            for (search, record) in found.searches.iter().zip(&searches) {
                writeln!(out, "\n== {}: {}", search.name, search.about)?;
                let found = searches_text(record);
                writeln!(out, "find {}: {found}", search.options.trim())?;
            }
        }
    }
    if !details {
        writeln!(out, "--details lists each case")?;
    }
    show(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the searches of `find`, and how long they take.
fn searches_of(what: &FindCommand) -> anyhow::Result<ExitCode> {
    let common = what.common();
    let interrupt = interrupt_on_signals()?;
    let other = RemoteHost::on(
        &common.output.remote,
        &common.placement.board,
        true,
        &interrupt,
    )?;
    let peer = other.as_ref().map(|other| &other.peer);
    let record = Record::new(find::header(what, peer, "")?);
    let names = record.names();
    let mut out = searches_text(&record) + "\n";
    for case in &record.cases {
        let name = names.name(&case.case);
        match &case.refusal {
            None => writeln!(out, "  {name}")?,
            Some(reason) => writeln!(out, "  {name}: skipped, {reason}")?,
        }
    }
    if !names.shared().is_empty() {
        writeln!(out, "in all: {}", names.shared())?;
    }
    let unused = without_effect::of(&common.parameters, &record.header.plan);
    advice(&mut out, &unused)?;
    if let Some(more) = find::how_to_search_more(what) {
        writeln!(out, "{more}")?;
    }
    show(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the number of searches and their time, as in `3 searches, from about 4m to 15m (--max-case-time)`. How many
/// trials a search needs depends on how much its results scatter, which nobody knows before: on a quiet machine,
/// `burst` took 7 times the shorter time, `knee` twice.
pub(super) fn searches_text(record: &Record) -> String {
    let (time, most) = record.expected_time();
    let number = record.searches();
    let plural = if number == 1 { "" } else { "es" };
    let most_text = humantime::format_duration(most);
    let length = match () {
        () if number == 0 => String::new(),
        () if time >= most => {
            format!(", cut off after {most_text}, which is too short (--max-case-time)")
        }
        () => format!(", from {} to {most_text} (--max-case-time)", about(time)),
    };
    format!("{number} search{plural}{length}")
}

fn machine(out: &mut String, request: &Request) -> std::fmt::Result {
    let machine = request.detected.machine(&request.host);
    writeln!(out, "{machine} ({})", request.detected.reason)
}

/// Writes the values of each axis, and each skip reason and warning once.
fn groups(out: &mut String, request: &Request) -> std::fmt::Result {
    let plan = &request.plan;
    let keys = || plan.blocks.iter().map(|block| block.key);
    let sockets = plan.cases().map(|planned| planned.case.connection);
    let axes = [
        ("engines", each(plan.cases().map(|it| it.case.label()))),
        ("threads", each(keys().map(|key| key.threads))),
        (
            "payload",
            each(keys().map(|it| format!("{} B", it.payload))),
        ),
        ("ip", each(keys().map(|key| key.ip))),
        ("sockets", each(sockets)),
        (
            "with",
            each(keys().flat_map(|key| key.unusual().collect::<Vec<_>>())),
        ),
        ("CPUs", each(plan.runnable().filter_map(cpus))),
    ];
    for (name, values) in axes.iter().filter(|(_, values)| !values.is_empty()) {
        // CPU lists contain commas.
        let between = if *name == "CPUs" { "; " } else { ", " };
        writeln!(out, "  {name:<9}{}", values.join(between))?;
    }
    for ((kind, text), count) in plan.remarks() {
        writeln!(out, "  {kind:<9}{count} x {text}")?;
    }
    advice(out, &request.advice)
}

/// Returns the distinct values in order of first occurrence.
fn each<T: Display>(values: impl Iterator<Item = T>) -> Vec<String> {
    once_each(values.map(|value| value.to_string()))
}

/// Formats the placement of a case that runs, as in `2 threads: 1>0`.
fn cpus(planned: &Planned) -> Option<String> {
    let threads = counted(planned.case.threads.count(), "thread");
    let placement = planned.placement()?;
    Some(format!("{threads}: {placement}"))
}

fn each_case(out: &mut String, request: &Request) -> std::fmt::Result {
    for block in &request.plan.blocks {
        writeln!(out, "{}", block.key)?;
        for planned in &block.cases {
            let (case, connection) = (&planned.case, planned.case.connection);
            let label = case.label();
            match &planned.verdict {
                Decision::Run(placement, warnings) => {
                    writeln!(out, "  run   {label:<20} {connection:<12} CPUs {placement}")?;
                    for warning in warnings {
                        writeln!(out, "        warning: {warning}")?;
                    }
                }
                Decision::Skip(reason) => {
                    writeln!(out, "  skip  {label:<20} {connection}")?;
                    writeln!(out, "        {reason}")?;
                }
            }
        }
    }
    advice(out, &request.advice)
}

fn advice(out: &mut String, advice: &[String]) -> std::fmt::Result {
    let mut advice = advice.iter();
    advice.try_for_each(|advice| writeln!(out, "advice: {advice}"))
}

/// Returns one line: the number of cases to run and to skip, the rounds, the window and the duration.
pub fn summary(request: &Request) -> String {
    let runs = request.plan.runnable().count();
    let skipped = request.plan.skipped().count();
    let meter = request.schedule.settings.meter.as_ref();
    let meter = meter.map_or_else(String::new, |meter| format!("; power by {meter}"));
    format!(
        "{} to run, {skipped} to skip; {} windows of {:.1?} each; {}{meter}",
        counted(runs, "case"),
        request.schedule.rounds,
        request.schedule.settings.window,
        about(request.schedule.expected_time(&request.plan)),
    )
}
