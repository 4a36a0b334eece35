//! Programs in any language (`--engine exec:PROGRAM`): each bench thread starts one process, gives it the thread's
//! socket and a page of shared memory, and publishes the counts that the process writes there.
//!
//! `docs/OWN-LOOP.md` describes the life of such a program. While it runs, the bench thread sleeps, and wakes a few
//! times a second: the counts are read from the page when they are needed.

mod child;
mod counts;
mod page;
mod programs;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::UdpGroSegment;
use socket2::SockRef;

use self::child::Child;
pub use self::child::end_all;
use self::counts::{Contents, Role, Shared};
use self::page::{Page, Published, at};
pub(super) use self::programs::probe;
pub use self::programs::{add, add_all, all, find};
use crate::data::{Batch, Sched};
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{Endpoint, IoOptions, OutsideCounts, Remark};
use crate::sys::protocols::Protocols;
use crate::workload::context::ThreadContext;
use crate::workload::{self, Program, RoundTripMeter, TIMEOUT_NS};

/// Time in which a program has to be ready.
const STARTS_WITHIN: Duration = Duration::from_secs(10);
/// Time in which a program has to end once it is told to.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
/// Time between two looks at a running program. Each costs some 5 us of the CPU that it runs on.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two looks at a client: the page has room for 65,536 round-trip times.
const LOOK_AT_ROUND_TRIPS: Duration = Duration::from_millis(10);
/// Time between two looks while datagrams are verified, as each one passes through a slot.
const LOOK_VERIFYING: Duration = Duration::from_micros(100);

/// Runs a bench thread: starts its program, waits at the start barrier, and ends the program at the stop.
///
/// # Errors
/// Fails if the program cannot be started, is not ready in time, ends too early, does not end, or publishes counts that
/// cannot be right. The message quotes what the program said last. No process is left running.
pub(super) fn run(program: Program, thread: &Arc<ThreadContext>) -> io::Result<Remark> {
    let path = thread.executable.ok_or(io::ErrorKind::InvalidInput)?;
    let bench = Bench::new(program)?;
    let shared = Arc::new(Shared::new(bench.page()?, bench.role));
    let given = [bench.endpoint.socket.as_fd(), shared.page.file()];
    let mut child = Child::start(path, given, thread.sched.map(Sched::class))?;
    get_ready(&mut child, &shared.page)?;
    refuse_company(&mut child)?;
    let delivered = bench.delivered();
    let counts = Arc::clone(&shared) as Arc<dyn OutsideCounts>;
    thread.meter.run_outside(child.pid(), counts);
    thread.wait_at_start()?;
    shared.page.set(at::GO, 1);
    let mut contents = Contents::new(&bench);
    let is_stopped = || {
        if bench.role.initiates() {
            thread.sending_stopped()
        } else {
            thread.receiving_stopped()
        }
    };
    let look = match bench.role {
        _ if bench.verifies() => LOOK_VERIFYING,
        Role::Client => LOOK_AT_ROUND_TRIPS,
        _ => LOOK,
    };
    let mut exchange = |child: &mut Child| {
        let counts = shared.copy_counts(&thread.meter);
        counts
            .and_then(|counts| contents.exchange(&shared.page, &counts).map(|()| counts))
            .map_err(|did| child.error(did))
    };
    while !is_stopped() {
        exchange(&mut child)?;
        if child.wait(look) {
            return Err(child.error("ended during the trial"));
        }
    }
    refuse_company(&mut child)?;
    let ended = end(&mut child, bench.role, &shared.page);
    let exchanged = exchange(&mut child);
    if bench.role.initiates() {
        thread.done_sending();
    }
    let counts = exchanged?;
    ended?;
    if let Some(wrong) = bench.wrong_bytes(&counts) {
        return Err(child.error(&wrong));
    }
    if let Some(surplus) = bench.surplus(delivered, counts.packets) {
        return Err(child.error(&format!(
            "counted {surplus} datagrams more than UDP delivered to all sockets of this host"
        )));
    }
    Ok(None)
}

/// Waits until the program is set up.
fn get_ready(child: &mut Child, page: &Page) -> io::Result<()> {
    let end = Instant::now() + STARTS_WITHIN;
    while !page.is_ready() {
        if child.wait(Duration::from_millis(1)) {
            return Err(child.error("ended before it was ready"));
        }
        if Instant::now() > end {
            let seconds = STARTS_WITHIN.as_secs();
            return Err(child.error(&format!("was not ready after {seconds} s")));
        }
    }
    Ok(())
}

/// Fails if the program has started other processes.
fn refuse_company(child: &mut Child) -> io::Result<()> {
    if child.has_company() {
        return Err(child.error("started other processes: a script has to exec its program"));
    }
    Ok(())
}

