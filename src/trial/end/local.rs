//! Trials in this process, by its own clock, and the settings that are changed for a trial.

use std::time::Duration;

use anyhow::{Context, bail};

use crate::data::{LoopbackTrains, Sample};
use crate::host::tuning::{NotChanged, Tuning};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::sys::own_loopback::OwnLoopback;
use crate::trial::changes::changed_settings::ChangedSettings;
use crate::trial::changes::watchdog::put_back;
use crate::trial::end::echo_end::EchoLosses;
use crate::trial::end::prepared_end::PreparedEnd;
use crate::trial::end::running_end::RunningEnd;
use crate::trial::end::wait::{drain, window};
use crate::trial::messages::end_result;
use crate::trial::messages::spec::{EndRole, TrialSpec};
use crate::trial::messages::two_hosts::Token;
use crate::trial::readings::losses::ReasonWatch;
use crate::trial::sockets::flows;

/// State that all trials in this process share.
pub struct LocalTrials {
    root: Root,
    /// The loopback that only this process has. `None`: it is on that of the host.
    loopback: Option<OwnLoopback>,
    reasons: ReasonWatch,
    /// Settings that are changed for the current trial.
    changed: Option<ChangedSettings>,
    /// Losses on the way to an echo. `None`: there is none.
    pub(crate) echo: Option<EchoLosses>,
}

impl LocalTrials {
    /// Starts without a changed setting; sensors are read below `root`. `loopback`: that of this process alone, if it
    /// has one.
    pub fn new(root: &Root, loopback: Option<OwnLoopback>) -> Self {
        Self {
            root: root.clone(),
            loopback,
            reasons: ReasonWatch::default(),
            changed: None,
            echo: None,
        }
    }

    /// Returns the root of the file system that sensors are read from.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Changes the settings of a tuning for a trial that takes about `trial`.
    ///
    /// # Errors
    /// Fails if the watchdog cannot be started or does not answer, or if a setting could not be put back. The inner
    /// error is the reason why the settings cannot be changed.
    pub(crate) fn change(
        &mut self,
        tuning: &Tuning,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), NotChanged>> {
        let changed = ChangedSettings::change(tuning, trial, &self.root, interrupt)?;
        Ok(changed.map(|changed| self.changed = Some(changed)))
    }

    /// Puts the settings of a tuning back. The inner error is the reason why they did not stay changed until now.
    ///
    /// # Errors
    /// Fails if a setting cannot be put back.
    pub(crate) fn put_back(
        &mut self,
        tuning: &Tuning,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), String>> {
        match self.changed.take() {
            Some(changed) => changed.put_back(interrupt),
            // This process restarted since the trial failed; the watchdog puts the settings back at the same time.
            None => put_back(&tuning.settings, &self.root).map(Ok),
        }
    }

    /// Runs a trial whose two ends are both on this host: sockets, threads, start, warm-up, window, drain, accounting.
    ///
    /// # Errors
    /// Fails if something cannot be built or breaks.
    pub fn run(&mut self, spec: &TrialSpec) -> anyhow::Result<Sample> {
        let engines = spec.engines()?;
        let mut running = self.begin(spec)?;
        let window = window(&spec.settings, &mut running)?;
        running.stop();
        drain(None, &mut running)?;
        let end = running.finish(window)?;
        Ok(end_result::sample(&spec.case, engines, &[end]))
    }

    /// Prepares one end of a trial, without making a socket.
    ///
    /// # Errors
    /// Fails if this host has no address for it.
    pub(crate) fn open<'a>(
        &'a mut self,
        spec: &'a TrialSpec,
        part: EndRole,
        token: Option<Token>,
    ) -> anyhow::Result<PreparedEnd<'a>> {
        let reasons = spec.settings.drop_reasons.then_some(&mut self.reasons);
        PreparedEnd::new(spec, part, token, &self.root, reasons)
    }

    /// Has this process's own loopback cut trains or not, as the case asks. A program may send trains without it being
    /// known: they are cut.
    fn pass_trains(&self, asked: Option<LoopbackTrains>) -> anyhow::Result<()> {
        let set = match (self.loopback, asked) {
            (Some(own), Some(LoopbackTrains::Whole)) => own.pass_trains(),
            (Some(own), _) => own.cut_trains(),
            (None, Some(LoopbackTrains::Cut)) => {
                bail!("trains are cut on a loopback of the trial's own, which this process has not")
            }
            (None, _) => Ok(()),
        };
        set.context("the loopback of the trial's own")
    }

    /// Prepares a trial up to the start barrier, where the threads wait.
    fn begin<'a>(&'a mut self, spec: &'a TrialSpec) -> anyhow::Result<RunningEnd<'a>> {
        self.pass_trains(spec.case.loopback)?;
        let mut opened = self.open(spec, EndRole::Both, None)?;
        let receivers = opened.sockets.bind()?;
        let flows = flows::find(&spec.case, &receivers, &mut *opened.sockets)?;
        flows::assign(&spec.case, &flows, &mut *opened.sockets)?;
        flows::confirm(&spec.case, &flows, &mut *opened.sockets)?;
        opened.assemble(&flows)
    }
}
