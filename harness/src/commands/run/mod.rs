//! `udpbench` and `udpbench run`: the sweep.

mod against;
mod answer;
mod live;
mod outputs;
mod progress;
mod pulse;
mod resume;

use std::process::ExitCode;

use anyhow::anyhow;

use self::against::Base;
use self::outputs::Outputs;
use self::progress::Progress;
use super::compare::{INCONCLUSIVE, WORSE};
use super::default_name::clock_remark;
use super::other_host::OtherHost;
use super::plan::summary;
use super::{log_file, say, width};
use crate::VERSION;
use crate::cli::RunArgs;
use crate::data::Buffer;
use crate::export::selection::Selection;
use crate::export::table;
use crate::measure::agents::Agents;
use crate::measure::idle_counters;
use crate::measure::spawned::THIS_PROGRAM;
use crate::options::wire::{Peer, Share, Words};
use crate::options::{Request, command_line};
use crate::plan::Wire;
use crate::platform::check::{Finding, Gravity, Subject};
use crate::replay::Replay;
use crate::row::{Environment, Row, Status, milliseconds};
use crate::sweep::{self, Ending, Unable};
use crate::sys::cpu_speed;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// What trials run in: processes of this program, and the agent of another host if there is one.
pub(super) fn agents<'a>(
    other: Option<&'a mut OtherHost>,
    root: &'a Root,
    interrupt: &Interrupt,
) -> (Agents<'a>, Option<&'a Peer>) {
    let here = |far| Agents::new(THIS_PROGRAM.as_ref(), root, far, interrupt);
    let Some(other) = other else {
        return (here(None), None);
    };
    let agents = match other.peer.share {
        Share::OneEnd => here(Some(&mut other.agent)),
        Share::All => Agents::on(&mut other.agent),
    };
    (agents, Some(&other.peer))
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All cases that could run have run.
    Done,
    /// Some have failed, or none could run.
    Failed,
    /// Compared with `--against`, something is slower or broken.
    Worse,
    /// Compared with `--against`, nothing can be said.
    Inconclusive,
    /// By this signal.
    Interrupted(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::Failed => Self::FAILURE,
            Outcome::Worse => Self::from(WORSE),
            Outcome::Inconclusive => Self::from(INCONCLUSIVE),
            // As a shell says it of a program that a signal ended.
            Outcome::Interrupted(signal) => Self::from(128_u8.saturating_add(signal)),
        }
    }
}

/// Runs the sweep, or goes on with one.
///
/// # Errors
/// Bad input, an output that cannot be made or written, or standard output that is gone.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let interrupt = super::interrupt_on_signals()?;
    Ok(sweep(args, &interrupt)?.into())
}

/// Runs a sweep, or goes on with one, unless `interrupt` ends it.
///
/// # Errors
/// As for [`run`].
pub(super) fn sweep(args: &RunArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let request =
        |other: Option<&mut OtherHost>| Ok(Request::between(args, other.map(|other| &other.peer))?);
    let (board, is_quiet) = (&args.placement.board, args.output.quiet);
    match OtherHost::on(&args.link, board, is_quiet, interrupt) {
        Err(error) if error.is::<Interrupted>() => Ok(before_anything(interrupt)),
        other => sweep_of(args, interrupt, other?.as_mut(), request, table::draw),
    }
}