/// Ends the program. Senders and clients end by themselves, so that their counts are final. Receivers and servers have
/// an empty queue by now: they may be blocked in a receive, which a signal ends together with the process.
fn end(child: &mut Child, role: Role, page: &Page) -> io::Result<()> {
    page.set(at::STOP, 1);
    if !role.initiates() {
        child.terminate();
        child.wait_for_exit(ENDS_WITHIN);
        return child.finish().map(drop);
    }
    if !child.wait_for_exit(ENDS_WITHIN) {
        let seconds = ENDS_WITHIN.as_secs();
        return Err(child.error(&format!("did not end within {seconds} s after `stop`")));
    }
    if child.finish()?.success() {
        Ok(())
    } else {
        Err(child.error("failed"))
    }
}

/// Work that a bench thread hands to its program: the endpoint, and the task that its page will say.
struct Bench {
    role: Role,
    endpoint: Endpoint,
    options: IoOptions,
    /// Writer of the datagrams to send, while they are verified.
    writer: Option<SequenceWriter>,
    /// Tracker of the received datagrams, while they are verified.
    tracker: Option<Arc<SequenceTracker>>,
    round_trips: Option<Arc<RoundTripMeter>>,
}

impl Bench {
    fn new(program: Program) -> io::Result<Self> {
        let round_trips = program.round_trips();
        let (role, mut options, writer, tracker) = match program {
            Program::Flood(mut out) => (Role::Send, out.options, out.writers.pop(), None),
            Program::Sink(into) => (Role::Receive, into.options, None, into.tracker),
            Program::Roles(options, mut roles) => {
                let role = roles.pop().ok_or(io::ErrorKind::InvalidInput)?;
                let tracker = role.tracker();
                match role {
                    workload::Role::Client(client) => {
                        let writer =
                            SequenceWriter::new(client.numbering.first_flow, options.payload_bytes);
                        let writer = tracker.is_some().then_some(writer);
                        (Role::Client, options, writer, tracker)
                    }
                    workload::Role::Server(_) => (Role::Server, options, None, tracker),
                    _ => return Err(io::ErrorKind::Unsupported.into()),
                }
            }
            Program::Turns(..) => return Err(io::ErrorKind::Unsupported.into()),
        };
        let endpoint = options.only_endpoint()?;
        options.apply_wait(&endpoint.socket)?;
        Ok(Self {
            role,
            endpoint,
            options,
            writer,
            tracker,
            round_trips,
        })
    }

    /// Returns what is wrong with the bytes that were counted as received, if it is.
    fn wrong_bytes(&self, counts: &Published) -> Option<String> {
        let packets = match self.role {
            Role::Send => return None,
            Role::Client => counts.answered + counts.late,
            Role::Receive | Role::Server => counts.packets,
        };
        let (bytes, each) = (counts.bytes, self.options.payload_bytes as u64);
        (bytes != packets * each)
            .then(|| format!("counted {bytes} B in {packets} datagrams of {each} B"))
    }

    /// Makes the page, on which the program reads its task.
    fn page(&self) -> io::Result<Page> {
        let options = &self.options;
        let longest = options.payload_bytes.max(options.buffer_bytes);
        let page = Page::new(longest, self.verifies())?;
        let own = SockRef::from(&self.endpoint.socket).local_addr();
        let is_ipv6 = own.is_ok_and(|it| it.is_ipv6());
        for (at, value) in [
            (at::ROLE, self.role as usize),
            (at::PAYLOAD, options.payload_bytes),
            (at::BUFFER, options.buffer_bytes),
            // `--batch` is a parameter of engines that are known to batch.
            (at::BATCH, Batch::DEFAULT.count()),
            (at::CONNECTED, options.is_connected().into()),
            (at::SPIN, options.spins.into()),
            (at::TIMEOUT_MS, (TIMEOUT_NS / 1_000_000) as usize),
            (at::IP, if is_ipv6 { 6 } else { 4 }),
        ] {
            page.set(at, value);
        }
        if let Some(peer) = self.endpoint.peer {
            page.set_peer(peer);
        }
        Ok(page)
    }

    /// Returns whether the contents of datagrams are checked.
    fn verifies(&self) -> bool {
        self.writer.is_some() || self.tracker.is_some()
    }

    /// Returns the datagrams that UDP has delivered to all sockets of this host, if this end receives.
    fn delivered(&self) -> Option<u64> {
        let receives = matches!(self.role, Role::Receive | Role::Server);
        receives.then(|| Protocols::read().in_datagrams())
    }

    /// Returns how many more datagrams a receiver has counted than UDP has delivered since `before`. `None`: none,
    /// unknown, or the kernel may deliver several as one (GRO).
    fn surplus(&self, before: Option<u64>, counted: u64) -> Option<u64> {
        let coalesces = getsockopt(&self.endpoint.socket, UdpGroSegment).unwrap_or(false);
        let before = before.filter(|_| !coalesces)?;
        // 0: this kernel does not say.
        let now = Some(Protocols::read().in_datagrams()).filter(|&now| now > 0)?;
        Some(counted.saturating_sub(now.wrapping_sub(before))).filter(|&surplus| surplus > 0)
    }
}
