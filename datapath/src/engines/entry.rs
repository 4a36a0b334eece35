//! An engine in the registry: its type is erased, and what it is made of stays generic.

use std::fmt;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::data::{Case, Connection, EngineName, Transport};
use crate::engine::{About, Engine, ManyLinks, Partner, Pool, PoolBrief, Remark, Tap};
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
    pub lane: Lane,
    /// How it serves many sockets in one lane, and what runs such a lane.
    pub many_links: (ManyLinks, Lane),
    /// What it goes over besides UDP.
    pub transports: &'static [Carrier],
    /// Holds the engine to the contract.
    #[cfg(test)]
    pub(super) keeps_contract: fn(),
    /// Holds what runs lanes with many sockets to it.
    #[cfg(test)]
    pub(super) keeps_contract_with_many: fn(),
}

/// How messages go over another transport than UDP.
pub struct Carrier {
    /// The transport.
    pub transport: Transport,
    /// What runs a lane over it.
    pub lane: Lane,
    /// What a message of so many bytes takes up there, in bytes; the second argument: whether the client sends it. `None`: the
    /// transport keeps messages apart.
    pub bytes_of: fn(usize, bool) -> Option<usize>,
}

/// Runs one lane from construction to stop.
pub type Lane = fn(Program, Connection, &Arc<LaneContext>) -> io::Result<Remark>;

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
            lane: |program, connection, lane| workload::run::<E>(program, connection, lane),
            many_links: (ManyLinks::No, refuse),
            transports: &[],
            #[cfg(test)]
            keeps_contract: super::tests::contract::holds::<E>,
            #[cfg(test)]
            keeps_contract_with_many: || {},
        }
    }

    /// The same, where `M` is what the engine is to many sockets: often itself, or another one, so that its loop over one
    /// is compiled as if there were none. Nothing of the kind is compiled where no thread may have many.
    pub const fn with_many<M: Engine>(self) -> Self {
        Self {
            many_links: (M::ABOUT.many_links, workload::run_flows::<M>),
            #[cfg(test)]
            keeps_contract_with_many: super::tests::contract::holds_with_many::<M>,
            ..self
        }
    }

    /// The same, over these transports, too.
    pub(super) const fn over(self, transports: &'static [Carrier]) -> Self {
        Self { transports, ..self }
    }

    /// What runs a lane of such a case. `None`: it does not go over the case's transport.
    pub fn lane_of(&self, case: &Case, serves_from_one: bool) -> Option<Lane> {
        if let Some(transport) = case.transport {
            return self.carrier(transport).map(|it| it.lane);
        }
        let has_one = case.flows.is_none() || serves_from_one;
        Some(if has_one {
            self.lane
        } else {
            self.many_links.1
        })
    }

    /// How it goes over that transport, if it does.
    pub fn carrier(&self, transport: Transport) -> Option<&'static Carrier> {
        self.transports.iter().find(|it| it.transport == transport)
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

/// The plan refuses such cases.
fn refuse(_: Program, _: Connection, _: &Arc<LaneContext>) -> io::Result<Remark> {
    Err(io::ErrorKind::Unsupported.into())
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
