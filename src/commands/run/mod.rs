//! `udpbench` and `udpbench run`: runs a sweep.

mod against;
mod begin;
mod closing_lines;
mod next;

use std::process::ExitCode;

use self::against::Base;
use self::begin::{Begun, begin, resume};
use super::measuring;
use super::remote_host::RemoteHost;
use super::session::progress::Progress;
use super::session::{self, Outcome};
use crate::cli::RunArgs;
use crate::cli::options::Request;
use crate::cli::peer::Peer;
use crate::experiment::sweep::Sweep;
use crate::results::export::is_stdout;
use crate::results::row::{Row, Status};
use crate::session::{Ending, Logged, Resources};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::term::output::{say, width};
use crate::text::digits::counted;
use crate::trial::agents::Agents;
use crate::trial::spawned::THIS_PROGRAM;
use crate::verdict::judge::Criterion;

pub(super) use self::begin::warn;

/// Returns the agents that run the trials: processes of this program, the remote host's agent, or both.
pub(super) fn agents<'a>(
    other: Option<&'a mut RemoteHost>,
    root: &'a Root,
    interrupt: &Interrupt,
) -> (Agents<'a>, Option<&'a Peer>) {
    let local = |remote| Agents::new(THIS_PROGRAM.as_ref(), root, remote, interrupt);
    let Some(other) = other else {
        return (local(None), None);
    };
    let agents = if other.peer.runs_all() {
        Agents::on(&mut other.agent)
    } else {
        local(Some(&mut other.agent))
    };
    (agents, Some(&other.peer))
}

/// Runs or resumes a sweep, on this host or with a remote one.
///
/// # Errors
/// Fails on bad input, if an output file cannot be created or written, or if standard output cannot be written.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    measuring(|interrupt| {
        let request = |other: Option<&mut RemoteHost>| {
            Ok(Request::new(args, other.map(|other| &other.peer))?)
        };
        let mut other = RemoteHost::of_sweep(args, interrupt)?;
        sweep(args, interrupt, other.as_mut(), request)
    })
}

/// Runs the sweep that `request` returns, or resumes the one of a log, and shows the table of all rows. `other` is the
/// remote host, if there is one.
///
/// # Errors
/// Fails as [`run`] does.
pub(super) fn sweep(
    args: &RunArgs,
    interrupt: &Interrupt,
    mut other: Option<&mut RemoteHost>,
    request: impl Fn(Option<&mut RemoteHost>) -> anyhow::Result<Request>,
) -> anyhow::Result<Outcome> {
    let base = args.output.against.as_deref();
    let question = Criterion {
        threshold: args.output.threshold.unwrap_or_default(),
        ..Criterion::default()
    };
    let mut base = base.map(|name| Base::open(name, question)).transpose()?;
    let mut args = args.clone();
    if args.output.baseline.is_some() && args.output.resume.is_none() && !args.output.quiet {
        say("a baseline is measured twice: two runs show by how much runs differ");
    }
    let mut saved = Vec::new();
    let mut failed = false;
    loop {
        let begun = if let Some(raw) = &args.output.resume {
            let peer = other.as_ref().map(|other| &other.peer);
            resume(&args, raw, peer, interrupt)?
        } else {
            let request = request(other.as_deref_mut())?;
            let base = base.as_ref().filter(|_| saved.is_empty());
            let peer = other.as_ref().map(|other| &other.peer);
            begin(&args, request, base, peer, interrupt)?
        };
        let header = begun.sweep.header().clone();
        let (ending, progress) = match pass(begun, interrupt, other.as_deref_mut())? {
            Ok(measured) => measured,
            Err(outcome) => return Ok(outcome),
        };
        // A baseline has two passes, and `--against` a second one if the first cannot tell.
        let can_go_on = saved.is_empty()
            && ending == Ending::Complete
            && args.output.resume.is_none()
            && !progress.outputs.to_stdout;
        saved.push(progress.outputs.shown.clone());
        let is_unsure = base
            .as_mut()
            .is_some_and(|base| base.take(&progress, can_go_on));
        if can_go_on && (is_unsure || args.output.baseline.is_some()) {
            failed |= outcome(&progress.rows) == Outcome::Failed;
            if !is_unsure {
                say("second pass of the baseline");
            }
            args.output.name_second_pass();
            continue;
        }
        let outcome = match outcome(&progress.rows) {
            Outcome::Done if failed => Outcome::Failed,
            outcome => outcome,
        };
        let compared = match &base {
            Some(base) => base.compared(&progress, args.output.accept.is_some(), outcome),
            None => Ok(outcome),
        };
        let is_clear = base.as_ref().map(Base::is_clear);
        let form = (args.output.explain, width());
        let closing = closing_lines::of(is_clear, &header, (&progress, &saved), form);
        progress.present(&closing);
        if args.output.quiet && !args.output.output.as_deref().is_some_and(is_stdout) {
            for shown in &saved {
                say(shown);
            }
        }
        return compared;
    }
}

/// Measures a sweep that has begun, or the rest of it. Returns how it ended, or the outcome if a signal ended it.
fn pass(
    begun: Begun,
    interrupt: &Interrupt,
    other: Option<&mut RemoteHost>,
) -> anyhow::Result<Result<(Ending, Progress), Outcome>> {
    let Begun {
        mut sweep,
        mut progress,
        power_command,
    } = begun;
    let header = sweep.header().clone();
    let root = &header.schedule.settings.root;
    let resources = Resources {
        agents: vec![agents(other, root, interrupt).0.for_plans(&[&header.plan])],
        command: &|_, _| Ok(()),
        power_command: power_command.as_ref(),
        interrupt,
    };
    let show = |_: &Sweep, progress: &Progress, _: &mut [Agents]| {
        progress.show_rows();
        Ok(())
    };
    let ending = session::measure(&mut sweep, resources, &mut progress, show)?;
    let left = header.plan.cases().count() - progress.rows.len();
    let left = match left {
        0 => "all cases have rows, of fewer rounds; ".to_owned(),
        left => format!("{} without a row; ", counted(left, "case")),
    };
    let ended = session::ended(&ending, &left, &progress.outputs, interrupt)?;
    Ok(ended.map_or(Ok((ending, progress)), Err))
}

fn outcome(rows: &[Row]) -> Outcome {
    let failed = rows.iter().filter(|row| row.status == Status::Failed);
    match failed.count() {
        0 if rows.iter().any(|row| row.status != Status::Skipped) => return Outcome::Done,
        0 => say("nothing could run"),
        failed => say(&format!("{failed} of {} cases failed", rows.len())),
    }
    Outcome::Failed
}
