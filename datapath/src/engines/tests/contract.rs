//! Tests that each engine keeps the contract of [`crate::engine::DatagramIo`], on real sockets.

use std::io::ErrorKind;
use std::mem;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::engine::payload::tests::Numbered;
use crate::engine::payload::{Check, Fill, NoCheck, Origin};
use crate::engine::{
    Addressing, BatchCount, Connected, DatagramIo, Direction, Endpoint, Engine, IoOptions,
    ManyEndpoints, ThreadArgs, Unconnected, Wakeups,
};
use crate::engines;
use crate::sys::wakeup;

const BYTES: usize = 300;
/// Content of each datagram of a batch: its number, from 1.
const FILL: Numbered = Numbered {
    first: 1,
    bytes: BYTES,
};
/// Time limit, far longer than any engine waits between two checks, even on a busy machine.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Number of endpoints for engines that serve many.
const LINKS: usize = 3;

#[test]
fn every_engine_keeps_the_contract() {
    for entry in engines::all() {
        if let Err(why) = entry.probe() {
            eprintln!("SKIPPED: {entry}: {why}");
        } else if entry.about.moves_datagrams {
            (entry.keeps_contract)();
            (entry.keeps_contract_with_many)();
        }
    }
}

pub(in crate::engines) fn holds<E: Engine>() {
    both_ways::<E, Connected>(1);
    both_ways::<E, Unconnected>(1);
    a_wakeup_ends_a_wait::<E>();
    if E::ABOUT.can_spin {
        spins::<E>();
    }
    if E::ABOUT.can_serve_requests.is_ok() {
        answers::<E>();
    }
    if E::ABOUT.many_endpoints != ManyEndpoints::OneIo {
        let (endpoints, _far) = endpoints::<Unconnected>(2);
        let refused = start::<E>(&Arc::default()).open::<Unconnected>(options(endpoints));
        assert!(refused.is_err(), "{}: two links", E::ABOUT.name);
    }
}

/// Tests engines that serve many sockets with one I/O object.
pub(in crate::engines) fn holds_with_many<E: Engine>() {
    if E::ABOUT.many_endpoints == ManyEndpoints::OneIo {
        both_ways::<E, Connected>(LINKS);
        both_ways::<E, Unconnected>(LINKS);
        a_wakeup_ends_a_wait::<E>();
    }
}

/// Tests that a waiting receive returns when its thread is woken like the coordinator thread does it.
fn a_wakeup_ends_a_wait<E: Engine>() {
    wakeup::install().expect("sigaction works");
    let wakeups = Arc::<Wakeups>::default();
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn({
        let wakeups = Arc::clone(&wakeups);
        move || {
            let engine = start::<E>(&wakeups);
            let (endpoints, _far) = endpoints::<Unconnected>(1);
            let mut port = engine
                .open::<Unconnected>(options(endpoints))
                .expect("it opens");
            let tid = nix::unistd::gettid().as_raw();
            tell.send(tid).expect("somebody waits for it");
            engine
                .run(async { port.receive(&mut NoCheck).await })
                .map_err(|error| error.kind())
        }
    });
    let tid = told.recv().expect("it starts");
    let begin = Instant::now();
    while !thread.is_finished() {
        assert!(
            begin.elapsed() < LONGEST_WAIT,
            "{}: a receive goes on although a signal has come: is EINTR retried?",
            E::ABOUT.name
        );
        wakeup::interrupt(tid);
        wakeups.interrupt();
        thread::sleep(Duration::from_millis(1));
    }
    // A ring that was woken just after it was armed has made its call.
    let outcome = thread.join().expect("no panic");
    let outcome = outcome.or_else(|error| match error {
        ErrorKind::Interrupted | ErrorKind::WouldBlock => Ok(BatchCount::default()),
        error => Err(error),
    });
    assert_eq!(outcome, Ok(BatchCount::default()), "{}", E::ABOUT.name);
}

/// Tests that a spinning receive from an empty socket returns at once, with nothing.
fn spins<E: Engine>() {
    let engine = start::<E>(&Arc::default());
    let (endpoints, _far) = endpoints::<Unconnected>(1);
    let options = IoOptions {
        spins: true,
        direction: Direction::Receives,
        ..options(endpoints)
    };
    let mut port = engine.open::<Unconnected>(options).expect("it opens");
    match engine.run(async { port.receive(&mut NoCheck).await }) {
        Ok(moved) => assert_eq!(moved, BatchCount::default(), "{}", E::ABOUT.name),
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{}", E::ABOUT.name),
    }
}

