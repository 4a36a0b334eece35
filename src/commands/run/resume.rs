//! `resume`: continues an interrupted sweep.

use std::path::Path;
use std::time::Duration;

use super::Begun;
use crate::cli::RunArgs;
use crate::cli::options::{self, Again};
use crate::cli::peer::{Peer, Words};
use crate::commands::say;
use crate::commands::session;
use crate::commands::session::outputs::Outputs;
use crate::commands::session::progress::Progress;
use crate::error::UsageError;
use crate::experiment::sweep::Sweep;
use crate::results::log::Log;
use crate::session::{Experiment, Logged};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::trial::power_command::PowerCommand;

/// Reads the log of a sweep and opens its files again.
pub(super) fn resume(
    args: &RunArgs,
    raw: &Path,
    peer: Option<&Peer>,
    interrupt: &Interrupt,
) -> anyhow::Result<Begun> {
    let mut log: Log = Log::open_to_resume(raw)?;
    let root = Root::new(&args.root);
    log.header.schedule.settings.root = root.clone();
    log.header.schedule.settings.request_time =
        peer.map_or(Duration::ZERO, |peer| peer.request_time);
    let (mut sweep, rows) = Sweep::replay(&log)?;
    let Again { unlike, unable } = options::again(&log.header, &root, peer)?;
    refuse_changes(args, raw, &unlike)?;
    let power_command = PowerCommand::of(&log.header.schedule.settings, interrupt)?;

    let file = (&log.header, log.end);
    let mut outputs = Outputs::resume(args, raw, file, &rows)?;
    outputs.words = peer.map_or_else(Words::default, |peer| peer.words.clone());
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
        "resume",
        &raw.display(),
        format!("{differences}; --accept-changes resumes anyway, and the rows say so"),
    ))
}
