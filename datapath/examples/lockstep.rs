//! Fixed numbers of datagrams for an observer outside the program: `scripts/instructions.py` runs this under valgrind's
//! callgrind, `scripts/system_calls.py` under strace. It has the loops and engines of the product.
//!
//!     lockstep ENGINE flood N    one thread sends a burst and receives it, again and again
//!     lockstep ENGINE rr N       a client and a server, one request at a time
//!     lockstep ENGINE paced N    a sender at a fixed rate, and a receiver
//!     lockstep --list            every engine of this build, its summary, and why it cannot run here, if it cannot;
//!                                between tabs
//!
//! Each goes over connected and unconnected sockets, the first one also with control messages if the engine carries
//! them (`--cmsg`), and over each other transport. Each has three runs, the last one of N datagrams or more, the
//! others of a tenth. The first is for whatever a process does only once. The last two differ in nothing but how often
//! the loop went round, so all else cancels in the difference. After each run a line says what it went over, and the
//! numbers of datagrams that the last thread received and the first one sent.
//!
//! callgrind, told to collect in [`run_thread`] only and to dump its count after it, writes a dump per thread.

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use udpbench_datapath::data::{Arrivals, Batch, Cmsg, Connection};
use udpbench_datapath::engine::null_endpoint::NullEndpoint;
use udpbench_datapath::engine::{Controls, Direction, Endpoint, IoOptions, Meter};
use udpbench_datapath::engines::{self, Carrier, Entry};
use udpbench_datapath::sys::wakeup;
use udpbench_datapath::workload::context::{Control, ThreadContext};
use udpbench_datapath::workload::{
    Client, DueTimes, Incoming, Numbering, Outgoing, PacedFlood, Program, Role, Rotation, Server,
};

/// The last run has this many times the datagrams of the others. An engine that moves a thousand datagrams before
/// anybody looks at its count overshoots all.
const MANY_TIMES: u64 = 10;
/// Segmentation offload takes 128 of them per call, as many as the kernel allows.
const PAYLOAD_BYTES: usize = 300;
/// Much longer than the slowest engine needs under callgrind.
const DEADLINE: Duration = Duration::from_secs(300);

/// Time between two datagrams of a paced flood. Even under an observer a receiver is back at its wait before
/// the next one.
const GAP_NS: f64 = 1_000_000.0;

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error:#}");
        exit(1)
    }
}

fn run() -> anyhow::Result<()> {
    wakeup::install()?;
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => list(),
        [name, workload, packets] => match (engines::find(name), packets.parse()) {
            (None, _) => refuse(&format!("{name} is no engine of this build; see --list")),
            (_, Err(_)) => refuse(&format!("{packets} is no number of datagrams")),
            (Some(entry), Ok(packets)) => {
                move_datagrams(entry, Workload::parse(workload), packets)?;
            }
        },
        _ => refuse("name an engine, a workload and a number of datagrams; see --list"),
    }
    Ok(())
}

fn refuse(why: &str) -> ! {
    eprintln!("error: {why}");
    exit(2)
}

fn list() {
    for entry in engines::all() {
        let why_not = entry.probe().err().unwrap_or_default();
        println!("{entry}\t{}\t{why_not}", entry.about.summary);
    }
}

/// What the threads of a run do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Workload {
    /// One thread sends and receives in turn.
    Turns,
    /// A client sends a request after each response.
    Requests,
    /// One thread sends at a fixed rate, another one receives.
    Paced,
}

impl Workload {
    fn parse(text: &str) -> Self {
        match text {
            "flood" => Self::Turns,
            "rr" => Self::Requests,
            "paced" => Self::Paced,
            other => refuse(&format!("{other} is no workload: flood, rr or paced")),
        }
    }
}

fn move_datagrams(entry: &'static Entry, workload: Workload, packets: u64) -> anyhow::Result<()> {
    let about = &entry.about;
    let cannot = match workload {
        Workload::Turns => false,
        Workload::Requests => about.can_serve_requests.is_err(),
        // A receiver that was held up until its queue was full would wait forever.
        Workload::Paced => about.starves.is_some(),
    };
    if cannot {
        return Ok(());
    }
    // An engine that only sends or only receives runs with its partner.
    let (sender, receiver) = entry.pair();
    let entry = engines::together(sender, receiver).unwrap_or(entry);
    let connections = [Connection::Connected, Connection::Unconnected];
    let udp = connections.map(Over::Udp).into_iter();
    let others = if workload == Workload::Turns {
        let has_controls = about.control_messages != Cmsg::NONE;
        let with_controls = connections.map(Over::UdpWithControls).into_iter();
        let with_controls = with_controls.filter(|_| has_controls);
        let transports = entry.carriers().map(Over::Other);
        with_controls.chain(transports).collect()
    } else {
        Vec::new()
    };
    for over in udp.chain(others) {
        let run = |fewest| {
            let moved = move_at_least(fewest, entry, over, workload);
            let (sent, received) = moved.with_context(|| format!("{entry}, {over}"))?;
            println!("{over} {received} {sent}");
            anyhow::Ok(received)
        };
        run(packets / MANY_TIMES)?;
        let few = run(packets / MANY_TIMES)?;
        run(packets.max(few * MANY_TIMES))?;
    }
    Ok(())
}

