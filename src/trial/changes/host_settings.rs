//! Settings of the host where trials run, or from which they cross a wire: this host, or another one by its agent.

use std::time::Duration;

use super::changed_settings::ChangedSettings;
use crate::host::facts::Host;
use crate::host::tuning::{
    Difference, Lock, NotChanged, Setting, Tuning, Tunings, Wanted, choose, differences,
};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::trial::controller::agent::Agent;
use crate::trial::messages::message::Request;

/// Settings of a host, to read and change.
pub enum HostSettings<'a> {
    /// This host, with its files below this root.
    Local(&'a Root),
    /// The host of this agent.
    Remote(&'a mut Agent),
}

impl HostSettings<'_> {
    /// Returns whether the agent is gone, so that its settings cannot be read any more.
    pub fn are_lost(&self) -> bool {
        matches!(self, Self::Remote(agent) if agent.is_lost())
    }

    /// Returns the wanted settings that can be tried. Changes nothing.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn list_tunings(&mut self, wanted: Wanted) -> anyhow::Result<Tunings> {
        match self {
            Self::Local(root) => Ok(choose(&wanted, &Host::read(root), root)),
            Self::Remote(agent) => agent.call(&Request::ListTunings(wanted)),
        }
    }

    /// Takes the right to change settings, until the lock is dropped or the agent ends.
    ///
    /// # Errors
    /// Fails if the agent is gone. The inner error names the process that has the right.
    pub fn lock(&mut self) -> anyhow::Result<Result<Option<Lock>, String>> {
        match self {
            Self::Local(root) => Ok(Lock::take(root).map(Some)),
            Self::Remote(agent) => {
                let taken: Result<(), String> = agent.call(&Request::Lock)?;
                Ok(taken.map(|()| None))
            }
        }
    }

    /// Returns the settings that have other values than when the search began.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn differences(&mut self, settings: &[Setting]) -> anyhow::Result<Vec<Difference>> {
        match self {
            Self::Local(root) => Ok(differences(settings, root)),
            Self::Remote(agent) => agent.call(&Request::Differences(settings.to_vec())),
        }
    }

    /// Changes the settings of a tuning for a trial that takes about `trial`. Returns them if they are of this host.
    ///
    /// An agent on another host keeps them itself. If it ends or restarts, its watchdog puts them back.
    ///
    /// # Errors
    /// Fails if the watchdog cannot be started or does not answer, or if the agent is gone. The inner error is the
    /// reason why a setting cannot be changed.
    pub fn change(
        &mut self,
        tuning: &Tuning,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<Option<ChangedSettings>, NotChanged>> {
        match self {
            Self::Local(root) => {
                let changed = ChangedSettings::change(tuning, trial, root, interrupt)?;
                Ok(changed.map(Some))
            }
            Self::Remote(agent) => {
                let changed: Result<(), NotChanged> = agent.call(&Request::Change {
                    tuning: tuning.clone(),
                    trial,
                })?;
                Ok(changed.map(|()| None))
            }
        }
    }

    /// Puts the settings of a tuning back. The inner error is the reason why they did not stay changed until now.
    ///
    /// # Errors
    /// Fails if a setting cannot be put back, or if the agent is gone.
    pub fn put_back(
        &mut self,
        changed: Option<ChangedSettings>,
        tuning: &Tuning,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), String>> {
        match (self, changed) {
            (Self::Remote(agent), _) => agent.call(&Request::PutBack(tuning.clone())),
            (Self::Local(_), Some(changed)) => changed.put_back(interrupt),
            // Nothing was changed.
            (Self::Local(_), None) => Ok(Ok(())),
        }
    }
}
