//! The loop.

use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::{Experiment, Step, Trial, Work};
use crate::data::Sample;
use crate::host::knob::Knob;
use crate::results::log::{Event, Side, Window};
use crate::results::row::Row;
use crate::sys::interrupt::Interrupt;
use crate::trial::NoSample;
use crate::trial::agents::{Agents, End};

/// What is told meanwhile. Errors of a journal end the session.
pub trait Journal {
    /// What is about to happen, for the progress display.
    fn doing(&mut self, what: &str);
    /// Something that takes a while and is not measuring, for the screen and for logs of it.
    fn waiting(&mut self, what: &str);
    /// A round of that block of the plan begins.
    fn block(&mut self, block: usize);
    /// Something happened, and how far the experiment is now.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn event(&mut self, event: &Event, work: Work) -> anyhow::Result<()>;
    /// These rows are final.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn rows(&mut self, rows: Vec<Row>) -> anyhow::Result<()>;
    /// A round is over: what happened is to outlive a power cut.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn sync(&mut self) -> anyhow::Result<()>;
}

/// With what it is measured.
pub struct Means<'a> {
    /// What trials run in; where two sides are compared, A's and B's.
    pub agents: Vec<Agents<'a>>,
    /// Runs the command of a side.
    pub command: &'a dyn Fn(Side, &str) -> anyhow::Result<()>,
    /// Ends it all.
    pub interrupt: &'a Interrupt,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left to do.
    Complete,
    /// With the time that it had.
    OutOfTime,
    /// It was asked to end.
    Interrupted,
    /// The other host was not heard of any more, and why.
    Lost(String),
}

/// Measures what `experiment` asks for, until nothing is left of it.
///
/// # Errors
/// Those of `journal`, of commands, and of settings that cannot be put back: a case that breaks is a result.
pub fn run(
    experiment: &mut dyn Experiment,
    means: &mut Means,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let mut session = Session {
        experiment,
        agents: &mut means.agents,
        command: means.command,
        interrupt: means.interrupt,
        journal,
    };
    let ending = match session.steps() {
        Ok(()) if session.experiment.is_complete() => Ending::Complete,
        Ok(()) => Ending::OutOfTime,
        Err(End::Unkept(error)) => return Err(error),
        Err(End::Interrupted) => session.broken_off(Ending::Interrupted)?,
        Err(End::Lost(reason)) => session.broken_off(Ending::Lost(reason))?,
    };
    // What was measured in full is what people look for: these come last.
    session.journal.rows(session.experiment.rest())?;
    Ok(ending)
}

/// A trial is made so often at most, where others disturb it each time.
const MOST_TIMES: u32 = 3;
/// A trial that is faulty so often is over.
const MOST_FAULTY: u32 = 2;

pub(super) struct Session<'a, 'm> {
    experiment: &'a mut dyn Experiment,
    pub(super) agents: &'a mut [Agents<'m>],
    command: &'a dyn Fn(Side, &str) -> anyhow::Result<()>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) journal: &'a mut dyn Journal,
}