/// Runs the sweep that `request` asks for, or goes on with one, and shows the table that `draw` makes of all rows. `other`
/// is the other host, if it is across a wire.
///
/// # Errors
/// As for [`run`].
pub(super) fn sweep_of(
    args: &RunArgs,
    interrupt: &Interrupt,
    mut other: Option<&mut OtherHost>,
    request: impl FnOnce(Option<&mut OtherHost>) -> anyhow::Result<Request>,
    draw: fn(&[Row], u16) -> String,
) -> anyhow::Result<Outcome> {
    let base = args.output.against.as_deref();
    let base = base.map(Base::open).transpose()?;
    let begun = match &args.output.resume {
        Some(raw) => resume::resume(args, raw, other.as_ref().map(|other| &other.peer))?,
        None => match request(other.as_deref_mut()) {
            Err(error) if error.is::<Interrupted>() => {
                return Ok(before_anything(interrupt));
            }
            request => begin(
                args,
                request?,
                base.as_ref(),
                other.as_ref().map(|other| &other.peer),
            )?,
        },
    };
    let Begun {
        replay,
        unable,
        mut progress,
    } = begun;
    let header = replay.header();
    let (planned, until) = (header.plan.cases().count(), header.schedule.until);
    let words = header.command_line.clone();
    let root = header.schedule.settings.root.clone();
    let (agents, _) = agents(other, &root, interrupt);
    let ending = sweep::run(replay, &unable, agents, interrupt, &mut progress);
    if !matches!(ending, Ok(Ending::Complete)) {
        progress.show_warnings();
    }
    progress.finish(draw);
    // What there is goes out however the sweep ended, and why it ended is what is said.
    let finished = progress.outputs.finish();
    let ending = match (ending, finished) {
        (Ok(ending), Ok(())) => ending,
        (Err(error), Ok(())) | (Ok(_), Err(error)) => return Err(broken_off(&progress, error)),
        (Err(first), Err(error)) => {
            say(&format!("error: {first:#}"));
            return Err(broken_off(&progress, error));
        }
    };
    match ending {
        Ending::Interrupted => {
            let left = planned - progress.rows.len();
            let missing = match left {
                0 => "all cases have rows, of fewer rounds".to_owned(),
                _ => format!("{left} cases have no row"),
            };
            say(&format!(
                "interrupted: {missing}; what was measured is kept"
            ));
            if let Some(how) = progress.outputs.resume_command() {
                say(&how);
            }
            Ok(interrupted(interrupt))
        }
        Ending::Lost(reason) => Err(broken_off(
            &progress,
            anyhow!("the other host is gone: {reason}"),
        )),
        Ending::Complete => {
            let outcome = outcome(&progress.rows);
            let compared = match &base {
                Some(base) => base.compared(&words, &progress, outcome),
                None => Ok(outcome),
            };
            progress.present(&answer::of(until, &progress, width().into()));
            if args.output.quiet && !progress.outputs.to_stdout {
                say(&progress.outputs.shown);
            }
            compared
        }
    }
}

/// By the signal that came, before the first window.
pub(super) fn before_anything(interrupt: &Interrupt) -> Outcome {
    say("interrupted: nothing is measured yet");
    interrupted(interrupt)
}

/// By the signal that came.
pub(super) fn interrupted(interrupt: &Interrupt) -> Outcome {
    let signal = interrupt.signal().unwrap_or_default();
    Outcome::Interrupted(u8::try_from(signal).unwrap_or_default())
}

/// An error that ended the sweep, with how to go on once its cause is gone.
fn broken_off(progress: &Progress, error: anyhow::Error) -> anyhow::Error {
    match progress.outputs.resume_command() {
        Some(how) => anyhow!("{error:#}; {how}"),
        None => error,
    }
}

/// A sweep, and where its news go.
struct Begun {
    replay: Replay,
    unable: Unable,
    progress: Progress,
}

fn begin(
    args: &RunArgs,
    request: Request,
    base: Option<&Base>,
    peer: Option<&Peer>,
) -> anyhow::Result<Begun> {
    let started_at = log_file::now();
    if let Some(remark) = clock_remark(&started_at) {
        say(&remark);
    }
    let findings = findings(&request, peer);
    let environment = environment(&request, &findings, peer);
    if let Some(base) = base {
        base.announce(&request.plan, &command_line(args))?;
    }
    let board = &request.detected.board.name;
    let selection = Selection::of_plan(args.output.columns, &request.plan, &request.schedule);
    let mut outputs = Outputs::create(args, board, &started_at, &selection)?;
    outputs.words = peer.map_or_else(Words::default, |peer| peer.words.clone());
    if !args.output.quiet {
        introduce(&request, &outputs);
    }
    warn(&findings);
    let header = request.header(args, &started_at, environment);
    let mut progress = Progress::new(outputs, &args.output, &header, 0);
    if let Err(error) = progress.outputs.first(&header) {
        // Nothing was measured: leave no files behind that cannot be resumed.
        progress.outputs.remove();
        return Err(error);
    }
    // Against a power cut: the plan, from which all else follows.
    progress.outputs.sync()?;
    Ok(Begun {
        replay: Replay::new(header),
        unable: Unable::new(),
        progress,
    })
}

