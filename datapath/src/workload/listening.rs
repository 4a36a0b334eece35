//! The loop of `listen`: receives datagrams that udpbench did not send, and counts them. It sends nothing.
//!
//! It runs on no engine: engines hand over neither arrival times nor drops. It makes one system call for up to 64
//! datagrams and sleeps while there are none, so that it is faster than most programs in whose place it listens.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::data::listened::{Backlog, Heard, ListenWindow, Listened};
use crate::data::sequence_field::Numbered;
use crate::sys::clock::{monotonic_ns, own_cpu_ns, realtime_ns};
use crate::sys::clock_watch::{ClockSet, ClockWatch};
use crate::sys::interrupt::Interrupt;
use crate::sys::socket_queues::{receive_queue, socket_drops};
use crate::sys::stamped_receive::StampedBatch;

/// Datagrams per system call.
const BATCH: usize = 64;
/// Settings of the clock that are kept.
const KEPT_CLOCK_SETS: usize = 20;
/// Longest time in which the queue is emptied at the end.
const LAST_NS: u64 = 100_000_000;

/// Quantities to count, and the length of the run.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// Position of the sequence number in datagrams. `None`: they have none.
    pub numbered: Option<Numbered>,
    /// Shortest gap that counts as a silence.
    pub silence: Option<Duration>,
    /// Length of a window.
    pub window: Duration,
    /// Length of the run. `None`: until the interrupt.
    pub length: Option<Duration>,
    /// Drops of the socket before the run.
    pub drops_before: u32,
}

/// Channels of full windows and of empty ones.
#[derive(Debug)]
pub struct WindowPipe {
    /// Windows that are over. The loop ends if nobody receives them.
    pub over: SyncSender<ListenWindow>,
    /// Windows to use again. While there is none, the current one goes on.
    pub spare: Receiver<ListenWindow>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct ListenEnd {
    /// Counts of the whole run that are not sums over windows.
    pub listened: Listened,
    /// The part of the run after the last window that was handed over.
    pub last_window: ListenWindow,
    /// The longest backlog.
    pub backlog: Backlog,
    /// Times that somebody set the clock of this machine, and the first 20 of these.
    pub clock_sets: (u64, Vec<ClockSet>),
    /// Time of the end since 1970, in nanoseconds.
    pub ended_ns: u64,
}

/// A running loop.
struct Listening<'a> {
    socket: &'a UdpSocket,
    interrupt: &'a Interrupt,
    options: ListenOptions,
    pipe: WindowPipe,
    clock: ClockWatch,
    batch: StampedBatch,
    window: ListenWindow,
    /// Start of the window by the monotonic clock.
    opened_ns: u64,
    cpu_ns: u64,
    /// Drops of the socket at the start of the window.
    drops: u32,
    /// Drops of the socket before the last datagram, since it was made. `None`: nothing has come yet.
    dropped_before: Option<u32>,
    end: ListenEnd,
}

/// Listens until the interrupt, until the run is over, or until nobody takes windows any more.
///
/// # Errors
/// Returns an error of the socket that is not over with the next call.
pub fn listen(
    socket: &UdpSocket,
    options: ListenOptions,
    interrupt: &Interrupt,
    pipe: WindowPipe,
) -> io::Result<ListenEnd> {
    let mut listening = Listening::new(socket, options, interrupt, pipe);
    listening.run()?;
    Ok(listening.finish())
}

