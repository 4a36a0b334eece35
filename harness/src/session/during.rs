//! A setting is changed while a trial is made, and put back.

use std::time::Duration;

use anyhow::anyhow;

use crate::data::Sample;
use crate::measure::NoSample;
use crate::measure::agents::End;
use crate::measure::keeper::Keeper;
use crate::platform::knob::Knob;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;

/// What changes settings, once one is to be changed.
pub(super) struct During<'a> {
    root: &'a Root,
    keeper: Option<Keeper<'a>>,
    interrupt: &'a Interrupt,
}

impl<'a> During<'a> {
    /// Nothing is changed yet.
    pub(super) fn new(root: &'a Root, interrupt: &'a Interrupt) -> Self {
        Self {
            root,
            keeper: None,
            interrupt,
        }
    }

    /// Changes a setting, makes the trial, which takes about so long, and puts it back.
    ///
    /// # Errors
    /// When it cannot be put back, or nothing would do so.
    pub(super) fn with(
        &mut self,
        knob: &Knob,
        time: Duration,
        trial: impl FnOnce() -> Result<Sample, NoSample>,
    ) -> Result<Result<Sample, NoSample>, End> {
        let keeper = match &mut self.keeper {
            Some(keeper) => keeper,
            None => self.keeper.insert(start(self.root, self.interrupt)?),
        };
        if let Err(reason) = keeper.set(knob, time, self.interrupt)? {
            return Ok(Err(NoSample::Failed(anyhow!(reason))));
        }
        let measured = trial();
        if keeper.end_trial(knob, self.interrupt)? {
            return Ok(measured);
        }
        let problem = "it took so long that the watchdog had put the setting back";
        Ok(Err(NoSample::Failed(anyhow!(problem))))
    }
}

/// Ctrl-C reaches the watchdog, too, until it is ready.
fn start<'a>(root: &'a Root, interrupt: &Interrupt) -> Result<Keeper<'a>, End> {
    Keeper::start(root).map_err(|error| match interrupt.signal() {
        Some(_) => End::Interrupted,
        None => End::Unkept(error),
    })
}
