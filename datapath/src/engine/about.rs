//! What people need to know of an engine before they choose it, and what the plan decides by.

use crate::data::{EngineName, Group, Traits};

/// What people need to know of an engine before they choose it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct About {
    /// The name on the command line and in the results.
    pub name: &'static str,
    /// One line for `udpbench engines`.
    pub summary: &'static str,
    /// Its kind: a selection of the command line, too.
    pub group: Group,
    /// Whether it forbids the kernel to fragment.
    pub never_fragments: bool,
    /// Whether `--batch` says how many datagrams a call may send.
    pub sends_batches: bool,
    /// Whether `--batch` says how many datagrams a call may receive.
    pub receives_batches: bool,
    /// Whether its lanes can run on worker threads that they share.
    pub shares_workers: bool,
    /// Whether it only sends or only receives, and what does the rest.
    pub partner: Partner,
    /// Whether its receiver may get several datagrams as one. The kernel then counts those that it drops
    /// as one, too.
    pub joins: bool,
    /// How many of those one call may receive.
    pub joined_per_call: u32,
    /// Whether the kernel takes datagrams from the socket before its receiver asks for them.
    pub takes_ahead: bool,
    /// How one thread serves many sockets.
    pub many_links: ManyLinks,
    /// Whether its receiver can do without waiting (`--wait spin`): see [`PortOptions::spins`](super::PortOptions::spins).
    pub can_spin: bool,
    /// Whether it never waits.
    pub always_spins: bool,
    /// Which selections include it.
    pub selection: Selection,
    /// Whether one thread can send and receive in turn with it, or the reason why not.
    pub one_thread: Result<(), &'static str>,
    /// Whether its calls move one datagram if told so, out to [whom it came from](super::payload::Fill::destination):
    /// so that it can ask and answer; or the reason why not.
    pub answers: Result<(), &'static str>,
    /// Whether it has threads for what blocks: see [`Engine::spawner`](super::Engine::spawner).
    pub spawns_blocking: bool,
    /// Why a receiver of this engine may sleep on a full queue, if it may.
    pub starves: Option<&'static str>,
    /// Whether it uses sockets. An engine that does not can only meet itself.
    pub moves_datagrams: bool,
}

impl About {
    /// An engine with nothing special about it, for others to change.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        group: Group::Blocking,
        never_fragments: false,
        sends_batches: false,
        receives_batches: false,
        shares_workers: false,
        partner: Partner::Itself,
        joins: false,
        joined_per_call: 1,
        takes_ahead: false,
        many_links: ManyLinks::No,
        can_spin: false,
        always_spins: false,
        selection: Selection::ByName,
        one_thread: Ok(()),
        answers: Ok(()),
        spawns_blocking: false,
        starves: None,
        moves_datagrams: true,
    };

    /// Whether `all` and the groups include it: it moves datagrams, and does not starve.
    pub fn is_fair(&self) -> bool {
        self.moves_datagrams && self.starves.is_none()
    }

    /// What the header of a log says of it.
    pub fn traits(&self) -> Traits {
        Traits {
            name: EngineName::new(self.name),
            group: self.group,
            moves_datagrams: self.moves_datagrams,
            joins: self.joins,
            joined_per_call: self.joined_per_call,
            shares_workers: self.shares_workers,
            starves: self.starves.map(str::to_owned),
        }
    }
}

/// The engine at the other end, where only one engine is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// It sends and receives.
    Itself,
    /// It only sends; the engine of this name receives.
    ReceivedBy(&'static str),
    /// It only receives; the engine of this name sends.
    SentBy(&'static str),
}

/// How one thread serves many sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManyLinks {
    /// Not at all: its calls wait for one.
    No,
    /// Over one port.
    OnePort,
    /// Over a port each, whose futures take turns.
    PortEach,
}

/// Which selections include an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// In the default sweep.
    Default,
    /// Only when it is named.
    ByName,
}
