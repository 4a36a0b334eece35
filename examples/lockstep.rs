//! The fixed schedule of `scripts/instructions.py`, which runs this under valgrind's callgrind: one thread sends
//! a burst and receives it, again and again, with the loop and the engine of the product.
//!
//!     lockstep ENGINE    connected, unconnected, both with control messages if it carries them (`--cmsg`), and over
//!                        each other transport that it goes over: three threads each, of which the first is for
//!                        whatever a process does only once; per thread what it went over and the datagrams it
//!                        received
//!     lockstep --list    every engine of this build, a tab, and why it cannot run here, if it cannot
//!
//! callgrind, told to collect in [`thread`] only and to dump its count after it, writes a dump per thread. The
//! last two threads of a connection differ in nothing but how often the loop went round, so all else cancels in
//! the difference of their dumps.

use std::env;
use std::fmt;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::exit;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use udpbench::data::{Batch, Connection, Transport};
use udpbench::engine::null_endpoint::NullEndpoint;
use udpbench::engine::{Controls, Direction, Endpoint, IoOptions, Meter};
use udpbench::engines::stream::shake_hands;
use udpbench::engines::{self, BenchThread, Carrier, Entry};
use udpbench::workload::context::{Control, ThreadContext};
use udpbench::workload::{Incoming, Outgoing, Program};

/// The fewest datagrams of the first threads.
const FEW: u64 = 2_000;
/// The fewest of the last one: an engine that rests now and then, as tokio does each 128 operations, does so
/// often enough for its share to come out alike each time.
const MANY: u64 = 25_000;
/// An engine that moves a thousand datagrams before anybody looks at its count overshoots both.
const MANY_TIMES: u64 = 10;
/// Segmentation offload takes 128 of them per call, as many as the kernel allows.
const PAYLOAD_BYTES: usize = 300;
/// Ten times what the slowest engine needs under callgrind: tungstenite clears 64 KiB for each read.
const DEADLINE: Duration = Duration::from_secs(300);

fn main() -> anyhow::Result<()> {
    match env::args().nth(1).as_deref() {
        Some("--list") => list(),
        Some(name) => match engines::find(name) {
            Some(entry) => move_datagrams(entry)?,
            None => refuse(&format!("{name} is no engine of this build; see --list")),
        },
        None => refuse("name an engine; see --list"),
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
        println!("{entry}\t{why_not}");
    }
}

fn move_datagrams(entry: &'static Entry) -> anyhow::Result<()> {
    // An engine that only sends or only receives runs with its partner.
    let (sender, receiver) = entry.pair();
    let entry = engines::together(sender, receiver).unwrap_or(entry);
    let connections = [Connection::Connected, Connection::Unconnected];
    let with_controls = entry
        .thread_with_controls
        .map(|thread| connections.map(|connection| Over::UdpWithControls(connection, thread)));
    let over = connections
        .map(Over::Udp)
        .into_iter()
        .chain(with_controls.into_iter().flatten());
    for over in over.chain(entry.transports.iter().map(Over::Other)) {
        let run = |fewest| {
            let received = move_at_least(fewest, entry, over);
            let received = received.with_context(|| format!("{entry}, {over}"))?;
            println!("{over} {received}");
            anyhow::Ok(received)
        };
        run(FEW)?;
        let few = run(FEW)?;
        run(MANY.max(few * MANY_TIMES))?;
    }
    Ok(())
}

/// Transport of the datagrams.
#[derive(Clone, Copy)]
enum Over {
    Udp(Connection),
    /// With all kinds of control messages that the engine carries.
    UdpWithControls(Connection, BenchThread),
    Other(&'static Carrier),
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(connection) => connection.fmt(f),
            Self::UdpWithControls(connection, _) => write!(f, "{connection}+cmsg"),
            Self::Other(carrier) => carrier.transport.fmt(f),
        }
    }
}

/// Runs a thread until it has received so many datagrams, and returns how many it has.
fn move_at_least(packets: u64, entry: &'static Entry, over: Over) -> anyhow::Result<u64> {
    let (control, meter) = (Arc::new(Control::default()), Arc::new(Meter::default()));
    let program = program(entry, over).context("cannot make two sockets")?;
    // All are here.
    control.start_barrier.open();
    let thread = thread::spawn({
        let context = ThreadContext::new(Arc::clone(&control), Arc::clone(&meter));
        move || run_thread(entry, program, over, &Arc::new(context))
    });
    let started = Instant::now();
    while !thread.is_finished() {
        let received = meter.received.read().packets;
        if received >= packets {
            // This flag alone, so that the loop always ends in one place.
            control.stop_receiving();
        }
        ensure!(
            started.elapsed() < DEADLINE,
            "of {packets} datagrams only {received} came within {DEADLINE:?}"
        );
        thread::sleep(Duration::from_millis(1));
    }
    match thread.join() {
        Ok(outcome) => outcome.context("the thread failed")?,
        Err(_) => bail!("the thread panicked"),
    }
    Ok(meter.received.read().packets)
}

fn options(
    direction: Direction,
    endpoint: Endpoint,
    null: NullEndpoint,
    controls: Controls,
) -> IoOptions {
    IoOptions {
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
    let run = match over {
        Over::Udp(connection) => (entry.thread)(program, connection, context),
        Over::UdpWithControls(connection, thread) => thread(program, connection, context),
        Over::Other(carrier) => (carrier.thread)(program, Connection::Connected, context),
    };
    run.map(drop)
}

/// Both ends of a flow, the sender's first.
fn endpoints(over: Over) -> io::Result<(Endpoint, Endpoint)> {
    let transport = match over {
        Over::Udp(connection) | Over::UdpWithControls(connection, _) => {
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
        if transport == Transport::Websocket {
            shake_hands(&near, &far)?;
        }
        // What is sent is to come before the next is.
        near.set_nodelay(true)?;
        (near.into(), far.into())
    };
    Ok((
        Endpoint::of_client(ends.0, None),
        Endpoint::of(ends.1, None),
    ))
}

fn program(entry: &Entry, over: Over) -> io::Result<Program> {
    let (sender, receiver) = endpoints(over)?;
    let controls = match over {
        Over::UdpWithControls(..) => {
            let kinds = entry.about.control_messages;
            Controls::new(kinds, kinds, 0)
        }
        _ => Controls::default(),
    };
    let out = NullEndpoint::default();
    let incoming = NullEndpoint {
        incoming: vec![Arc::clone(&out.out)],
        ..NullEndpoint::default()
    };
    // A burst fits any receive buffer: what is sent comes.
    Ok(Program::Turns(
        Outgoing {
            options: options(Direction::Sends, sender, out, controls),
            writers: Vec::new(),
        },
        Incoming {
            options: options(Direction::Receives, receiver, incoming, controls),
            tracker: None,
            flows: None,
        },
    ))
}