/// Tests that one I/O object sends over each of its endpoints and receives over the same ones.
fn both_ways<E: Engine, A: Addressing>(count: usize) {
    let engine = start::<E>(&Arc::default());
    let (endpoints, far) = endpoints::<A>(count);
    let mut port = engine.open::<A>(options(endpoints)).expect("it opens");
    let mut seen = Seen::default();
    for turn in 0..2 {
        for (endpoint, far) in far.iter().enumerate() {
            let what = format!("{}, link {endpoint}, turn {turn}", E::ABOUT.name);
            let moved = engine.run(send(&mut port, endpoint));
            let mut ours = None;
            for n in (1..).take(usize::try_from(moved.packets).expect("few")) {
                let mut room = [0; BYTES + 1];
                let (bytes, source) = far.recv_from(&mut room).expect("a whole batch was sent");
                assert_eq!(room[..bytes], [n; BYTES], "{what}");
                ours = Some(source);
            }
            let ours = ours.expect("a batch is not empty");
            let answer = vec![u8::try_from(endpoint).expect("few"); BYTES / 2];
            far.send_to(&answer, ours).expect("loopback takes it");
            let moved = engine.run(receive(&mut port, &mut seen));
            assert_eq!(moved.packets, 1, "{what}");
            let source = far.local_addr().expect("bound");
            let source = (!A::CONNECTED).then_some(source);
            let expected = (answer, Origin { endpoint, source });
            assert_eq!(mem::take(&mut seen.0), [expected], "{what}");
        }
    }
}

/// Tests that an endpoint without a peer can send one datagram to the source of another.
fn answers<E: Engine>() {
    let engine = start::<E>(&Arc::default());
    let (endpoints, far) = endpoints::<Unconnected>(1);
    let ours = SockRef::from(&endpoints[0].socket)
        .local_addr()
        .expect("bound");
    let ours = ours.as_socket().expect("of UDP");
    let endpoints = endpoints
        .into_iter()
        .map(|endpoint| Endpoint::of(endpoint.socket, None));
    let options = IoOptions {
        batch: 1,
        ..options(endpoints.collect())
    };
    let mut port = engine.open::<Unconnected>(options).expect("it opens");
    let mut seen = Seen::default();
    let second = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback is up");
    for far in [&far[0], &second, &far[0]] {
        far.send_to(&[1; BYTES], ours).expect("loopback takes it");
        engine.run(receive(&mut port, &mut seen));
        let (_, origin) = seen.0.pop().expect("one came");
        assert_eq!(origin.source, far.local_addr().ok(), "{}", E::ABOUT.name);
        let to_them = ToWhom(origin.source);
        let moved = engine.run(transmit(&mut port, 0, &to_them));
        assert_eq!(moved, BatchCount::one(BYTES), "{}", E::ABOUT.name);
        let mut room = [0; BYTES + 1];
        let received = far.recv_from(&mut room).expect("it was sent");
        assert_eq!(received, (BYTES, ours), "{}", E::ABOUT.name);
    }
}

/// A [`Fill`] with a destination other than the peer.
struct ToWhom(Option<SocketAddr>);

impl Fill for ToWhom {
    fn fill(&self, _memory: &mut [u8]) {}

    fn sent(&mut self, _packets: u64) {}

    fn destination(&self) -> Option<SocketAddr> {
        self.0
    }
}

async fn send(port: &mut impl DatagramIo, endpoint: usize) -> BatchCount {
    transmit(port, endpoint, &FILL).await
}

async fn transmit(port: &mut impl DatagramIo, endpoint: usize, fill: &impl Fill) -> BatchCount {
    loop {
        // Repeats a call that moved nothing, like a workload's loop.
        match port.transmit(endpoint, fill).await {
            Ok(moved) => return moved,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
}

async fn receive(port: &mut impl DatagramIo, seen: &mut Seen) -> BatchCount {
    loop {
        match port.receive(seen).await {
            Ok(moved) => return moved,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
}

fn start<E: Engine>(wakeups: &Arc<Wakeups>) -> E {
    let brief = ThreadArgs {
        wakeups: Arc::clone(wakeups),
        meter: Arc::default(),
        pool: None,
    };
    E::start(&brief).expect("it starts")
}

/// Returns `count` endpoints, and the sockets of their peers.
fn endpoints<A: Addressing>(count: usize) -> (Vec<Endpoint>, Vec<UdpSocket>) {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback is up");
    let address = |socket: &UdpSocket| -> SocketAddr { socket.local_addr().expect("bound") };
    let pair = |_| {
        let (socket, far) = (bind(), bind());
        if A::CONNECTED {
            socket.connect(address(&far)).expect("loopback is up");
        }
        (Endpoint::of(socket, Some(address(&far))), far)
    };
    (0..count).map(pair).unzip()
}

fn options(endpoints: Vec<Endpoint>) -> IoOptions {
    IoOptions {
        batch: 4,
        own_payloads: true,
        ..IoOptions::of(endpoints, Direction::Both, BYTES)
    }
}

/// Datagrams shown to the check, with their origins.
#[derive(Default)]
struct Seen(Vec<(Vec<u8>, Origin)>);

impl Check for Seen {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        self.0.push((datagram.to_vec(), origin));
    }
}
