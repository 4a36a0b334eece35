//! The measuring loop, and the interfaces to its surroundings: [`Journal`] and [`Resources`].

use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

use super::{Experiment, Step, Trial, Work};
use crate::data::Sample;
use crate::host::tuning::{NotChanged, Tuning};
use crate::results::log::{Event, Side, Window};
use crate::results::row::{Failure, Row};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::trial::agent::NoAnswer;
use crate::trial::agents::Agents;
use crate::trial::power_command::PowerCommand;

/// Receiver of progress, events and rows. An error that it returns ends the session.
pub trait Journal {
    /// Shows the step that begins in the progress display.
    fn show_step(&mut self, what: &str);
    /// Shows the reason of a wait, also where there is no progress display.
    fn show_wait(&mut self, what: &str);
    /// Stores an event, with the progress of the experiment by now.
    ///
    /// # Errors
    /// Fails if the event cannot be stored.
    fn record_event(&mut self, event: &Event, work: Work) -> anyhow::Result<()>;
    /// Stores rows that are final.
    ///
    /// # Errors
    /// Fails if the rows cannot be stored.
    fn record_rows(&mut self, rows: Vec<Row>) -> anyhow::Result<()>;
    /// Makes sure that the events so far survive a power cut. Called at the end of a round.
    ///
    /// # Errors
    /// Fails if the events cannot be stored.
    fn sync(&mut self) -> anyhow::Result<()>;
}

/// Agents, command runner and interrupt of a session.
pub struct Resources<'a> {
    /// Agents that run the trials; in an A/B comparison, those of A and those of B.
    pub agents: Vec<Agents<'a>>,
    /// Runs the command of a side.
    pub command: &'a dyn Fn(Side, &str) -> anyhow::Result<()>,
    /// Program that meters the power. `None`: a sensor of the host where trials run does, if there is one.
    pub power_command: Option<&'a PowerCommand>,
    /// Ends the session when it is triggered.
    pub interrupt: &'a Interrupt,
}

/// Reason why a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left to do.
    Complete,
    /// The time is used up.
    OutOfTime,
    /// A signal interrupted the session.
    Interrupted,
    /// The remote host does not answer any more, with the reason.
    Lost(String),
}

/// Runs the steps of `experiment` until none is left, or until the session is interrupted or loses the remote host. A
/// case that fails is a result, not an error.
///
/// # Errors
/// Fails if `journal` fails, if a command fails, or if a setting cannot be put back.
pub fn run(
    experiment: &mut dyn Experiment,
    resources: &mut Resources,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let mut session = Session {
        experiment,
        resources,
        told_no_power: false,
        journal,
    };
    let ending = match session.run_steps() {
        Ok(()) if session.experiment.is_complete() => Ending::Complete,
        Ok(()) => Ending::OutOfTime,
        Err(error) => {
            let is_lost = !error.is::<Interrupted>();
            let lost = is_lost
                .then(|| error.downcast::<RemoteLost>())
                .transpose()?;
            let lost = lost.map(|RemoteLost(reason)| reason);
            session.emit(&Event::Interrupted { lost: lost.clone() })?;
            lost.map_or(Ending::Interrupted, Ending::Lost)
        }
    };
    // People look for rows that were measured in full. The rest comes last.
    session.journal.record_rows(session.experiment.rest())?;
    Ok(ending)
}

/// Maximum number of runs of a trial that other programs disturb.
const MOST_TIMES: u32 = 3;
/// Number of faults after which a trial is not repeated any more.
const MOST_FAULTY: u32 = 2;

/// Reason to repeat a trial that has no fault.
const OTHER_PROGRAMS: &str = "lost while other programs took the CPUs of its threads";

/// Error: the remote host does not answer any more, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct RemoteLost(String);

/// Sample of a trial, or the reason why there is none.
type Measured = anyhow::Result<Sample>;

pub(super) struct Session<'a, 'm> {
    experiment: &'a mut dyn Experiment,
    pub(super) resources: &'a mut Resources<'m>,
    /// True once it was told that the power command has ended.
    told_no_power: bool,
    pub(super) journal: &'a mut dyn Journal,
}

