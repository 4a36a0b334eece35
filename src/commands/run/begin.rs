//! The beginning of a sweep, or of the rest of one that was interrupted: checks the hosts, opens the files, and says
//! what will be measured.

use std::path::Path;
use std::time::Duration;

use super::against::Base;
use crate::VERSION;
use crate::cli::RunArgs;
use crate::cli::options::{self, Request};
use crate::cli::peer::Peer;
use crate::commands::plan::summary;
use crate::commands::session;
use crate::commands::session::outputs::Outputs;
use crate::commands::session::progress::Progress;
use crate::data::Buffer;
use crate::error::UsageError;
use crate::experiment::sweep::Sweep;
use crate::host::check::{Finding, Problem, Subject};
use crate::log::name::{now, warn_of_clock};
use crate::results::export::selection::Selection;
use crate::results::log::Log;
use crate::results::row::Environment;
use crate::session::{Experiment, Logged};
use crate::sys::cpu_speed;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::term::output::say;
use crate::trial::power_command::PowerCommand;
use crate::trial::remote_facts::drops_of_others;

/// A sweep that has begun, and its progress.
pub(super) struct Begun {
    pub(super) sweep: Sweep,
    pub(super) progress: Progress,
    pub(super) power_command: Option<PowerCommand>,
}

/// Checks the hosts and creates the files of a sweep.
pub(super) fn begin(
    args: &RunArgs,
    request: Request,
    base: Option<&Base>,
    peer: Option<&Peer>,
    interrupt: &Interrupt,
) -> anyhow::Result<Begun> {
    // Before any file is created.
    let power_command = PowerCommand::of(&request.schedule.settings, interrupt)?;
    let started_at = now();
    warn_of_clock(&started_at);
    let findings = findings(&request, peer);
    let environment = environment(&request, &findings, peer);
    if let Some(base) = base {
        base.announce(&request.plan)?;
    }
    let board = &request.detected.board.name;
    let selection = Selection::of_plan(args.output.columns, &request.plan, &request.schedule);
    let mut outputs = Outputs::create(args, board, &started_at, &selection)?;
    if !args.output.quiet {
        introduce(&request, &outputs);
    }
    warn(&findings);
    let mut header = request.header(args, &started_at, environment);
    header.earlier_runs = outputs.earlier_runs(&header);
    if let Err(error) = outputs.first(&header) {
        // Nothing was measured: leaves no files behind that cannot be resumed.
        outputs.remove();
        return Err(error);
    }
    // Syncs the plan against a power cut: all results depend on it.
    outputs.sync()?;
    let sweep = Sweep::begin(header).map_err(anyhow::Error::msg)?;
    let progress = Progress::of_sweep(outputs, &args.output, sweep.work());
    Ok(Begun {
        sweep,
        progress,
        power_command,
    })
}

/// Returns the host facts that all rows of a sweep share.
pub(in crate::commands) fn environment(
    request: &Request,
    findings: &[Finding],
    peer: Option<&Peer>,
) -> Environment {
    let board = &request.detected.board;
    let cpus: Vec<usize> = request.host.cpus.iter().map(|cpu| cpu.id).collect();
    let problems = findings.iter().filter_map(Finding::problem).cloned();
    let of_others = peer.map(|peer| drops_of_others(&peer.local_interfaces()));
    let of_others = of_others.into_iter().flatten().map(|unfit| (unfit, false));
    let of_others_there = peer
        .iter()
        .flat_map(|peer| peer.facts.drops_of_others.clone());
    let of_others = of_others.chain(of_others_there.map(|unfit| (unfit, true)));
    let of_others = of_others.map(|(unfit, is_remote)| Problem { unfit, is_remote });
    let all_there = peer.filter(|peer| peer.runs_all());
    Environment {
        board: board.name.clone(),
        host: request.host.clone(),
        cpu_speeds: all_there.map_or_else(
            || cpu_speed::of_all(&cpus),
            |peer| peer.facts.cpu_speeds.clone(),
        ),
        throttles_from_c: board.throttle.map(|throttle| throttle.from_c),
        unfit: problems.chain(of_others).collect(),
    }
}