/// Transport of the datagrams.
#[derive(Clone, Copy)]
enum Over {
    Udp(Connection),
    /// With all kinds of control messages that the engine carries.
    UdpWithControls(Connection),
    Other(&'static Carrier),
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(connection) => connection.fmt(f),
            Self::UdpWithControls(connection) => write!(f, "{connection}+cmsg"),
            Self::Other(carrier) => carrier.transport.fmt(f),
        }
    }
}

/// Runs threads until the last one has received so many datagrams. Returns the datagrams that the first one sent and
/// the last one received.
fn move_at_least(
    packets: u64,
    entry: &'static Entry,
    over: Over,
    workload: Workload,
) -> anyhow::Result<(u64, u64)> {
    let control = Arc::new(Control::default());
    let programs = programs(entry, over, workload).context("cannot make two sockets")?;
    let start = |program| {
        let meter = Arc::new(Meter::default());
        let context = ThreadContext::new(Arc::clone(&control), Arc::clone(&meter));
        let control = Arc::clone(&control);
        let thread = thread::spawn(move || {
            run_thread(entry, program, over, &Arc::new(context))
                .inspect_err(|_| control.start_barrier.fail())
        });
        (meter, thread)
    };
    let threads: Vec<_> = programs.into_iter().map(start).collect();
    // A train that comes before its receiver has set UDP_GRO comes as single datagrams. If one fails, its error is
    // told below.
    if control.start_barrier.wait_for(threads.len()) {
        control.start_barrier.open();
    }
    let received = || {
        threads
            .last()
            .map_or(0, |(meter, _)| meter.received.read().packets)
    };
    let started = Instant::now();
    while !threads.iter().all(|(_, thread)| thread.is_finished()) {
        if received() >= packets {
            // In turns this flag alone, so that the loop always ends in one place.
            if workload == Workload::Turns {
                control.stop_receiving();
            } else if threads[0].0.done_sending.load(Ordering::Acquire) {
                control.stop_receiving();
                for (meter, _) in &threads {
                    interrupt(meter);
                }
            } else {
                // Not the receiver: each interrupt is a call of it.
                control.stop_sending();
                interrupt(&threads[0].0);
            }
        }
        ensure!(
            started.elapsed() < DEADLINE,
            "of {packets} datagrams only {} came within {DEADLINE:?}: {}",
            received(),
            whereabouts(threads.iter().map(|(meter, _)| &**meter))
        );
        thread::sleep(Duration::from_millis(1));
    }
    let moved = (threads[0].0.sent.read(), received());
    for (_, thread) in threads {
        match thread.join() {
            Ok(outcome) => outcome.context("the thread failed")?,
            Err(_) => bail!("the thread panicked"),
        }
    }
    Ok(moved)
}

/// Returns what each thread has moved, and the call that it is in: its number and arguments (proc_pid_syscall(5)).
fn whereabouts<'m>(meters: impl Iterator<Item = &'m Meter>) -> String {
    let of = |meter: &Meter| {
        let tid = meter.tid.load(Ordering::Relaxed);
        let call = fs::read_to_string(format!("/proc/self/task/{tid}/syscall"));
        let (sent, received) = (meter.sent.read(), meter.received.read().packets);
        let call = call.unwrap_or_else(|error| error.to_string());
        format!("{sent} sent, {received} received, in {}", call.trim_end())
    };
    meters.map(of).collect::<Vec<_>>().join("; ")
}

/// Ends whatever a thread waits for.
fn interrupt(meter: &Meter) {
    match meter.tid.load(Ordering::Relaxed) {
        0 => {}
        tid => wakeup::interrupt(tid),
    }
    meter.wakeups.interrupt();
}

