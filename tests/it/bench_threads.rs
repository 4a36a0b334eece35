//! Tests of bench threads of every engine, over sockets that lose or refuse datagrams.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::socket::{Shutdown, shutdown};
use udpbench::data::{Batch, Connection};
use udpbench::engine::{Direction, Endpoint, IoOptions, Meter};
use udpbench::engines::Entry;
use udpbench::sys::wakeup;
use udpbench::workload::context::{Control, ThreadContext};
use udpbench::workload::{
    Client, Incoming, Numbering, Outgoing, Program, Role, RoundTripMeter, Server,
};

use crate::common::cases::built_and_runnable;
use crate::common::wait_until;

const PAYLOAD: usize = 300;
/// Nothing takes so long, however busy the machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// A thread that runs.
struct BenchThread {
    control: Arc<Control>,
    meter: Arc<Meter>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl BenchThread {
    fn start(entry: &'static Entry, program: Program) -> Self {
        wakeup::install().expect("sigaction works");
        let (control, meter) = (Arc::new(Control::default()), Arc::new(Meter::default()));
        control.start_barrier.open();
        let context = ThreadContext::new(Arc::clone(&control), Arc::clone(&meter));
        let thread = thread::spawn(move || {
            let tid = nix::unistd::gettid().as_raw();
            context.meter.tid.store(tid, Ordering::Relaxed);
            (entry.thread)(program, &Arc::new(context)).map(drop)
        });
        Self {
            control,
            meter,
            thread,
        }
    }

    /// Lets it run until it has counted what is waited for, or has ended; returns its meter once it has.
    fn run_until(self, mut seen: impl FnMut(&Self) -> bool) -> Arc<Meter> {
        let begun = Instant::now();
        let mut hangs = false;
        while !hangs && !seen(&self) && !self.thread.is_finished() {
            hangs = begun.elapsed() > DEADLINE;
            thread::yield_now();
        }
        self.control.stop_sending();
        self.control.stop_receiving();
        wait_until("the end of the thread", || {
            self.end_wait();
            self.thread.is_finished()
        });
        let outcome = self.thread.join().expect("no panic");
        outcome.expect("a thread that goes on until it is stopped");
        assert!(!hangs, "not seen within {DEADLINE:?}: {:?}", self.meter);
        self.meter
    }
}

impl BenchThread {
    /// Ends the wait that is going on, as the coordinator does.
    fn end_wait(&self) {
        match self.meter.tid.load(Ordering::Relaxed) {
            0 => {}
            tid => wakeup::interrupt(tid),
        }
        self.meter.wakeups.interrupt();
        thread::yield_now();
    }
}

fn bind() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("loopback is up")
}

/// To where `peer` is.
fn outgoing(socket: UdpSocket, peer: &UdpSocket, connection: Connection) -> Outgoing {
    let peer = peer.local_addr().expect("bound");
    if connection == Connection::Connected {
        socket.connect(peer).expect("an address of loopback");
    }
    Outgoing {
        options: options(
            Endpoint::of(socket, Some(peer)),
            Direction::Sends,
            connection,
        ),
        writers: Vec::new(),
    }
}

fn options(link: Endpoint, direction: Direction, connection: Connection) -> IoOptions {
    IoOptions {
        connection,
        batch: Batch::DEFAULT.count(),
        ..IoOptions::of(vec![link], direction, PAYLOAD)
    }
}

#[test]
fn lost_datagrams_do_not_hang_the_only_thread() {
    let alone = |entry: &&Entry| {
        let about = entry.about;
        about.moves_datagrams
            && about.is_fair()
            && about.one_thread.is_ok()
            && entry.sends()
            && entry.receives()
    };
    for entry in built_and_runnable().filter(alone) {
        for connection in [Connection::Connected, Connection::Unconnected] {
            let (sender, receiver, elsewhere) = (bind(), bind(), bind());
            if connection == Connection::Connected {
                let address = sender.local_addr().expect("bound");
                receiver.connect(address).expect("an address of loopback");
            }
            let incoming = Incoming {
                options: options(
                    Endpoint::of(receiver, None),
                    Direction::Receives,
                    connection,
                ),
                tracker: None,
                flows: None,
            };
            let outgoing = outgoing(sender, &elsewhere, connection);
            let program = Program::Turns(outgoing, incoming);
            let (mut sent, mut bursts) = (0, 0);
            let meter = BenchThread::start(entry, program).run_until(|thread| {
                let now = thread.meter.sent.read();
                bursts += u32::from(now > sent);
                sent = now;
                thread.end_wait();
                bursts >= 3
            });
            let received = meter.received.read();
            assert_eq!(received.packets, 0, "{entry}, {connection}");
        }
    }
}

