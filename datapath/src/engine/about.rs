//! Description of an engine for its users, and the properties by which the plan decides.

use crate::data::{Cmsg, EngineName, EngineProperties, Group, Train};

/// Description and properties of an engine.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct About {
    /// The name on the command line and in the results.
    pub name: &'static str,
    /// One line for `udpbench engines`.
    pub summary: &'static str,
    /// Kind of engine. It is also a selection on the command line.
    pub group: Group,
    /// True if the engine forbids the kernel to fragment.
    pub never_fragments: bool,
    /// True if `--batch` limits the datagrams per send call.
    pub sends_batches: bool,
    /// Segmentation of a send call's datagrams by the kernel, which `--train` limits.
    pub trains: Trains,
    /// Kinds of control messages that calls can carry (`--cmsg`).
    pub control_messages: Cmsg,
    /// True if `--batch` limits the datagrams per receive call.
    pub receives_batches: bool,
    /// True if the bench threads' loops can run on shared worker threads.
    pub shares_workers: bool,
    /// The engine at the other end, for engines that only send or only receive.
    pub partner: Partner,
    /// True if the receiver may get several datagrams as one GRO aggregate. The kernel counts the drop of an aggregate
    /// as one.
    pub receives_aggregates: bool,
    /// True if the kernel may send from the program's memory, without a copy.
    pub sends_without_copy: bool,
    /// True if the sender reads its socket's error queue, which nobody else may then read.
    pub reads_error_queue: bool,
    /// Maximum number of GRO aggregates per receive call.
    pub aggregates_per_call: u32,
    /// True if the kernel takes datagrams from the socket before the receiver asks for them.
    pub prefetches: bool,
    /// Way in which one thread serves many sockets.
    pub many_endpoints: ManyEndpoints,
    /// Poller of the receiver with `--busy-poll`.
    pub busy_polling: BusyPolling,
    /// True if the receiver can run without waiting (`--wait spin`): see
    /// [`IoOptions::spins`](super::IoOptions::spins).
    pub can_spin: bool,
    /// True if the engine never waits.
    pub always_spins: bool,
    /// Selections that include the engine.
    pub selection: Selection,
    /// `Ok` if one thread can send and receive in turn, else the reason why not.
    pub one_thread: Result<(), &'static str>,
    /// `Ok` if the engine can serve requests and responses, else the reason why not. Its calls must be able to move
    /// one datagram, and to send it to the [source of the request](super::payload::Fill::destination).
    pub can_serve_requests: Result<(), &'static str>,
    /// True if the engine has threads for blocking jobs: see [`Engine::spawner`](super::Engine::spawner).
    pub spawns_blocking: bool,
    /// Reason why a receiver of this engine may sleep on a full queue. `None`: it does not.
    pub starves: Option<&'static str>,
    /// True if the engine uses sockets. An engine without sockets can only be paired with itself.
    pub moves_datagrams: bool,
}

impl About {
    /// An engine without special properties, as a base for others.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        group: Group::Blocking,
        never_fragments: false,
        sends_batches: false,
        trains: Trains::Never,
        control_messages: Cmsg::NONE,
        receives_batches: false,
        shares_workers: false,
        partner: Partner::Itself,
        receives_aggregates: false,
        sends_without_copy: false,
        reads_error_queue: false,
        aggregates_per_call: 1,
        prefetches: false,
        many_endpoints: ManyEndpoints::No,
        busy_polling: BusyPolling::Socket,
        can_spin: false,
        always_spins: false,
        selection: Selection::OnRequest,
        one_thread: Ok(()),
        can_serve_requests: Ok(()),
        spawns_blocking: false,
        starves: None,
        moves_datagrams: true,
    };

    /// Returns whether send calls of the engine hand over more than one datagram for segmentation. `train`: the value
    /// of `--train`, if given.
    pub fn sends_trains(&self, train: Option<Train>) -> bool {
        match self.trains {
            Trains::Never => false,
            Trains::OnRequest => train.is_some_and(|train| train.count() > 1),
            Trains::Always => train.is_none_or(|train| train.count() > 1),
        }
    }

    /// Returns whether `--train` has an effect.
    pub fn takes_train(&self) -> bool {
        self.trains != Trains::Never
    }

    /// Returns whether `--engine all` and the engine's group include it: it moves datagrams and does not starve.
    pub fn is_fair(&self) -> bool {
        self.moves_datagrams && self.starves.is_none()
    }

    /// Returns the properties that the header of a log records.
    pub fn properties(&self) -> EngineProperties {
        EngineProperties {
            name: EngineName::new(self.name),
            group: self.group,
            moves_datagrams: self.moves_datagrams,
            receives_aggregates: self.receives_aggregates,
            aggregates_per_call: self.aggregates_per_call,
            shares_workers: self.shares_workers,
            starves: self.starves.map(str::to_owned),
            executable: None,
        }
    }
}

/// The engine at the other end, if the command line names only one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// The engine itself: it sends and receives.
    Itself,
    /// The engine of this name receives. The engine itself only sends.
    ReceivedBy(&'static str),
    /// The engine of this name sends. The engine itself only receives.
    SentBy(&'static str),
}

/// Poller of a receiver with `--busy-poll`, besides its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyPolling {
    /// Nothing is needed: calls that receive wait in the socket, or never.
    Socket,
    /// An epoll instance of the engine, which the engine sets as
    /// [`IoOptions::busy_poll`](super::IoOptions::busy_poll) says.
    Epoll,
    /// An io_uring of the engine, which the engine sets in the same way.
    Uring,
    /// Nothing that the engine can set, though it waits elsewhere than in the socket: where.
    OutOfReach(&'static str),
}

impl BusyPolling {
    /// Wait in a library's own epoll instance.
    pub const OF_LIBRARY: Self = Self::OutOfReach("in an epoll instance of its library");
}

/// Segmentation of send calls' datagrams by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trains {
    /// No call does.
    Never,
    /// With `--train`; otherwise a call sends one datagram.
    OnRequest,
    /// Each call does: the longest train, unless `--train` shortens it.
    Always,
}

/// Way in which one thread serves many sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManyEndpoints {
    /// One thread cannot serve many sockets: a call waits for one socket.
    No,
    /// One I/O object serves all sockets.
    OneIo,
    /// Each socket has its own I/O object, and their futures take turns.
    IoEach,
}

/// Selections that include an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Included in the default sweep.
    Default,
    /// Not in the default sweep.
    OnRequest,
}
