//! A setting is changed while a trial is made, and put back.

use std::time::Duration;

use crate::data::Sample;
use crate::measure::NoSample;
use crate::measure::agents::End;
use crate::measure::keeper::Keeper;
use crate::platform::knob::Knob;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;

/// How it went.
pub(in crate::find) enum Measured {
    /// As a trial without settings goes.
    Trial(Result<Box<Sample>, NoSample>),
    /// The setting could not be changed, and why.
    NotSet(String),
}

impl Measured {
    /// What is wrong with it, if anything.
    pub(in crate::find) fn fault(&self) -> Option<String> {
        match self {
            Self::Trial(Ok(sample)) => sample.link_fault().or_else(|| sample.fault()),
            Self::Trial(Err(NoSample::Failed(error))) => Some(format!("{error:#}")),
            Self::Trial(Err(NoSample::Interrupted)) => None,
            Self::NotSet(reason) => Some(reason.clone()),
        }
    }
}

/// What changes settings, once one is to be changed.
pub(in crate::find) struct During<'a> {
    knobs: Vec<Knob>,
    root: &'a Root,
    keeper: Option<Keeper<'a>>,
    interrupt: &'a Interrupt,
}

impl<'a> During<'a> {
    /// Nothing is changed yet.
    pub(in crate::find) fn new(knobs: Vec<Knob>, root: &'a Root, interrupt: &'a Interrupt) -> Self {
        Self {
            knobs,
            root,
            keeper: None,
            interrupt,
        }
    }

    /// What the setting of that number is called.
    pub(in crate::find) fn name(&self, number: usize) -> Option<&'static str> {
        self.knobs.get(number).map(|knob| knob.name.text())
    }

    /// Changes the setting of that number, makes the trial, which takes about so long, and puts it back.
    ///
    /// # Errors
    /// When it cannot be put back, or nothing would do so.
    pub(in crate::find) fn with(
        &mut self,
        number: usize,
        time: Duration,
        trial: impl FnOnce() -> Result<Sample, NoSample>,
    ) -> Result<Measured, End> {
        let Some(knob) = self.knobs.get(number) else {
            return Ok(Measured::NotSet("there is no such setting".to_owned()));
        };
        let keeper = match &mut self.keeper {
            Some(keeper) => keeper,
            None => self.keeper.insert(start(self.root, self.interrupt)?),
        };
        if let Err(reason) = keeper.set(knob, time, self.interrupt)? {
            return Ok(Measured::NotSet(reason));
        }
        let measured = trial();
        if keeper.end_trial(knob, self.interrupt)? {
            return Ok(Measured::Trial(measured.map(Box::new)));
        }
        let problem = "it took so long that the watchdog had put the setting back";
        Ok(Measured::Trial(Err(NoSample::Failed(anyhow::anyhow!(
            problem
        )))))
    }
}

/// Ctrl-C reaches the watchdog, too, until it is ready.
fn start<'a>(root: &'a Root, interrupt: &Interrupt) -> Result<Keeper<'a>, End> {
    Keeper::start(root).map_err(|error| match interrupt.signal() {
        Some(_) => End::Interrupted,
        None => End::Unkept(error),
    })
}