#[test]
fn sends_that_are_refused_beside_others_are_sent_and_counted() {
    let sends = |entry: &&Entry| {
        let about = entry.about;
        about.moves_datagrams && about.is_fair() && entry.sends()
    };
    for entry in built_and_runnable().filter(sends) {
        // Where nobody listens, each datagram that goes has the next send refused (ECONNREFUSED, udp(7)).
        let outgoing = {
            let nobody = bind();
            outgoing(bind(), &nobody, Connection::Connected)
        };
        let thread = BenchThread::start(entry, Program::Flood(outgoing));
        let meter = thread.run_until(|thread| thread.meter.sent.read() >= 1000);
        let (sent, refused) = (meter.sent.read(), meter.refusals.packets());
        assert!((1..sent).contains(&refused), "{entry}: {refused} of {sent}");
        assert_eq!(meter.errors.load(Ordering::Relaxed), 0, "{entry}");
    }
}

/// A train over a path of a small MTU is refused with the same error, and sent one by one (`network`).
#[test]
fn datagrams_that_are_too_long_for_any_path_fail_as_such() {
    const TOO_LONG: usize = 65_508;
    let sends = |entry: &&Entry| {
        let about = entry.about;
        about.moves_datagrams && about.is_fair() && entry.sends()
    };
    for entry in built_and_runnable().filter(sends) {
        let peer = bind();
        let mut outgoing = outgoing(bind(), &peer, Connection::Connected);
        outgoing.options.payload_bytes = TOO_LONG;
        let thread = BenchThread::start(entry, Program::Flood(outgoing));
        let outcome = thread.thread.join().expect("no panic");
        let error = outcome.expect_err("each call fails").raw_os_error();
        assert_eq!(error, Some(nix::libc::EMSGSIZE), "{entry}");
    }
}

/// A socket of which each send is refused, connected to `peer`.
fn mute(peer: &UdpSocket) -> UdpSocket {
    let socket = bind();
    let address = peer.local_addr().expect("bound");
    socket.connect(address).expect("an address of loopback");
    shutdown(socket.as_raw_fd(), Shutdown::Write).expect("a connected socket");
    socket
}

/// Returns options for an I/O object that sends one datagram a call, and receives.
fn one_each(socket: UdpSocket) -> IoOptions {
    let peer = socket.peer_addr().ok();
    IoOptions {
        connection: Connection::Connected,
        ..IoOptions::of(vec![Endpoint::of(socket, peer)], Direction::Both, PAYLOAD)
    }
}

fn answers() -> impl Iterator<Item = &'static Entry> {
    built_and_runnable()
        .filter(|entry| entry.about.can_serve_requests.is_ok() && entry.about.is_fair())
}

#[test]
fn a_refused_request_was_sent_once_and_is_waited_for() {
    const OUTSTANDING: usize = 7;
    for entry in answers() {
        let nobody = bind();
        let options = one_each(mute(&nobody));
        let round_trips = Arc::<RoundTripMeter>::default();
        round_trips.open_window();
        let numbering = Numbering::new(0, None);
        let client = Client::new(numbering, (OUTSTANDING, 1), Arc::clone(&round_trips));
        let program = Program::Roles(options, vec![Role::Client(client)]);
        let thread = BenchThread::start(entry, program);
        // In the meantime it could send thousands.
        let begun = Instant::now();
        let meter = thread.run_until(|thread| {
            let sent = thread.meter.sent.read() >= OUTSTANDING as u64;
            sent && begun.elapsed() > Duration::from_millis(20)
        });
        let counts = (meter.sent.read(), meter.refusals.packets());
        assert_eq!(counts, (OUTSTANDING as u64, OUTSTANDING as u64), "{entry}");
        assert_eq!(round_trips.round_trips().unanswered, OUTSTANDING as u64);
    }
}

#[test]
fn a_refused_response_was_sent_once_and_the_server_goes_on() {
    const REQUESTS: u64 = 50;
    // message-io's library lets go of a socket that cannot send.
    for entry in answers().filter(|entry| entry.about.name != "message-io") {
        let client = bind();
        let socket = mute(&client);
        client
            .connect(socket.local_addr().expect("bound"))
            .expect("an address of loopback");
        let options = one_each(socket);
        let server = Role::Server(Server::new(None, None));
        let program = Program::Roles(options, vec![server]);
        let thread = BenchThread::start(entry, program);
        // One at a time: an engine may be told only of what comes once it waits.
        let mut asked = 0;
        let meter = thread.run_until(|thread| {
            let sent = thread.meter.sent.read();
            if sent == asked && asked < REQUESTS {
                client.send(&[7; PAYLOAD]).expect("loopback takes it");
                asked += 1;
            }
            sent >= REQUESTS
        });
        let counts = (meter.sent.read(), meter.refusals.packets());
        assert_eq!(counts, (REQUESTS, REQUESTS), "{entry}");
        assert_eq!(meter.received.read().packets, REQUESTS, "{entry}");
    }
}
