//! Compares what a call received with what the peer sent.

use std::mem;

use super::bench::{self, BATCH, BYTES, Outcome, Stage, words};
use super::ends::Peer;
use super::{Finding, Point};
use crate::engine::payload::{Check, NoCheck, Origin};
use crate::engine::{Addressing, BatchCount, DatagramIo, Engine, is_to_be_made_again};

/// Number of datagrams that wait at once: more than two batches.
const WAITING: usize = 2 * BATCH + 1;

/// Receives single datagrams, an empty one, and many that wait already.
pub(super) fn check<E: Engine, A: Addressing>(
    engine: &E,
    io: &mut impl DatagramIo,
    peer: &Peer,
    stage: &Stage,
) -> Outcome {
    for bytes in [BYTES, 1, BYTES / 2] {
        let datagram = vec![content(bytes); bytes];
        peer.send(&datagram);
        receives::<E, A>(engine, io, peer, stage, &[datagram])?;
    }
    receives_an_empty_one(engine, io, peer, stage)?;
    // A receiver that starves takes one of them and never looks for the others.
    if E::ABOUT.starves.is_some() {
        return Ok(());
    }
    let waiting: Vec<Vec<u8>> = (0..WAITING).map(|n| vec![content(n); BYTES - n]).collect();
    for datagram in &waiting {
        peer.send(datagram);
    }
    receives::<E, A>(engine, io, peer, stage, &waiting)
}

/// Receives the datagrams that were sent, and checks them.
fn receives<E: Engine, A: Addressing>(
    engine: &E,
    io: &mut impl DatagramIo,
    peer: &Peer,
    stage: &Stage,
    sent: &[Vec<u8>],
) -> Outcome {
    stage.begin(Point::Arrival, "receive, with datagrams in the socket,");
    let mut counted = BatchCount::default();
    let mut seen = Seen::default();
    let mut most = 0;
    while counted.packets < sent.len() as u64 && seen.0.len() < sent.len() {
        let published = stage.meter.received.read().packets;
        let moved = receive(engine, io, &mut seen, stage)?;
        counted.packets += moved.packets;
        counted.bytes += moved.bytes;
        // An engine may publish each datagram itself: then many in one call surprise nobody.
        if stage.meter.received.read().packets == published {
            most = most.max(moved.packets);
        }
    }
    let bytes: usize = sent.iter().map(Vec::len).sum();
    let truth = BatchCount::of(sent.len() as u64, bytes as u64);
    is_seen(&seen.0, sent, counted, truth)?;
    if counted != truth {
        let (told, truth) = (words(counted), words(truth));
        let found = format!("receive counted {told}, and it received {truth}");
        return Err(Finding::new(Point::Count, found));
    }
    bench::is_a_batch::<E>("receive", most, E::ABOUT.receives_batches)?;
    is_from::<A>(&mem::take(&mut seen.0), peer)
}

/// Returns a byte that fills datagram number `n`.
fn content(n: usize) -> u8 {
    u8::try_from(n % 250 + 1).unwrap_or(u8::MAX)
}

/// Fails unless the check saw what was sent.
fn is_seen(
    seen: &[(Vec<u8>, Origin)],
    sent: &[Vec<u8>],
    counted: BatchCount,
    truth: BatchCount,
) -> Outcome {
    let found = if seen.len() != sent.len() && counted.packets == truth.packets {
        format!(
            "receive counted {}, and called Check {} times: call it once for each datagram",
            words(counted),
            seen.len()
        )
    } else if let Some((n, (datagram, _))) =
        (seen.iter().enumerate()).find(|(n, (datagram, _))| sent.get(*n) != Some(datagram))
    {
        let length = datagram.len();
        match sent.get(n) {
            Some(other) if other.len() != length => format!(
                "Check saw {length} B of a datagram of {} B: show it the datagram, not the buffer",
                other.len()
            ),
            _ => "Check saw other content than was sent, or datagrams in another order".to_owned(),
        }
    } else {
        return Ok(());
    };
    Err(Finding::new(Point::Check, found))
}

/// Fails unless all datagrams are from the peer.
fn is_from<A: Addressing>(seen: &[(Vec<u8>, Origin)], peer: &Peer) -> Outcome {
    let endpoint = peer.endpoint;
    let source = (!A::CONNECTED).then_some(peer.address);
    let right = Origin { endpoint, source };
    match seen.iter().find(|(_, origin)| *origin != right) {
        None => Ok(()),
        Some((_, origin)) => Err(Finding::new(
            Point::Source,
            format!(
                "Check was told {origin:?} instead of {right:?}: the source is the sender if the socket is unconnected, \
                 else None, since recv(2) has none"
            ),
        )),
    }
}

/// Receives an empty datagram. Whether [`Check`] sees it does not matter.
fn receives_an_empty_one<E: Engine>(
    engine: &E,
    io: &mut impl DatagramIo,
    peer: &Peer,
    stage: &Stage,
) -> Outcome {
    stage.begin(
        Point::EmptyDatagram,
        "receive, with an empty datagram in the socket,",
    );
    peer.send(&[]);
    loop {
        let last = match engine.run(async { io.receive(&mut NoCheck).await }) {
            Ok(moved) if moved == BatchCount::one(0) => return Ok(()),
            Ok(BatchCount { packets: 0, .. }) => "an empty batch".to_owned(),
            Ok(moved) => {
                let found = format!("receive counted {} for an empty datagram", words(moved));
                return Err(Finding::new(Point::EmptyDatagram, found));
            }
            Err(error) if is_to_be_made_again(&error) => error.to_string(),
            Err(error) => {
                let found =
                    format!("receive failed at an empty datagram, which is no end: {error}");
                return Err(Finding::new(Point::EmptyDatagram, found));
            }
        };
        stage.still_has_time(&last)?;
    }
}

/// Receives one batch, which may be empty.
pub(super) fn receive<E: Engine>(
    engine: &E,
    io: &mut impl DatagramIo,
    seen: &mut Seen,
    stage: &Stage,
) -> Result<BatchCount, Finding> {
    let before = seen.0.len();
    let outcome = engine.run(async { io.receive(seen).await });
    let last = match outcome {
        Ok(moved) if moved.packets > 0 || seen.0.len() > before => return Ok(moved),
        Ok(_) => "an empty batch".to_owned(),
        Err(error) if is_to_be_made_again(&error) => error.to_string(),
        Err(error) => {
            let found = format!("receive failed, with a datagram in the socket: {error}");
            return Err(Finding::new(Point::Arrival, found));
        }
    };
    stage.still_has_time(&last)?;
    Ok(BatchCount::default())
}

/// Datagrams shown to the check, with their origins.
#[derive(Default)]
pub(super) struct Seen(pub(super) Vec<(Vec<u8>, Origin)>);

impl Check for Seen {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        self.0.push((datagram.to_vec(), origin));
    }
}
