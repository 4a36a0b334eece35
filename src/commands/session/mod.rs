//! The course of a measuring command: runs an experiment, keeps its log and rows, shows progress and reports how it
//! ended.

pub(super) mod outputs;
pub(super) mod progress;

use std::process::ExitCode;

use anyhow::anyhow;

use self::outputs::Outputs;
use self::progress::Progress;
use crate::log::name::now;
use crate::results::log::Event;
use crate::session::{self, Ending, Experiment, Resources};
use crate::sys::interrupt::Interrupt;
use crate::term::output::say;
use crate::trial::agents::Agents;

/// Outcome of a measuring command, which becomes its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Success: all runnable cases have run.
    Done,
    /// Some cases have failed, or none could run.
    Failed,
    /// Something is slower, costs more CPU time or is broken.
    Worse,
    /// It could not be told: nothing is surely worse, but some engine may be, or a search was not finished.
    Inconclusive,
    /// A signal ended it. The number is the exit code.
    Interrupted(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::Failed => Self::FAILURE,
            Outcome::Worse => Self::from(3),
            Outcome::Inconclusive => Self::from(4),
            Outcome::Interrupted(code) => Self::from(code),
        }
    }
}

/// Logs that an experiment is resumed, with the differences to its start. Writes nothing to the log of a complete
/// experiment.
///
/// # Errors
/// Fails if the log cannot be written.
pub(super) fn resumed(
    experiment: &mut impl Experiment,
    outputs: &mut Outputs,
    unlike: Vec<String>,
) -> anyhow::Result<()> {
    if experiment.is_complete() {
        return Ok(());
    }
    let resumed = Event::Resumed { at: now(), unlike };
    outputs.event(&resumed)?;
    experiment.take(&resumed).map_err(anyhow::Error::msg)?;
    Ok(())
}

/// Runs the rest of an experiment. Then calls `show`, however the experiment ended.
///
/// # Errors
/// Fails if results cannot be written or settings cannot be restored. The error says how to resume.
pub(super) fn measure<E: Experiment>(
    experiment: &mut E,
    mut resources: Resources,
    progress: &mut Progress,
    show: impl FnOnce(&E, &Progress, &mut [Agents]) -> anyhow::Result<()>,
) -> anyhow::Result<Ending> {
    let ran = session::run(experiment, &mut resources, progress);
    progress.clear(matches!(ran, Ok(Ending::Complete)));
    let shown = show(experiment, progress, &mut resources.agents);
    let finished = progress.outputs.finish();
    match (ran, shown.and(finished)) {
        (Ok(ending), Ok(())) => Ok(ending),
        (Ok(_), Err(error)) | (Err(error), Ok(())) => Err(broken_off(&progress.outputs, error)),
        (Err(first), Err(error)) => {
            format!("error: {first:#}").lines().for_each(say);
            Err(broken_off(&progress.outputs, error))
        }
    }
}

/// Prints how an experiment ended and what is `left` of it. Returns the outcome if a signal ended it, else `None`.
///
/// # Errors
/// Fails if the remote host was lost.
pub(super) fn ended(
    ending: &Ending,
    left: &str,
    outputs: &Outputs,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Outcome>> {
    match ending {
        Ending::Complete => return Ok(None),
        Ending::Lost(reason) => {
            let error = anyhow!("the other host is gone: {reason}");
            return Err(broken_off(outputs, error));
        }
        Ending::OutOfTime => say("the time limit is over; what was measured is kept"),
        Ending::Interrupted => say(&format!("interrupted: {left}what was measured is kept")),
    }
    if let Some(how) = outputs.resume_command() {
        say(&how);
    }
    Ok((*ending == Ending::Interrupted).then(|| interrupted(interrupt)))
}

/// Returns the outcome of the signal that arrived.
pub(super) fn interrupted(interrupt: &Interrupt) -> Outcome {
    Outcome::Interrupted(interrupt.exit_code())
}

/// Adds the resume command to an error that ended an experiment.
fn broken_off(outputs: &Outputs, error: anyhow::Error) -> anyhow::Error {
    match outputs.resume_command() {
        Some(how) => anyhow!("{error:#}\n{how}"),
        None => error,
    }
}