fn outcome(rows: &[Row]) -> Outcome {
    let failed = rows
        .iter()
        .filter(|row| row.status == Status::Failed)
        .count();
    if failed > 0 {
        say(&format!(
            "{failed} of {} cases failed: see the column `reason`",
            rows.len()
        ));
        Outcome::Failed
    } else if rows.iter().all(|row| row.status == Status::Skipped) {
        say("nothing could run: see the column `reason`");
        Outcome::Failed
    } else {
        Outcome::Done
    }
}

/// The circumstances that the rows of a sweep share.
pub(super) fn environment(
    request: &Request,
    findings: &[Finding],
    peer: Option<&Peer>,
) -> Environment {
    let board = &request.detected.board;
    let cpus: Vec<usize> = request.host.cpus.iter().map(|cpu| cpu.id).collect();
    let is_invalid = |finding: &&Finding| finding.gravity == Gravity::Invalid;
    let unfit = findings.iter().filter(is_invalid);
    let unfit = unfit.map(|finding| finding.seen.clone());
    let of_others = peer.map(|peer| idle_counters::drops_of_others(&peer.interfaces_here()));
    let unfit = unfit.chain(of_others.into_iter().flatten());
    let of_others_there = peer.iter().flat_map(|peer| &peer.drops_of_others);
    let of_others_there = of_others_there.map(|seen| format!("on the other host: {seen}"));
    let across = peer.and_then(Peer::across_wire);
    let all_there = peer.filter(|peer| peer.share == Share::All);
    Environment {
        board: board.name.clone(),
        warmup_ms: milliseconds(request.schedule.settings.warmup),
        seed: request.schedule.seed,
        version: VERSION.to_owned(),
        paces: all_there.map_or_else(|| cpu_speed::of_all(&cpus), |peer| peer.paces.clone()),
        throttles_from_c: board.throttle.map(|throttle| throttle.from_c),
        unfit: unfit.chain(of_others_there).collect(),
        there: across.map(Wire::told).unwrap_or_default(),
        ..Environment::of(&request.host)
    }
}

/// What about this host may mislead.
pub(super) fn findings(request: &Request, peer: Option<&Peer>) -> Vec<Finding> {
    if let Some(peer) = peer.filter(|peer| peer.share == Share::All) {
        return peer.findings.clone();
    }
    let settings = &request.schedule.settings;
    let (host, board) = (&request.host, &request.detected.board);
    let asked = request.plan.cases().map(|planned| planned.case.rcvbuf);
    let most = asked.max().unwrap_or(Buffer::DEFAULT);
    let interfaces = peer.map(Peer::interfaces_here).unwrap_or_default();
    let subject = Subject::new(host, board, most.into(), &settings.root);
    let mut findings = subject.with_interfaces(interfaces).findings();
    let there = peer.iter().flat_map(|peer| {
        let own = peer
            .findings
            .iter()
            .filter(|it| it.gravity == Gravity::Invalid);
        own.cloned().chain(peer.findings_there())
    });
    findings.extend(there.map(|finding| Finding {
        seen: format!("on the other host: {}", finding.seen),
        ..finding
    }));
    findings
}

fn introduce(request: &Request, outputs: &Outputs) {
    let machine = request.detected.machine(&request.host);
    let because = &request.detected.because;
    say(&format!("udpbench {VERSION} on {machine} ({because})"));
    say(&summary(request));
    let seed = request.schedule.seed;
    say(&format!("seed {seed}; results in {}", outputs.shown));
    if let Some(advice) = &request.advice {
        say(&format!("advice: {advice}"));
    }
}

/// Says what would invalidate what is measured here, and the fix.
pub(super) fn warn(findings: &[Finding]) {
    let is_invalid = |finding: &&Finding| finding.gravity == Gravity::Invalid;
    for finding in findings.iter().filter(is_invalid) {
        say(&format!("warning: {}", finding.seen));
        for line in finding.fix.lines() {
            say(&format!("   fix: {line}"));
        }
    }
}
