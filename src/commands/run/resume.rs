//! `--resume`: continues an interrupted sweep.

use std::path::Path;
use std::time::Duration;

use super::Begun;
use super::against;
use crate::cli::RunArgs;
use crate::cli::options::{self, Again};
use crate::cli::peer::{Peer, Words};
use crate::commands::say;
use crate::commands::session;
use crate::commands::session::outputs::Outputs;
use crate::commands::session::progress::Progress;
use crate::error::UsageError;
use crate::experiment::sweep::Sweep;
use crate::results::log::{Header, Log};
use crate::session::{Experiment, Logged};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::term::shell;
use crate::trial::power_command::PowerCommand;

/// Reads the log of a sweep and opens its files again.
pub(super) fn resume(
    args: &RunArgs,
    raw: &Path,
    peer: Option<&Peer>,
    interrupt: &Interrupt,
) -> anyhow::Result<Begun> {
    let mut log: Log = Log::open_to_resume(raw)?;
    refuse_other_hosts(raw, &log.header, peer)?;
    let root = Root::new(&args.root);
    log.header.schedule.settings.root = root.clone();
    log.header.schedule.settings.request_time =
        peer.map_or(Duration::ZERO, |peer| peer.request_time);
    let (mut sweep, rows) = Sweep::replay(&log)?;
    let Again { unlike, unable } = options::again(&log.header, &root, peer)?;
    refuse_changes(args, raw, &unlike)?;
    let power_command = PowerCommand::of(&log.header.schedule.settings, interrupt)?;

    let file = (&log.header, log.end);
    let mut outputs = Outputs::resume(args, raw, file, &rows, &sweep.rest())?;
    outputs.words = peer.map_or_else(Words::default, |peer| peer.words.clone());
    outputs.against = against::words(&args.output);
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
    let mut progress = Progress::of_sweep(outputs, &args.output, sweep.header(), sweep.work());
    progress.rows = rows;
    Ok(Begun {
        sweep,
        progress,
        power_command,
    })
}

/// Returns an error if the log is of a sweep across a wire and this run is not, or the reverse.
fn refuse_other_hosts(raw: &Path, header: &Header, peer: Option<&Peer>) -> Result<(), UsageError> {
    let fix = match (&header.wire, peer.and_then(Peer::across_wire)) {
        (Some(wire), None) => format!(
            "it is of a sweep across a wire: use udpbench {} --resume {}",
            wire.words(),
            shell::path(raw)
        ),
        (None, Some(_)) => "it is of a sweep on one host: leave out wire".to_owned(),
        _ => return Ok(()),
    };
    Err(UsageError::flag("--resume", &raw.display(), fix))
}

fn refuse_changes(args: &RunArgs, raw: &Path, unlike: &[String]) -> Result<(), UsageError> {
    /// Differences that the message lists. Nobody would read more.
    const SHOWN: usize = 3;
    if args.output.accept_changes || unlike.is_empty() {
        return Ok(());
    }
    let mut differences = unlike.to_vec();
    if unlike.len() > SHOWN {
        differences.truncate(SHOWN);
        differences.push(format!("and {} more differences", unlike.len() - SHOWN));
    }
    let differences = differences.join("; ");
    Err(UsageError::flag(
        "--resume",
        &raw.display(),
        format!("{differences}; --accept-changes resumes anyway, and the rows say so"),
    ))
}