impl<'m> Session<'_, 'm> {
    fn steps(&mut self) -> Result<(), End> {
        while let Some(step) = self.experiment.next(Instant::now()) {
            match step {
                Step::Renew => {
                    self.journal.sync()?;
                    self.agents.iter_mut().for_each(Agents::renew);
                }
                Step::Soak(soak) => self.soak(&soak)?,
                Step::Begin(begin) => self.begin(&begin)?,
                Step::Prepare { side, command } => self.prepare(side, &command)?,
                Step::Trial(trial) => self.trial(&trial)?,
                Step::Note(event) => self.emit(&event)?,
            }
        }
        Ok(())
    }

    fn broken_off(&mut self, ending: Ending) -> anyhow::Result<Ending> {
        let lost = match &ending {
            Ending::Lost(reason) => Some(reason.clone()),
            _ => None,
        };
        self.emit(&Event::Interrupted { lost })?;
        Ok(ending)
    }

    /// Has the machine be that of this side.
    fn prepare(&mut self, side: Side, command: &str) -> Result<(), End> {
        self.journal.doing(&format!("{side}: {command}"));
        let done = (self.command)(side, command);
        // Ctrl-C goes to the command, too, which is no failure of it.
        self.interrupt.sleep(Duration::ZERO)?;
        Ok(done?)
    }

    /// One window, measured once more if something is wrong with it.
    fn trial(&mut self, trial: &Trial) -> Result<(), End> {
        self.journal.doing(&trial.told);
        let (mut times, mut faults) = (0, u32::from(trial.is_repeated));
        loop {
            if times > 0 || trial.is_alone {
                // Whatever was wrong with the process goes with it.
                self.agents_of(trial).renew();
            }
            let measured = self.measure(trial)?;
            let fault = self.fault(trial, &measured);
            times += 1;
            faults += u32::from(fault.is_some());
            let reason = match &fault {
                Some(fault) => Some(fault.clone()).filter(|_| faults < MOST_FAULTY),
                None => self.spoilt(trial, &measured),
            };
            match reason.filter(|_| times < MOST_TIMES) {
                Some(reason) => self.repeated(trial, reason, measured)?,
                None => return self.measured(trial, measured, fault),
            }
        }
    }

    /// Writes down that a trial is made once more. That of a verification is in no round.
    fn repeated(
        &mut self,
        trial: &Trial,
        reason: String,
        measured: Result<Sample, NoSample>,
    ) -> Result<(), End> {
        self.journal
            .doing(&format!("measured again: {} ({reason})", trial.told));
        if trial.spec.verifies {
            return Ok(());
        }
        Ok(self.emit(&Event::Repeated {
            of: trial.of.clone(),
            round: trial.round,
            reason,
            sample: measured.ok().map(Box::new),
        })?)
    }

    /// Writes down what came of a trial.
    fn measured(
        &mut self,
        trial: &Trial,
        measured: Result<Sample, NoSample>,
        fault: Option<String>,
    ) -> Result<(), End> {
        let sample = match (measured, fault) {
            (Err(NoSample::Interrupted), _) => return Err(End::Interrupted),
            (Err(NoSample::Failed(error)), _) => return self.fail(trial, format!("{error:#}")),
            (Ok(_), Some(fault)) if !self.experiment.keeps_faulty() => {
                return self.fail(trial, fault);
            }
            (Ok(sample), _) => sample,
        };
        let event = if trial.spec.verifies {
            Event::Verified(Box::new(sample))
        } else {
            Event::Window(Box::new(Window {
                searched: Some(trial.of.case.clone()).filter(|case| *case != sample.case),
                side: trial.of.side,
                knob: trial.of.knob,
                sample,
            }))
        };
        Ok(self.emit(&event)?)
    }

    /// There are no more such trials.
    ///
    /// # Errors
    /// When it is not the case that failed: the other host is gone. A setting may take it away for a while; whether it comes
    /// back, the next trial shows.
    fn fail(&mut self, trial: &Trial, reason: String) -> Result<(), End> {
        let interrupt = self.interrupt;
        let may_be_lost = trial.knob.is_none();
        if may_be_lost && self.agents_of(trial).has_lost_the_other_host(interrupt)? {
            return Err(End::Lost(reason));
        }
        Ok(self.emit(&Event::Failed {
            of: trial.of.clone(),
            round: trial.round,
            reason,
        })?)
    }

    fn measure(&mut self, trial: &Trial) -> Result<Result<Sample, NoSample>, End> {
        let measured = match &trial.knob {
            None => self.once(trial),
            Some(knob) => self.changed(trial, knob)?,
        };
        Ok(measured.map(|sample| Sample {
            round: trial.round,
            position: trial.position,
            ..sample
        }))
    }

    fn once(&mut self, trial: &Trial) -> Result<Sample, NoSample> {
        let agents = self.agents_of(trial);
        if trial.spec.verifies {
            trial.spec.verify(|spec| agents.run(spec))
        } else {
            agents.run(&trial.spec)
        }
    }

    /// Changes a setting, makes the trial, and puts it back.
    ///
    /// # Errors
    /// When it cannot be put back, or nothing would do so.
    fn changed(&mut self, trial: &Trial, knob: &Knob) -> Result<Result<Sample, NoSample>, End> {
        let interrupt = self.interrupt;
        let time = trial.spec.settings.warmup + trial.spec.settings.window;
        let mut settings = self.agents_of(trial).settings();
        let keeper = match settings.change(knob, time, interrupt) {
            Ok(Ok(keeper)) => keeper,
            Ok(Err(reason)) => return Ok(Err(NoSample::Failed(anyhow!(reason)))),
            Err(error) => return Err(self.unkept(trial, error)),
        };
        let measured = self.once(trial);
        let mut settings = self.agents_of(trial).settings();
        match settings.put_back(keeper, knob, interrupt) {
            Ok(true) => Ok(measured),
            Ok(false) => {
                let problem = "it took so long that the watchdog had put the setting back";
                Ok(Err(NoSample::Failed(anyhow!(problem))))
            }
            Err(error) => Err(self.unkept(trial, error)),
        }
    }

    /// A setting could not be changed or put back, as the other host is gone or for another reason.
    fn unkept(&mut self, trial: &Trial, error: anyhow::Error) -> End {
        let interrupt = self.interrupt;
        let agents = self.agents_of(trial);
        if !agents.settings().are_lost() {
            return error.into();
        }
        match agents.has_lost_the_other_host(interrupt) {
            Err(interrupted) => interrupted.into(),
            Ok(_) => End::Lost(format!("{error:#}")),
        }
    }

    /// What is wrong with a window, if anything: one bad window on a busy machine must not fail its case.
    fn fault(&self, trial: &Trial, measured: &Result<Sample, NoSample>) -> Option<String> {
        match measured {
            Ok(_) if trial.spec.verifies => None,
            Ok(sample) => self.experiment.fault(trial, sample),
            Err(NoSample::Failed(error)) => Some(format!("{error:#}")),
            Err(NoSample::Interrupted) => None,
        }
    }

    /// Why a trial is to be made again although nothing is wrong with it.
    fn spoilt(&self, trial: &Trial, measured: &Result<Sample, NoSample>) -> Option<String> {
        let sample = measured.as_ref().ok()?;
        let is_spoilt = self.experiment.is_spoilt(trial, sample, Instant::now());
        is_spoilt.then(|| "it lost while other programs took the CPUs of its threads".to_owned())
    }

    fn agents_of(&mut self, trial: &Trial) -> &mut Agents<'m> {
        &mut self.agents[trial.agents()]
    }

    /// Writes down what happened, and the rows that follow from it.
    pub(super) fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        let taken = self.experiment.take(event);
        self.journal.event(event, self.experiment.work())?;
        let rows = taken.map_err(|problem| anyhow!(problem))?;
        if !rows.is_empty() {
            self.journal.rows(rows)?;
        }
        Ok(())
    }
}
