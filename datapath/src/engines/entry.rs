//! An engine in the registry: its type is erased, and what it is made of stays generic.

use std::fmt;
use std::io;
use std::net::UdpSocket;

use crate::data::{Case, Connection, EngineName};
use crate::engine::{About, Engine, Partner, Pool, PoolBrief, Remark, Tap};
use crate::workload::lane::LaneContext;
use crate::workload::{self, Program};

/// An engine in the registry, with its type erased: one indirect call per lane, none per datagram.
pub struct Entry {
    /// What people need to know before they choose it.
    pub about: &'static About,
    /// [`Engine::probe`], which may panic; [`Entry::probe`] does not.
    pub(super) try_out: fn() -> Result<(), String>,
    /// See [`Engine::pool`].
    pub pool: fn(PoolBrief) -> io::Result<Pool>,
    /// See [`Engine::tap`].
    pub tap: fn(&UdpSocket) -> io::Result<Box<dyn Tap>>,
    /// Runs one lane from construction to stop.
    pub lane: fn(Program, Connection, &LaneContext) -> io::Result<Remark>,
    /// Holds the engine to the contract.
    #[cfg(test)]
    pub(super) keeps_contract: fn(),
}

impl Entry {
    /// The registry's entry for `E`.
    pub const fn of<E: Engine>() -> Self {
        // In the registry, which is a constant, what is no name does not compile.
        EngineName::new(E::ABOUT.name);
        Self {
            about: &E::ABOUT,
            try_out: E::probe,
            pool: E::pool,
            tap: E::tap,
            lane: workload::run::<E>,
            #[cfg(test)]
            keeps_contract: super::tests::contract::holds::<E>,
        }
    }

    /// The name on the command line and in the results.
    pub const fn name(&self) -> EngineName {
        EngineName::new(self.about.name)
    }

    /// What `--engine` with its name means: the sender's engine and the receiver's.
    ///
    /// # Panics
    /// Never: a test holds that partners are registered.
    pub fn pair(&'static self) -> (&'static Self, &'static Self) {
        let partner = |name| super::find(name).expect("partners are registered");
        match self.about.partner {
            Partner::Itself => (self, self),
            Partner::ReceivedBy(name) => (self, partner(name)),
            Partner::SentBy(name) => (partner(name), self),
        }
    }

    /// Whether workers run its lanes, in such a case.
    pub const fn runs_on_workers(&self, case: &Case) -> bool {
        case.tokio_workers.is_some() && self.about.shares_workers
    }

    /// Whether it can send.
    pub const fn sends(&self) -> bool {
        !matches!(self.about.partner, Partner::SentBy(_))
    }

    /// Whether it can receive.
    pub const fn receives(&self) -> bool {
        !matches!(self.about.partner, Partner::ReceivedBy(_))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.about.name)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about.name)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Entry {}