fn options(
    direction: Direction,
    endpoint: Endpoint,
    null: NullEndpoint,
    (connection, controls): (Connection, Controls),
) -> IoOptions {
    IoOptions {
        connection,
        batch: Batch::DEFAULT.count(),
        controls,
        ..IoOptions::of(
            vec![Endpoint { null, ..endpoint }],
            direction,
            PAYLOAD_BYTES,
        )
    }
}

/// Function that callgrind counts, by its name.
#[inline(never)]
fn run_thread(
    entry: &Entry,
    program: Program,
    over: Over,
    context: &Arc<ThreadContext>,
) -> io::Result<()> {
    let tid = nix::unistd::gettid().as_raw();
    context.meter.tid.store(tid, Ordering::Relaxed);
    let run = match over {
        Over::Udp(_) | Over::UdpWithControls(_) => entry.thread,
        Over::Other(carrier) => carrier.thread,
    };
    run(program, context).map(drop)
}

/// Both ends of a flow, the sender's first.
fn endpoints(over: Over) -> io::Result<(Endpoint, Endpoint)> {
    let transport = match over {
        Over::Udp(connection) | Over::UdpWithControls(connection) => {
            let bind = || UdpSocket::bind("127.0.0.1:0");
            let (sender, receiver) = (bind()?, bind()?);
            let peer = receiver.local_addr()?;
            if connection == Connection::Connected {
                sender.connect(peer)?;
                receiver.connect(sender.local_addr()?)?;
            }
            return Ok((
                Endpoint::of(sender, Some(peer)),
                Endpoint::of(receiver, None),
            ));
        }
        Over::Other(carrier) => carrier.transport,
    };
    let ends: (OwnedFd, OwnedFd) = if transport.is_unix() {
        if transport.keeps_messages() {
            let (near, far) = UnixDatagram::pair()?;
            (near.into(), far.into())
        } else {
            let (near, far) = UnixStream::pair()?;
            (near.into(), far.into())
        }
    } else {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        // What is sent is to come before the next is.
        near.set_nodelay(true)?;
        (near.into(), far.into())
    };
    Ok((
        Endpoint::of_client(ends.0, None),
        Endpoint::of(ends.1, None),
    ))
}

/// Returns the programs of the threads, that of the receiver last.
fn programs(entry: &Entry, over: Over, workload: Workload) -> io::Result<Vec<Program>> {
    let (sender, receiver) = endpoints(over)?;
    let calls = match over {
        Over::UdpWithControls(connection) => {
            let kinds = entry.about.control_messages;
            (connection, Controls::new(kinds, kinds, 0))
        }
        Over::Udp(connection) => (connection, Controls::default()),
        Over::Other(_) => (Connection::Connected, Controls::default()),
    };
    let out = NullEndpoint::default();
    let incoming = NullEndpoint {
        incoming: vec![Arc::clone(&out.out)],
        ..NullEndpoint::default()
    };
    let one = |direction, endpoint, null| IoOptions {
        batch: 1,
        ..options(direction, endpoint, null, calls)
    };
    let incoming_part = |options| Incoming {
        options,
        tracker: None,
        flows: None,
    };
    Ok(match workload {
        Workload::Turns => vec![in_turn((sender, out), (receiver, incoming), calls)],
        Workload::Requests => {
            let client = Client::new(Numbering::new(0, None), (1, 1), Arc::default());
            let server = Role::Server(Server::new(None, None));
            vec![
                Program::Roles(
                    one(Direction::Both, sender, out),
                    vec![Role::Client(client)],
                ),
                Program::Roles(one(Direction::Both, receiver, incoming), vec![server]),
            ]
        }
        Workload::Paced => {
            let schedule = DueTimes::new(GAP_NS, Arrivals::Even);
            let flood = PacedFlood::new(0, Rotation::of(1, Vec::new()), schedule, None);
            let sender = options(Direction::Sends, sender, out, calls);
            let receiver = options(Direction::Receives, receiver, incoming, calls);
            vec![
                Program::Roles(sender, vec![Role::Flood(flood)]),
                Program::Sink(incoming_part(receiver)),
            ]
        }
    })
}

/// Returns the program of one thread that sends and receives. A burst fits any receive buffer: what is sent comes.
fn in_turn(
    (sender, out): (Endpoint, NullEndpoint),
    (receiver, incoming): (Endpoint, NullEndpoint),
    calls: (Connection, Controls),
) -> Program {
    Program::Turns(
        Outgoing {
            options: options(Direction::Sends, sender, out, calls),
            writers: Vec::new(),
        },
        Incoming {
            options: options(Direction::Receives, receiver, incoming, calls),
            tracker: None,
            flows: None,
        },
    )
}
