//! The contract between the two halves of a hot loop: what an engine is, and what it may count on.
//!
//! An engine is two small structs with one method each: [`Transmit`] moves one burst out, [`Receive`]
//! moves one burst in. A workload (see [`crate::workload`]) is a generic loop over those two. Both
//! methods are `async`: a blocking call is simply always ready, and [`Engine::run`] says how the
//! engine's futures are driven. The compiler turns the pair into one plain loop per engine, so that
//! nothing per datagram is dynamic, allocates, locks or reads a clock.

mod about;
pub(crate) mod counters;
pub(crate) mod null_link;
pub mod payload;
pub mod verify;
mod wakeups;

use std::any::Any;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use self::about::{About, Partner, Selection};
pub use self::counters::{Meter, SharedTally, Tally};
use self::null_link::NullLink;
use self::payload::{Check, Fill};
use self::verify::{SequenceTracker, SequenceWriter};
pub use self::wakeups::Wakeups;

/// What one call of an engine moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Datagrams handed to the kernel, or taken from it.
    pub packets: u64,
    /// UDP payload in them, in bytes.
    pub bytes: u64,
}

impl Burst {
    /// One datagram of `bytes` bytes of payload.
    #[inline]
    pub fn one(bytes: usize) -> Self {
        Self::of(1, bytes as u64)
    }

    /// `packets` datagrams with `bytes` bytes of payload in all of them, and no failure.
    #[inline]
    pub fn of(packets: u64, bytes: u64) -> Self {
        Self { packets, bytes }
    }
}

/// What a call came to that makes several operations (`mmsg`, `uring`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batched {
    /// What those moved that succeeded.
    pub moved: Burst,
    /// How many failed.
    pub failed: u32,
    /// The `errno` of the last of these. Known where nothing was moved.
    pub errno: i32,
}

impl Batched {
    /// The burst. What failed beside it is counted here, as the loop sees only the errors of whole calls.
    ///
    /// # Errors
    /// The last failure, if nothing was moved.
    #[inline]
    pub fn counted(self, meter: &Meter) -> io::Result<Burst> {
        if self.failed == 0 {
            Ok(self.moved)
        } else {
            self.count(meter)
        }
    }

    #[cold]
    fn count(self, meter: &Meter) -> io::Result<Burst> {
        let failed = u64::from(self.failed);
        if self.moved.packets > 0 {
            meter.errors.fetch_add(failed, Ordering::Relaxed);
            Ok(self.moved)
        } else {
            // The loop counts the one that it is told of.
            meter.errors.fetch_add(failed - 1, Ordering::Relaxed);
            Err(io::Error::from_raw_os_error(self.errno))
        }
    }
}

/// What an engine may want to know before it starts its worker threads.
#[derive(Clone)]
pub struct PoolBrief {
    /// How many it is to start.
    pub workers: usize,
    /// Whether the lane that they run both sends and receives.
    pub alone: bool,
    /// What each of them is to do first.
    pub at_start: Arc<dyn Fn() + Send + Sync>,
}

/// What an engine may want to know before it starts.
#[derive(Clone, Debug)]
pub struct LaneBrief {
    /// For engines whose futures suspend.
    pub wakeups: Arc<Wakeups>,
    /// For engines of which one call may last as long as the flood: they publish from within.
    pub meter: Arc<Meter>,
    /// The threads that are to run the lane, if not its own.
    pub pool: Option<Pool>,
    /// Whether the lane both sends and receives.
    pub alone: bool,
}

/// What an engine has to say about how it went, if anything.
pub type Remark = Option<&'static str>;

/// The sending half of an engine. `Send`, with its futures: `--tokio-workers` has other threads run them.
pub trait Transmit: Send {
    /// Moves one burst out, after `fill` has seen its memory.
    ///
    /// # Errors
    /// What the system call said. `Interrupted` and `WouldBlock` are normal: the workload looks at its
    /// stop flag and calls again. Anything else is counted, and ends the lane only when it persists.
    fn transmit(&mut self, fill: &impl Fill) -> impl Future<Output = io::Result<Burst>> + Send;

    /// Anything that the row should say about how it went. Asked once, after the loop.
    fn remark(&self) -> Remark {
        None
    }
}

/// The receiving half of an engine. `Send`, with its futures, as [`Transmit`].
pub trait Receive: Send {
    /// Moves one burst in, and shows each datagram to `check`. May wait for it, but must return
    /// `Interrupted` when a signal ends the wait, and `WouldBlock` when [`ReceiveEnd::recv_timeout`] ran out.
    ///
    /// # Errors
    /// As for [`Transmit::transmit`].
    fn receive<I: Check>(
        &mut self,
        check: &mut I,
    ) -> impl Future<Output = io::Result<Burst>> + Send;
}