impl<'m> Session<'_, 'm> {
    fn run_steps(&mut self) -> anyhow::Result<()> {
        while let Some(step) = self.experiment.next(Instant::now()) {
            match step {
                Step::Restart => {
                    self.journal.sync()?;
                    self.resources.agents.iter_mut().for_each(Agents::restart);
                }
                Step::IdlePower(length) => self.measure_idle_power(length)?,
                Step::Heat(heat) => self.heat(&heat)?,
                Step::Begin(begin) => self.begin(&begin)?,
                Step::Prepare { side, command } => {
                    self.journal.show_step(&format!("{side}: {command}"));
                    let done = (self.resources.command)(side, &command);
                    // Ctrl-C also goes to the command. An interrupted command has not failed.
                    self.resources.interrupt.sleep(Duration::ZERO)?;
                    done?;
                }
                Step::Wait { until, told } => {
                    self.journal.show_step(&told);
                    let left = until.saturating_duration_since(Instant::now());
                    self.resources.interrupt.sleep(left)?;
                }
                Step::Trial(trial) => self.run_trial(&trial)?,
                Step::Note(event) => self.emit(&event)?,
            }
        }
        Ok(())
    }

    /// Runs a trial, repeats it if it has a fault or was disturbed, and logs the outcome.
    fn run_trial(&mut self, trial: &Trial) -> anyhow::Result<()> {
        self.journal.show_step(&trial.told);
        let (mut times, mut faults) = (0, u32::from(trial.is_repeated));
        loop {
            if times > 0 || trial.is_alone {
                // A fresh process leaves the problem of the old one behind.
                self.agents_of(trial).restart();
            }
            let measured = self.measure(trial)?;
            let fault = self.fault(trial, &measured);
            times += 1;
            faults += u32::from(fault.is_some());
            let is_disturbed = fault.is_none()
                && measured.as_ref().is_ok_and(|sample| {
                    let experiment = &self.experiment;
                    experiment.lost_while_disturbed(trial, sample, Instant::now())
                });
            let may_go_on = times < MOST_TIMES;
            let reason = match &fault {
                Some(fault) if may_go_on && faults < MOST_FAULTY => fault,
                None if may_go_on && is_disturbed => OTHER_PROGRAMS,
                _ => return self.log_outcome(trial, measured, fault),
            };
            self.log_repetition(trial, reason.to_owned(), is_disturbed, measured)?;
        }
    }

    /// Logs that a trial is repeated. A repeated verification is not logged, as it belongs to no round.
    fn log_repetition(
        &mut self,
        trial: &Trial,
        reason: String,
        is_disturbed: bool,
        measured: Measured,
    ) -> anyhow::Result<()> {
        if !is_disturbed {
            // Ctrl-C that ended the program that carries an agent's messages is no reason to measure again.
            let interrupt = self.resources.interrupt;
            self.agents_of(trial).remote_is_lost(interrupt)?;
        }
        self.journal
            .show_step(&format!("measured again: {} ({reason})", trial.told));
        if trial.spec.verifies {
            return Ok(());
        }
        self.emit(&Event::Repeated {
            of: trial.of.clone(),
            round: trial.round,
            reason,
            is_disturbed,
            sample: measured.ok().map(Box::new),
        })
    }

    /// Logs the outcome of a trial.
    fn log_outcome(
        &mut self,
        trial: &Trial,
        measured: Measured,
        fault: Option<String>,
    ) -> anyhow::Result<()> {
        let sample = match (measured, fault) {
            (Err(error), _) if error.is::<Interrupted>() => return Err(error),
            (Err(error), _) => return self.fail(trial, failure(&error)),
            (Ok(_), Some(fault)) if !self.experiment.keeps_faulty() => {
                return self.fail(trial, Failure::told(fault));
            }
            (Ok(sample), _) => sample,
        };
        let event = if trial.spec.verifies {
            Event::Verified(Box::new(sample))
        } else {
            Event::Window(Box::new(Window {
                searched: Some(trial.of.case.clone()).filter(|case| *case != sample.case),
                side: trial.of.side,
                tuning: trial.of.tuning,
                sample,
            }))
        };
        self.emit(&event)
    }

    /// Logs that a trial failed. In a comparison, the log also names the programs that may be the reason.
    ///
    /// # Errors
    /// Returns an error if the cause is not the case: the remote host is gone. A trial that changes a setting is
    /// exempt: the setting may disconnect the host for a while, and the next trial shows if it comes back.
    fn fail(&mut self, trial: &Trial, reason: Failure) -> anyhow::Result<()> {
        let interrupt = self.resources.interrupt;
        let may_be_lost = trial.tuning.is_none();
        if may_be_lost && self.agents_of(trial).remote_is_lost(interrupt)? {
            bail!(RemoteLost(reason.to_string()));
        }
        let is_of_comparison = trial.of.side.is_some();
        let other_programs = is_of_comparison.then(|| self.agents_of(trial).other_programs());
        self.emit(&Event::Failed {
            of: trial.of.clone(),
            round: trial.round,
            reason,
            other_programs: other_programs
                .flatten()
                .map(|finding| finding.seen.to_string()),
        })
    }

    /// Runs a trial once, with its setting if it changes one.
    ///
    /// # Errors
    /// See [`Self::run_with_setting`].
    fn measure(&mut self, trial: &Trial) -> anyhow::Result<Measured> {
        let measured = match &trial.tuning {
            None => self.run_once(trial),
            Some(tuning) => self.run_with_setting(trial, tuning)?,
        };
        let ended = self.resources.power_command.and_then(PowerCommand::ended);
        // The rows say how many windows lack the power.
        if let Some(why) = ended.filter(|_| !self.told_no_power) {
            self.told_no_power = true;
            self.journal
                .show_wait(&format!("warning: no power from now on: {why}"));
        }
        let power_uw = |sample: &Sample| match self.resources.power_command {
            Some(meter) => {
                let window = Duration::from_nanos(sample.window_ns);
                meter.mean_uw(sample.opened_unix_ms, window)
            }
            None => sample.power_uw,
        };
        Ok(measured.map(|sample| Sample {
            round: trial.round,
            position: trial.position,
            power_uw: power_uw(&sample),
            ..sample
        }))
    }

    fn run_once(&mut self, trial: &Trial) -> Measured {
        let agents = self.agents_of(trial);
        if trial.spec.verifies {
            trial.spec.verify(|spec| agents.run(spec))
        } else {
            agents.run(&trial.spec)
        }
    }

    /// Changes a setting, runs the trial, and puts the setting back.
    ///
    /// # Errors
    /// Fails if the setting cannot be put back, or if nothing would put it back.
    fn run_with_setting(&mut self, trial: &Trial, tuning: &Tuning) -> anyhow::Result<Measured> {
        let interrupt = self.resources.interrupt;
        let time = trial.spec.settings.traffic_time();
        let mut settings = self.agents_of(trial).settings();
        match settings.change(tuning, time, interrupt) {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => return Ok(Err(reason.into())),
            Err(error) => return Err(self.setting_error(trial, error)),
        }
        let measured = self.run_once(trial);
        let mut settings = self.agents_of(trial).settings();
        match settings.put_back(tuning, interrupt) {
            Ok(Ok(())) => Ok(measured),
            Ok(Err(reason)) => Ok(Err(NotChanged::Refused(reason).into())),
            Err(error) => Err(self.setting_error(trial, error)),
        }
    }

    /// Returns the error for a setting that could not be changed or put back: the remote host is gone, or another
    /// reason.
    fn setting_error(&mut self, trial: &Trial, error: anyhow::Error) -> anyhow::Error {
        let interrupt = self.resources.interrupt;
        match self.agents_of(trial).remote_is_lost(interrupt) {
            Ok(true) => RemoteLost(format!("{error:#}")).into(),
            Ok(false) => error,
            Err(interrupted) => interrupted.into(),
        }
    }

    /// Returns the fault of a window, if it has one. One bad window on a busy machine must not fail its case.
    fn fault(&self, trial: &Trial, measured: &Measured) -> Option<String> {
        match measured {
            Ok(_) if trial.spec.verifies => None,
            Ok(sample) => self.experiment.fault(trial, sample),
            Err(error) if error.is::<Interrupted>() => None,
            Err(error) => Some(format!("{error:#}")),
        }
    }

    fn agents_of(&mut self, trial: &Trial) -> &mut Agents<'m> {
        // Both sides of a setting have the same agents.
        let side = trial.of.side.filter(|_| trial.of.tuning.is_none());
        &mut self.resources.agents[side.map_or(0, |side| side as usize)]
    }

    /// Logs an event, and the rows that follow from it.
    pub(super) fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        let taken = self.experiment.take(event);
        self.journal.record_event(event, self.experiment.work())?;
        let rows = taken.map_err(|problem| anyhow!(problem))?;
        if !rows.is_empty() {
            self.journal.record_rows(rows)?;
        }
        Ok(())
    }
}

/// Returns the failure that an error of a trial is.
fn failure(error: &anyhow::Error) -> Failure {
    let text = format!("{error:#}");
    match error.downcast_ref() {
        Some(NotChanged::Before(now)) => Failure::SettingChanged {
            now: Box::new(now.clone()),
        },
        Some(NotChanged::Refused(_)) => Failure::SettingFailed { why: text },
        None if error.is::<NoAnswer>() => Failure::NoAnswer { text },
        None => Failure::Told { text },
    }
}
