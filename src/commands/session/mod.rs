//! What every experiment is measured with: its log and its rows, what people see meanwhile, and how it ends.

mod bar;
mod live;
pub(super) mod outputs;
pub(super) mod progress;
mod pulse;

use std::process::ExitCode;

use anyhow::anyhow;

use self::outputs::Outputs;
use self::progress::Progress;
use super::compare::{INCONCLUSIVE, WORSE};
use super::default_name::now;
use super::say;
use crate::results::log::Event;
use crate::session::{self, Ending, Experiment, Means};
use crate::sys::interrupt::Interrupt;
use crate::trial::agents::Agents;

/// How a command that measures ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All cases that could run have run.
    Done,
    /// Some have failed, or none could run.
    Failed,
    /// Something is slower, dearer or broken.
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

/// Writes down that an experiment goes on, with what is not as it was. Nothing is written to a log that is complete.
///
/// # Errors
/// When it cannot be kept.
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

/// Measures what is left of an experiment, and has `show` show what there is then, however it ended.
///
/// # Errors
/// What could not be kept or put back, each with how to go on once its cause is gone.
pub(super) fn measure<E: Experiment>(
    experiment: &mut E,
    mut means: Means,
    progress: &mut Progress,
    show: impl FnOnce(&E, &Progress, &mut [Agents]) -> anyhow::Result<()>,
) -> anyhow::Result<Ending> {
    let ran = session::run(experiment, &mut means, progress);
    progress.clear(matches!(ran, Ok(Ending::Complete)));
    let shown = show(experiment, progress, &mut means.agents);
    let finished = progress.outputs.finish();
    match (ran, shown.and(finished)) {
        (Ok(ending), Ok(())) => Ok(ending),
        (Ok(_), Err(error)) | (Err(error), Ok(())) => Err(broken_off(&progress.outputs, error)),
        (Err(first), Err(error)) => {
            say(&format!("error: {first:#}"));
            Err(broken_off(&progress.outputs, error))
        }
    }
}

/// Says how an experiment ended, and what there is `left` of it. `None`: it did not end by a signal.
///
/// # Errors
/// When it was the other host that ended it.
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
        Ending::OutOfTime => say("--max-time is over; what was measured is kept"),
        Ending::Interrupted => say(&format!("interrupted: {left}what was measured is kept")),
    }
    if let Some(how) = outputs.resume_command() {
        say(&how);
    }
    Ok((*ending == Ending::Interrupted).then(|| interrupted(interrupt)))
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

/// An error that ended it, with how to go on once its cause is gone.
fn broken_off(outputs: &Outputs, error: anyhow::Error) -> anyhow::Error {
    match outputs.resume_command() {
        Some(how) => anyhow!("{error:#}; {how}"),
        None => error,
    }
}