/// Whether the sockets of a case are connected: decided once, as a type, outside every loop.
pub trait Addressing: Send + 'static {
    /// `true`: `send`/`recv` on connected sockets. `false`: `send_to`/`recv_from`.
    const CONNECTED: bool;
}

/// `connect(2)` was called; datagrams carry no address. See [`Addressing`].
pub enum Connected {}
/// Every datagram names its destination and reports its source. See [`Addressing`].
pub enum Unconnected {}

impl Addressing for Connected {
    const CONNECTED: bool = true;
}
impl Addressing for Unconnected {
    const CONNECTED: bool = false;
}

/// What a sender is given: a bound (and, in a connected case, connected) blocking socket.
#[derive(Debug)]
pub struct SendEnd {
    /// The socket, blocking.
    pub socket: UdpSocket,
    /// Where the datagrams go.
    pub peer: SocketAddr,
    /// Payload of each datagram, in bytes.
    pub payload_bytes: usize,
    /// Datagrams that one call may move, for engines that batch.
    pub batch: usize,
    /// Makes each datagram hold something else, while the engine is verified.
    pub writer: Option<SequenceWriter>,
    /// Stands in for the kernel in the one engine that uses none (`null`).
    pub null_link: Arc<NullLink>,
}

impl SendEnd {
    /// The datagram that is sent again and again. Not zeros: where the allocator gets zeroed pages from
    /// the kernel, as musl's does, all of them would be one and the same page of memory.
    pub fn payload(&self) -> Vec<u8> {
        vec![0xA5; self.payload_bytes]
    }

    /// For engines that hand over `count` datagrams at a time, each from memory of its own only if each is
    /// to hold something else.
    pub fn payloads(&self, count: usize) -> Vec<u8> {
        let distinct = if self.writer.is_some() { count } else { 1 };
        self.payload().repeat(distinct)
    }
}

/// What a receiver is given: a bound (and, where one peer is known, connected) blocking socket.
#[derive(Debug)]
pub struct ReceiveEnd {
    /// The socket, blocking.
    pub socket: UdpSocket,
    /// Payload that the senders use, in bytes.
    pub payload_bytes: usize,
    /// Datagrams that one call may move, for engines that batch.
    pub batch: usize,
    /// How long one receive may wait before it returns `WouldBlock`. `None`: until something comes. Zero, not at
    /// all, only where the engine [`About::spins`].
    /// Set in the one-thread mode, where a lost datagram would otherwise hang the only thread.
    pub recv_timeout: Option<Duration>,
    /// Where each datagram is entered, while the engine is verified.
    pub tracker: Option<Arc<SequenceTracker>>,
    /// The null_links of the senders whose flows end here, for `null`.
    pub null_links: Vec<Arc<NullLink>>,
}

impl ReceiveEnd {
    /// Has the socket wait as long as a receive may.
    ///
    /// # Errors
    /// What the system said.
    pub fn limit_wait(&self) -> io::Result<()> {
        if self.recv_timeout == Some(Duration::ZERO) {
            self.socket.set_nonblocking(true)
        } else {
            self.socket.set_read_timeout(self.recv_timeout)
        }
    }
}

/// Threads that the lanes of a run share, and what they run: only their engine knows.
pub type Pool = Arc<dyn Any + Send + Sync>;

/// A way to move datagrams: a socket API plus its loop.
pub trait Engine: Sized + 'static {
    /// What people need to know before they choose it.
    const ABOUT: About;
    /// The sending half.
    type Sender<A: Addressing>: Transmit;
    /// The receiving half.
    type Receiver<A: Addressing>: Receive;

    /// Starts what the lane's halves share (a runtime, a ring, mostly nothing), on the lane's own thread.
    ///
    /// # Errors
    /// What the system said; the case becomes a `failed` row.
    fn start(brief: &LaneBrief) -> io::Result<Self>;

    /// Builds the sending half, on the lane's own thread, before the start.
    ///
    /// # Errors
    /// As for [`Engine::start`].
    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<Self::Sender<A>>;

    /// Builds the receiving half, on the lane's own thread, before the start.
    ///
    /// # Errors
    /// As for [`Engine::start`].
    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<Self::Receiver<A>>;

    /// Starts the worker threads that all lanes of a run share, for engines with [`About::shares_workers`].
    ///
    /// # Errors
    /// As for [`Engine::start`].
    fn pool(_brief: PoolBrief) -> io::Result<Pool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Can it run here?
    ///
    /// # Errors
    /// The reason why not, for the plan and for `udpbench engines`.
    fn probe() -> Result<(), String> {
        Ok(())
    }

    /// Drives one of the engine's futures to its end, on this thread or, while this one waits, on others. The
    /// default is for engines that never suspend.
    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        poll_once(future)
    }
}

/// Drives a future that never suspends.
///
/// # Panics
/// If it does suspend: then its engine needs a [`Engine::run`] of its own.
#[inline]
pub fn poll_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a blocking engine's future suspended"),
    }
}

#[cfg(test)]
mod tests;
