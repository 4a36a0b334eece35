//! The settings of the host where trials run, or from where they cross a wire: this one, or another one by its agent.

use std::time::Duration;

use super::agent::Agent;
use super::keeper::{Keeper, is_as_before};
use super::message::Request;
use crate::host::facts::Host;
use crate::host::knob::{Knob, Knobs, Lock, Setting, Wanted, choose};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;

/// Whose they are.
pub enum Settings<'a> {
    /// This host's, below this root.
    Here(&'a Root),
    /// Those of the host of an agent.
    There(&'a mut Agent),
}

impl Settings<'_> {
    /// Whether nothing can be learned of them any more.
    pub fn are_lost(&self) -> bool {
        matches!(self, Self::There(agent) if agent.is_lost())
    }

    /// Those of the wanted ones that can be tried. Nothing is touched.
    ///
    /// # Errors
    /// When the agent is gone.
    pub fn choose(&mut self, wanted: Wanted) -> anyhow::Result<Knobs> {
        match self {
            Self::Here(root) => Ok(choose(&wanted, &Host::read(root), root)),
            Self::There(agent) => agent.call(&Request::Choose(wanted)),
        }
    }

    /// Takes the right to change them: until the lock is dropped, or the agent there ends.
    ///
    /// # Errors
    /// Who has it. The outer one: the agent is gone.
    pub fn lock(&mut self) -> anyhow::Result<Result<Option<Lock>, String>> {
        match self {
            Self::Here(root) => Ok(Lock::take(root).map(Some)),
            Self::There(agent) => {
                let taken: Result<(), String> = agent.call(&Request::Lock)?;
                Ok(taken.map(|()| None))
            }
        }
    }

    /// Whether these are what they were when the search began.
    ///
    /// # Errors
    /// One that is not. The outer one: the agent is gone.
    pub fn are_as_before(&mut self, settings: &[Setting]) -> anyhow::Result<Result<(), String>> {
        match self {
            Self::Here(root) => Ok(is_as_before(settings, root)),
            Self::There(agent) => agent.call(&Request::AreAsBefore(settings.to_vec())),
        }
    }

    /// Changes one for a trial, which takes about so long. An agent there is its keeper itself; where that ends or begins
    /// anew, its watchdog puts it back.
    ///
    /// # Errors
    /// Why it cannot be changed. The outer ones: nothing would put it back, or the agent is gone.
    pub fn change(
        &mut self,
        knob: &Knob,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<Option<Keeper>, String>> {
        match self {
            Self::Here(root) => {
                let changed = Keeper::change(knob, trial, root, interrupt)?;
                Ok(changed.map(Some))
            }
            Self::There(agent) => {
                let changed: Result<(), String> = agent.call(&Request::Change {
                    knob: knob.clone(),
                    trial,
                })?;
                Ok(changed.map(|()| None))
            }
        }
    }

    /// Puts it back. Whether it was changed until now.
    ///
    /// # Errors
    /// What could not be put back, and when the agent is gone.
    pub fn put_back(
        &mut self,
        keeper: Option<Keeper>,
        knob: &Knob,
        interrupt: &Interrupt,
    ) -> anyhow::Result<bool> {
        match (self, keeper) {
            (Self::There(agent), _) => agent.call(&Request::PutBack(knob.clone())),
            (Self::Here(_), Some(keeper)) => keeper.put_back(knob, interrupt),
            // Nothing was changed.
            (Self::Here(_), None) => Ok(true),
        }
    }
}