/// Checks the hosts and returns the findings that may mislead about results.
pub(in crate::commands) fn findings(request: &Request, peer: Option<&Peer>) -> Vec<Finding> {
    if let Some(peer) = peer.filter(|peer| peer.runs_all()) {
        return peer.facts.findings.clone();
    }
    let settings = &request.schedule.settings;
    let (host, board) = (&request.host, &request.detected.board);
    let asked = request.plan.cases().map(|planned| planned.case.rcvbuf);
    let most = asked.max().unwrap_or(Buffer::DEFAULT);
    let interfaces = peer.map(Peer::local_interfaces).unwrap_or_default();
    let mut subject = Subject::new(host, board, most.into(), &settings.root);
    subject.interfaces = interfaces;
    let mut findings = subject.findings();
    let remote = peer.iter().flat_map(|peer| {
        let own = peer
            .facts
            .findings
            .iter()
            .filter(|it| it.problem().is_some());
        own.cloned().chain(peer.remote_findings())
    });
    findings.extend(remote.map(Finding::on_the_other_host));
    findings
}

fn introduce(request: &Request, outputs: &Outputs) {
    let machine = request.detected.machine(&request.host);
    let reason = &request.detected.reason;
    say(&format!("udpbench {VERSION} on {machine} ({reason})"));
    say(&summary(request));
    let seed = request.schedule.seed;
    say(&format!("seed {seed}; results in {}", outputs.shown));
    for advice in &request.advice {
        say(&format!("advice: {advice}"));
    }
    request
        .plan
        .warnings()
        .iter()
        .for_each(|warning| say(warning));
}

/// Prints the findings that would invalidate results, each with its fix.
pub(in crate::commands) fn warn(findings: &[Finding]) {
    for finding in findings.iter().filter(|it| it.problem().is_some()) {
        say(&format!("warning: {}", finding.seen));
        for line in finding.fix.lines() {
            say(&format!("   fix: {line}"));
        }
    }
}

/// Reads the log of a sweep and opens its files again.
pub(super) fn resume(
    args: &RunArgs,
    raw: &Path,
    peer: Option<&Peer>,
    interrupt: &Interrupt,
) -> anyhow::Result<Begun> {
    let mut log: Log = Log::open_to_resume(raw)?;
    let root = Root::new(&args.root);
    let settings = &mut log.header.schedule.settings;
    settings.root = root.clone();
    settings.request_time = peer.map_or(Duration::ZERO, |peer| peer.request_time);
    let (mut sweep, rows) = Sweep::replay(&log)?;
    let (unlike, unable) = options::again(&log.header, &root, peer)?;
    refuse_changes(args, raw, &unlike)?;
    let power_command = PowerCommand::of(&log.header.schedule.settings, interrupt)?;

    let file = (&log.header, log.end);
    let mut outputs = Outputs::resume(args, raw, file, &rows)?;
    if !args.output.quiet {
        let (name, planned) = (&log.name, log.header.schedule.windows(&log.header.plan));
        let windows = sweep.work().done;
        say(&format!(
            "resuming {name}: {windows} of {planned} windows are measured"
        ));
        say(&format!("results in {}", outputs.shown));
        for what in &unlike {
            say(&format!("warning: {what}"));
        }
    }
    if args.output.accept_changes {
        sweep.unable = unable;
    }
    session::resumed(&mut sweep, &mut outputs, unlike)?;
    let mut progress = Progress::of_sweep(outputs, &args.output, sweep.work());
    progress.rows = rows;
    Ok(Begun {
        sweep,
        progress,
        power_command,
    })
}

fn refuse_changes(args: &RunArgs, raw: &Path, unlike: &[String]) -> Result<(), UsageError> {
    if args.output.accept_changes || unlike.is_empty() {
        return Ok(());
    }
    let differences = unlike.join("; ");
    Err(UsageError::flag(
        "resume",
        &raw.display(),
        format!("{differences}; --accept-changes resumes anyway, and the rows say so"),
    ))
}
