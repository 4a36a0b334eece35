//! Settings of the host where trials run, or from which they cross a wire: this host, or another one through its agent.

use std::time::Duration;

use super::agent::Agent;
use super::keeper::{Keeper, is_as_before};
use super::message::Request;
use crate::host::facts::Host;
use crate::host::tuning::{Lock, Setting, Tuning, Tunings, Wanted, choose};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;

/// Host whose settings are read and changed.
pub enum Settings<'a> {
    /// This host, with its files below this root.
    LocalTrials(&'a Root),
    /// The host of this agent.
    Remote(&'a mut Agent),
}

impl Settings<'_> {
    /// Returns whether the agent is gone, so that its settings cannot be read any more.
    pub fn are_lost(&self) -> bool {
        matches!(self, Self::Remote(agent) if agent.is_lost())
    }

    /// Returns the wanted settings that can be tried. Changes nothing.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn choose(&mut self, wanted: Wanted) -> anyhow::Result<Tunings> {
        match self {
            Self::LocalTrials(root) => Ok(choose(&wanted, &Host::read(root), root)),
            Self::Remote(agent) => agent.call(&Request::Choose(wanted)),
        }
    }

    /// Takes the right to change settings, until the lock is dropped or the agent ends.
    ///
    /// # Errors
    /// Fails if the agent is gone. The inner error names the process that has the right.
    pub fn lock(&mut self) -> anyhow::Result<Result<Option<Lock>, String>> {
        match self {
            Self::LocalTrials(root) => Ok(Lock::take(root).map(Some)),
            Self::Remote(agent) => {
                let taken: Result<(), String> = agent.call(&Request::Lock)?;
                Ok(taken.map(|()| None))
            }
        }
    }

    /// Checks that settings have the values that they had when the search began.
    ///
    /// # Errors
    /// Fails if the agent is gone. The inner error names a setting with another value.
    pub fn are_as_before(&mut self, settings: &[Setting]) -> anyhow::Result<Result<(), String>> {
        match self {
            Self::LocalTrials(root) => Ok(is_as_before(settings, root)),
            Self::Remote(agent) => agent.call(&Request::AreAsBefore(settings.to_vec())),
        }
    }

    /// Changes a setting for a trial that takes about `trial`.
    ///
    /// An agent on another host is the keeper itself. If it ends or begins anew, its watchdog puts the setting back.
    ///
    /// # Errors
    /// Fails if no watchdog would put the setting back, or if the agent is gone. The inner error is the reason why the
    /// setting cannot be changed.
    pub fn change(
        &mut self,
        tuning: &Tuning,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<Option<Keeper>, String>> {
        match self {
            Self::LocalTrials(root) => {
                let changed = Keeper::change(tuning, trial, root, interrupt)?;
                Ok(changed.map(Some))
            }
            Self::Remote(agent) => {
                let changed: Result<(), String> = agent.call(&Request::Change {
                    tuning: tuning.clone(),
                    trial,
                })?;
                Ok(changed.map(|()| None))
            }
        }
    }

    /// Puts a setting back. Returns whether it stayed changed until now.
    ///
    /// # Errors
    /// Fails if the setting cannot be put back, or if the agent is gone.
    pub fn put_back(
        &mut self,
        keeper: Option<Keeper>,
        tuning: &Tuning,
        interrupt: &Interrupt,
    ) -> anyhow::Result<bool> {
        match (self, keeper) {
            (Self::Remote(agent), _) => agent.call(&Request::PutBack(tuning.clone())),
            (Self::LocalTrials(_), Some(keeper)) => keeper.put_back(tuning, interrupt),
            // Nothing was changed.
            (Self::LocalTrials(_), None) => Ok(true),
        }
    }
}