impl<'a> Listening<'a> {
    fn new(
        socket: &'a UdpSocket,
        options: ListenOptions,
        interrupt: &'a Interrupt,
        pipe: WindowPipe,
    ) -> Self {
        let silence = options.silence.map(|it| u64::try_from(it.as_nanos()));
        let silence_ns = silence.map(|ns| ns.unwrap_or(u64::MAX));
        let drops = options.drops_before;
        let needed = options.numbered.map_or(1, Numbered::needed_bytes);
        let mut listening = Self {
            socket,
            interrupt,
            options,
            pipe,
            clock: ClockWatch::start(),
            batch: StampedBatch::new(BATCH, needed),
            window: ListenWindow::new(),
            opened_ns: monotonic_ns(),
            cpu_ns: own_cpu_ns().unwrap_or_default(),
            drops,
            dropped_before: None,
            end: ListenEnd {
                listened: Listened::new(options.numbered, silence_ns),
                last_window: ListenWindow::default(),
                backlog: Backlog::new(drops),
                clock_sets: (0, Vec::with_capacity(KEPT_CLOCK_SETS)),
                ended_ns: 0,
            },
        };
        listening.open_window();
        listening
    }

    fn run(&mut self) -> io::Result<()> {
        let ns = |it: Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX);
        let window_ns = ns(self.options.window);
        let end_ns = self
            .options
            .length
            .map(|length| self.opened_ns.saturating_add(ns(length)));
        let mut until_ns = self.opened_ns.saturating_add(window_ns);
        loop {
            let now = monotonic_ns();
            let is_over = end_ns.is_some_and(|end| now >= end) || self.interrupt.signal().is_some();
            if is_over {
                break;
            }
            if now >= until_ns {
                if !self.hand_over() {
                    break;
                }
                // After a pause longer than a window, such as by SIGSTOP, one window has it all.
                while until_ns <= now {
                    until_ns = until_ns.saturating_add(window_ns);
                }
            }
            let until = end_ns.map_or(until_ns, |end| end.min(until_ns));
            if self.wait(until.saturating_sub(now)) {
                self.take_all(until)?;
            }
        }
        self.look_at_clock();
        // What is in the queue belongs to the run.
        self.take_all(monotonic_ns() + LAST_NS)?;
        self.end.ended_ns = realtime_ns();
        Ok(())
    }

    /// Sleeps until there are datagrams, and returns whether there are.
    fn wait(&mut self, ns: u64) -> bool {
        let socket = self.socket.as_fd();
        let clock = self.clock.as_fd().unwrap_or(socket);
        let mut watched =
            [socket, self.interrupt.as_fd(), clock].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let timeout = TimeSpec::from_duration(Duration::from_nanos(ns));
        // An error (EINTR) leads to the next turn of the loop.
        let is_ready = ppoll(&mut watched, Some(timeout), None).is_ok();
        let [has_datagrams, _, is_set] = watched.map(|it| is_ready && it.any().unwrap_or(false));
        if is_set && self.clock.as_fd().is_some() {
            self.look_at_clock();
        }
        has_datagrams
    }

    /// Notes if somebody set the clock.
    fn look_at_clock(&mut self) {
        let Some(set) = self.clock.look() else {
            return;
        };
        self.window.clock_set_ns += set.by_ns;
        self.window.clock_sets += 1;
        self.end.listened.set_clock(set.by_ns);
        let (count, first) = &mut self.end.clock_sets;
        *count += 1;
        if first.len() < KEPT_CLOCK_SETS {
            first.push(set);
        }
    }

    /// Reads until the queue is empty, or until the monotonic clock shows `until_ns`.
    fn take_all(&mut self, until_ns: u64) -> io::Result<()> {
        if let Ok(queue) = receive_queue(self.socket) {
            self.window.queued_bytes = self.window.queued_bytes.max(queue.queued_bytes);
            let backlog = &mut self.end.backlog;
            backlog.queue(queue.queued_bytes, queue.drops, realtime_ns());
        }
        loop {
            let received = match self.batch.receive(self.socket) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for n in 0..received {
                self.take(n);
            }
            if received < self.batch.capacity() {
                if let Ok(queue) = receive_queue(self.socket) {
                    self.end.backlog.drops(queue.drops);
                }
                self.end.backlog.empty();
                return Ok(());
            }
            if monotonic_ns() >= until_ns {
                return Ok(());
            }
        }
    }

    /// Counts a datagram of the batch.
    fn take(&mut self, n: usize) {
        let datagram = self.batch.datagram(n);
        let arrived_ns = datagram.arrived_ns.unwrap_or_else(realtime_ns);
        self.window.unstamped += u64::from(datagram.arrived_ns.is_none());
        if self.dropped_before.is_none() {
            // If it was queued before the start, what was dropped since then belongs to the run.
            let at_start = self.options.drops_before;
            let older = older_drops(at_start, datagram.dropped_before);
            self.drops = self.drops.wrapping_sub(older);
            self.end.backlog.older(older);
        }
        let dropped = dropped_since(&mut self.dropped_before, datagram.dropped_before);
        self.end.backlog.datagram(arrived_ns);
        let heard = Heard {
            source: datagram.source,
            interface: datagram.interface,
            bytes: datagram.bytes,
            payload: datagram.payload,
            arrived_ns,
            dropped,
        };
        self.end.listened.enter(&heard, &mut self.window);
    }

    fn open_window(&mut self) {
        self.window.clear();
        self.window.opened_ns = realtime_ns();
        self.end.listened.begin_window();
    }

    /// Hands the window over and begins the next one, if there is a spare one. Returns false if nobody takes windows.
    fn hand_over(&mut self) -> bool {
        let spare = match self.pipe.spare.try_recv() {
            Ok(spare) => spare,
            Err(TryRecvError::Empty) => return true,
            Err(TryRecvError::Disconnected) => return false,
        };
        self.close_window(socket_drops(self.socket).ok());
        let over = std::mem::replace(&mut self.window, spare);
        match self.pipe.over.try_send(over) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => return false,
        }
        self.open_window();
        true
    }

    /// Completes the counts of the window. `drops` are those of the socket since it was made, if known.
    fn close_window(&mut self, drops: Option<u32>) {
        self.look_at_clock();
        let now = monotonic_ns();
        self.window.length_ns = now.saturating_sub(self.opened_ns);
        self.opened_ns = now;
        let cpu_ns = own_cpu_ns().unwrap_or_default();
        self.window.cpu_ns = cpu_ns.saturating_sub(self.cpu_ns);
        self.cpu_ns = cpu_ns;
        if let Some(drops) = drops {
            self.window.socket_drops = drops.wrapping_sub(self.drops).into();
            self.drops = drops;
        }
        self.end.listened.close_window(&mut self.window);
    }

    fn finish(mut self) -> ListenEnd {
        // Later drops are not of the run, neither here nor in the last window.
        let drops = socket_drops(self.socket).ok();
        let after = drops.zip(self.dropped_before);
        let after = after.map(|(drops, before)| drops.wrapping_sub(before));
        self.end.listened.finish(after.unwrap_or(0).into());
        self.close_window(drops);
        self.end.last_window = self.window;
        self.end
    }
}

/// Returns the drops between the arrival of the first datagram and the start, from the drops of the socket before each.
///
/// The kernel tells no count of 0 (`sock_recv_drops`, net/socket.c).
fn older_drops(at_start: u32, before_first: Option<u32>) -> u32 {
    let older = at_start.wrapping_sub(before_first.unwrap_or(0));
    if older > u32::MAX / 2 { 0 } else { older }
}

/// Returns the drops of the socket between two datagrams, from its drops before each, and keeps the latter.
///
/// Drops before the first datagram do not matter: the queue may have been full then. CPUs that queue datagrams at the
/// same time may take their counts in another order.
fn dropped_since(earlier: &mut Option<u32>, now: Option<u32>) -> u32 {
    let last = earlier.or(now).unwrap_or(0);
    let dropped = now.unwrap_or(last).wrapping_sub(last);
    let dropped = if dropped > u32::MAX / 2 { 0 } else { dropped };
    *earlier = Some(last.wrapping_add(dropped));
    dropped
}

#[cfg(test)]
mod tests;
