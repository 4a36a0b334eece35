//! What each engine owes to the loops: [`crate::engine::Port`], on real sockets.

use std::io::ErrorKind;
use std::mem;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use crate::engine::payload::{Check, NoFill, Origin};
use crate::engine::{
    Addressing, Burst, Connected, Direction, Engine, LaneBrief, Link, Port, PortOptions,
    Unconnected,
};
use crate::engines;

const BYTES: usize = 300;
/// Of engines that serve many.
const LINKS: usize = 3;

#[test]
fn every_engine_keeps_the_contract() {
    for entry in engines::ALL {
        if let Err(why) = entry.probe() {
            eprintln!("SKIPPED: {entry}: {why}");
        } else if entry.about.moves_datagrams {
            (entry.keeps_contract)();
        }
    }
}

pub(in crate::engines) fn holds<E: Engine>() {
    both_ways::<E, Connected>(1);
    both_ways::<E, Unconnected>(1);
    if E::ABOUT.many_links {
        both_ways::<E, Connected>(LINKS);
        both_ways::<E, Unconnected>(LINKS);
    } else {
        let (links, _far) = links::<Unconnected>(2);
        let refused = start::<E>().open::<Unconnected>(options(links));
        assert!(refused.is_err(), "{}: two links", E::ABOUT.name);
    }
}

/// One port sends over each of its links and receives over the same ones.
fn both_ways<E: Engine, A: Addressing>(count: usize) {
    let engine = start::<E>();
    let (links, far) = links::<A>(count);
    let mut port = engine.open::<A>(options(links)).expect("it opens");
    let mut seen = Seen::default();
    for turn in 0..2 {
        for (link, far) in far.iter().enumerate() {
            let what = format!("{}, link {link}, turn {turn}", E::ABOUT.name);
            let burst = engine.run(send(&mut port, link));
            let (_, ours) = far.recv_from(&mut [0; BYTES]).expect("it was sent");
            for _ in 1..burst.packets {
                far.recv(&mut [0; BYTES]).expect("a whole burst was sent");
            }
            let answer = vec![u8::try_from(link).expect("few"); BYTES / 2];
            far.send_to(&answer, ours).expect("loopback takes it");
            let burst = engine.run(receive(&mut port, &mut seen));
            assert_eq!(burst.packets, 1, "{what}");
            let source = far.local_addr().expect("bound");
            let source = (!A::CONNECTED).then_some(source);
            let expected = (answer, Origin { link, source });
            assert_eq!(mem::take(&mut seen.0), [expected], "{what}");
        }
    }
}

async fn send(port: &mut impl Port, link: usize) -> Burst {
    loop {
        // As a loop does: a call that moved nothing is made again.
        match port.transmit(link, &NoFill).await {
            Ok(burst) => return burst,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
}

async fn receive(port: &mut impl Port, seen: &mut Seen) -> Burst {
    loop {
        match port.receive(seen).await {
            Ok(burst) => return burst,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
}

fn start<E: Engine>() -> E {
    let brief = LaneBrief {
        wakeups: Arc::default(),
        meter: Arc::default(),
        pool: None,
    };
    E::start(&brief).expect("it starts")
}

/// So many links, and the sockets at their other ends.
fn links<A: Addressing>(count: usize) -> (Vec<Link>, Vec<UdpSocket>) {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback is up");
    let address = |socket: &UdpSocket| -> SocketAddr { socket.local_addr().expect("bound") };
    let pair = |_| {
        let (socket, far) = (bind(), bind());
        if A::CONNECTED {
            socket.connect(address(&far)).expect("loopback is up");
        }
        (Link::of(socket, Some(address(&far))), far)
    };
    (0..count).map(pair).unzip()
}

fn options(links: Vec<Link>) -> PortOptions {
    PortOptions {
        batch: 4,
        ..PortOptions::of(links, Direction::Both, BYTES)
    }
}

/// What a port showed.
#[derive(Default)]
struct Seen(Vec<(Vec<u8>, Origin)>);

impl Check for Seen {
    const LOOKS: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        self.0.push((datagram.to_vec(), origin));
    }
}
