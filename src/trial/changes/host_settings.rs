//! Settings of the host where trials run, or from which they cross a wire: this host, or another one by its agent.

use std::mem;
use std::time::Duration;

use crate::host::facts::Host;
use crate::host::tuning::{
    Difference, Lock, NotChanged, Setting, Tuning, Tunings, Wanted, choose, differences,
};
use crate::sys::interrupt::Interrupt;
use crate::trial::changes::changed_settings::ChangedSettings;
use crate::trial::changes::watchdog::put_back;
use crate::trial::controller::agent::Agent;
use crate::trial::end::local::LocalTrials;
use crate::trial::messages::message::Request;

/// Settings of a host, to read and change.
pub enum HostSettings<'a> {
    /// This host.
    Local(&'a mut LocalTrials),
    /// The host of this agent.
    Remote(&'a mut Agent),
}

impl HostSettings<'_> {
    /// Returns the wanted settings that can be tried. Changes nothing.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn list_tunings(&mut self, wanted: Wanted) -> anyhow::Result<Tunings> {
        match self {
            Self::Local(trials) => {
                let root = &trials.root;
                Ok(choose(&wanted, &Host::read(root), root))
            }
            Self::Remote(agent) => agent.call(&Request::ListTunings(wanted)),
        }
    }

    /// Takes the right to change settings, until this process or the agent's ends.
    ///
    /// # Errors
    /// Fails if the agent is gone. The inner error names the process that has the right.
    pub fn lock(&mut self) -> anyhow::Result<Result<(), String>> {
        match self {
            // The lock survives when an agent's process restarts.
            Self::Local(trials) => Ok(Lock::take(&trials.root).map(mem::forget)),
            Self::Remote(agent) => agent.call(&Request::Lock),
        }
    }

    /// Returns the settings that have other values than when the search began.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn differences(&mut self, settings: &[Setting]) -> anyhow::Result<Vec<Difference>> {
        match self {
            Self::Local(trials) => Ok(differences(settings, &trials.root)),
            Self::Remote(agent) => agent.call(&Request::Differences(settings.to_vec())),
        }
    }

    /// Changes the settings of a tuning for a trial that takes about `trial`. If this process or the agent's ends or
    /// restarts meanwhile, a watchdog puts them back.
    ///
    /// # Errors
    /// Fails if the watchdog cannot be started or does not answer, or if the agent is gone. The inner error is the
    /// reason why a setting cannot be changed.
    pub fn change(
        &mut self,
        tuning: &Tuning,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), NotChanged>> {
        match self {
            Self::Local(trials) => {
                let changed = ChangedSettings::change(tuning, trial, &trials.root, interrupt)?;
                Ok(changed.map(|changed| trials.changed = Some(changed)))
            }
            Self::Remote(agent) => agent.call(&Request::Change {
                tuning: tuning.clone(),
                trial,
            }),
        }
    }

    /// Puts the settings of a tuning back. The inner error is the reason why they did not stay changed until now.
    ///
    /// # Errors
    /// Fails if a setting cannot be put back, or if the agent is gone.
    pub fn put_back(
        &mut self,
        tuning: &Tuning,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), String>> {
        match self {
            Self::Local(trials) => match trials.changed.take() {
                Some(changed) => changed.put_back(interrupt),
                // This process restarted since the trial failed; the watchdog puts the settings back at the same time.
                None => put_back(&tuning.settings, &trials.root).map(Ok),
            },
            Self::Remote(agent) => agent.call(&Request::PutBack(tuning.clone())),
        }
    }
}
