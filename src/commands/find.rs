//! `udpbench find`: searches for a threshold, such as the highest rate without loss, or hands over to `tuning`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::plan::searches_text;
use super::remote_host::RemoteHost;
use super::session::outputs::Outputs;
use super::session::progress::Progress;
use super::session::{self, Outcome};
use super::{measuring, run, show_answers, tuning};
use crate::cli::options::{self, without_effect};
use crate::cli::peer::Peer;
use crate::cli::{FindArgs, FindCommand, FindCommonArgs};
use crate::experiment::find::header::FindHeader;
use crate::experiment::find::{Record, rows, table};
use crate::log::name::now;
use crate::results::export::Conclusion;
use crate::results::log::Log;
use crate::session::{Ending, Experiment, Logged, Resources};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::term::output::{say, width};
use crate::text::duration;
use crate::trial::agents::Agents;

/// Runs the search on this host, or on the host of `--on`.
///
/// # Errors
/// Fails on bad input, or if the log cannot be written.
pub fn run(args: &FindArgs) -> anyhow::Result<ExitCode> {
    let common = args.what.common();
    let (output, board) = (&common.output, &common.placement.board);
    let (parameters, is_quiet) = (&common.parameters, output.quiet);
    measuring(|interrupt| {
        let remote = RemoteHost::connect(&output.remote, parameters, board, is_quiet, interrupt);
        let mut remote = remote?;
        search_on(&args.what, interrupt, remote.as_mut())
    })
}

/// Runs the search, with a remote host if there is one.
///
/// # Errors
/// Fails on bad input, or if the log cannot be written.
pub(super) fn search_on(
    what: &FindCommand,
    interrupt: &Interrupt,
    remote: Option<&mut RemoteHost>,
) -> anyhow::Result<Outcome> {
    if let FindCommand::Tuning(args) = what {
        return tuning::try_settings(args, interrupt, remote);
    }
    let common = what.common();
    let output = &common.output;
    let shape = output.form.shape()?;
    let root = Root::new(&output.root);
    let (mut agents, peer) = run::agents(remote, &root, interrupt);
    let (mut record, outputs) = if let Some(path) = &output.resume {
        resume(path, common, peer)?
    } else {
        let started_at = now();
        let mut header = options::find::header(what, peer, &started_at)?;
        if let FindCommand::Burst(_) = what {
            let payloads = header.plan.cases().map(|planned| planned.case.payload);
            header.truesizes = agents.truesizes(payloads.map(u32::from).collect());
        }
        let name = (&*header.environment.board, &*started_at, "find");
        let outputs = Outputs::log_of(output.output.as_deref(), name, &header)?;
        (Record::new(header), outputs)
    };
    if !output.quiet {
        if !record.is_complete() {
            run::warn(agents.other_programs().as_slice());
        }
        if output.resume.is_none() {
            introduce(what, &record);
        }
        say(&format!("log: {}", outputs.shown));
    }
    let mut progress = Progress::new(outputs, output.quiet, record.work());
    let resources = Resources {
        agents: vec![agents.for_plans(&[&record.header.plan])],
        command: &|_, _| Ok(()),
        power_command: None,
        interrupt,
    };
    let show = |record: &Record, _: &Progress, _: &mut [Agents]| {
        let table = || table::answers(record).draw(width());
        show_answers(shape, &Conclusion::default(), table, || rows::rows(record))
    };
    let ending = session::measure(&mut record, resources, &mut progress, show)?;
    let outputs = &mut progress.outputs;
    // That of the log is shorter than what was typed to go on.
    let typed = common.max_case_time.filter(|_| output.resume.is_some());
    let time = match ending {
        Ending::OutOfTime => Some(record.header.enough_time()),
        _ => typed,
    };
    if let Some(time) = time {
        outputs.changes = format!(" --max-case-time {}", duration::text(time));
    }
    let outcome = session::ended(&ending, "", outputs, interrupt)?;
    let found = if record.has_failed() {
        Outcome::Failed
    } else if record.is_complete() {
        Outcome::Done
    } else {
        Outcome::Inconclusive
    };
    Ok(outcome.unwrap_or(found))
}

/// Says what is searched, how long that takes, and what may be wrong with it.
fn introduce(what: &FindCommand, record: &Record) {
    say(&searches_text(record));
    let plan = &record.header.plan;
    for advice in without_effect::of(&what.common().parameters, plan) {
        say(&format!("advice: {advice}"));
    }
    plan.warnings().iter().for_each(|warning| say(warning));
    if let Some(more) = options::find::how_to_search_more(what) {
        say(more);
    }
}

fn resume(
    path: &Path,
    common: &FindCommonArgs,
    peer: Option<&Peer>,
) -> anyhow::Result<(Record, Outputs)> {
    let mut log = Log::<FindHeader>::open_to_resume(path)?;
    log.header.settings.root = Root::new(&common.output.root);
    log.header.max_time = common.max_case_time.unwrap_or(log.header.max_time);
    log.header.settings.request_time = peer.map_or(Duration::ZERO, |peer| peer.request_time);
    let mut record = Record::of(&log)?;
    let added = record.header.plan.add_programs();
    added.map_err(anyhow::Error::msg)?;
    let mut outputs = Outputs::resume_log(path, log.end)?;
    session::resumed(&mut record, &mut outputs, Vec::new())?;
    Ok((record, outputs))
}
