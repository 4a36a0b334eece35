//! Compares what a call sent with what the peer received, and what a call received with what the peer sent.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Point;
use super::bench::{BATCH, BYTES, CheckResult, Opened, broken, differ, is_a_batch, words};
use super::ends::Peer;
use crate::data::Connection;
use crate::engine::payload::{Check, Fill, NoCheck, Origin};
use crate::engine::{BatchCount, DatagramIo, Direction, Engine, lock};

/// Number of datagrams that wait at once: more than two batches.
const WAITING: usize = 2 * BATCH + 1;

impl<E: Engine, I: DatagramIo> Opened<'_, E, I> {
    /// Sends one batch and checks what arrived.
    pub(super) fn check_sending(&mut self, peer: &Peer, direction: Direction) -> CheckResult {
        let fill = Recorded::to(None);
        let moved = self.send(peer.endpoint, &fill)?;
        let arrived = peer.take(moved.packets);
        are_from_here(moved, &arrived, peer)?;
        let bytes = arrived.iter().map(|(datagram, _)| datagram.len() as u64);
        let truth = BatchCount::of(arrived.len() as u64, bytes.sum());
        if moved != truth {
            let (told, truth) = (words(moved), words(truth));
            let found = format!("transmit counted {told}, and {truth} arrived");
            return broken(Point::Count, found);
        }
        is_a_batch::<E>("transmit", truth.packets, E::ABOUT.sends_batches)?;
        is_what_was_filled(&arrived, &fill, differ(direction))
    }

    /// Sends until something was sent.
    pub(super) fn send(
        &mut self,
        endpoint: usize,
        fill: &Recorded,
    ) -> Result<BatchCount, super::Finding> {
        self.stage.begin(Point::Destination, "transmit");
        loop {
            let outcome = self.transmit(endpoint, fill);
            if let Some(moved) = self.stage.moved(outcome)? {
                return Ok(moved);
            }
        }
    }

    /// Receives single datagrams, an empty one, and many that wait already.
    pub(super) fn check_receiving(&mut self, peer: &Peer, connection: Connection) -> CheckResult {
        for bytes in [BYTES, 1, BYTES / 2] {
            self.receives(peer, &[vec![content(bytes); bytes]], connection)?;
        }
        self.receives_an_empty_one(peer)?;
        // A receiver that starves takes one of them and never looks for the others.
        if E::ABOUT.starves.is_some() {
            return Ok(());
        }
        let waiting: Vec<Vec<u8>> = (0..WAITING).map(|n| vec![content(n); BYTES - n]).collect();
        self.receives(peer, &waiting, connection)
    }

    /// Sends these datagrams from the peer, and checks what is received.
    fn receives(&mut self, peer: &Peer, sent: &[Vec<u8>], connection: Connection) -> CheckResult {
        for datagram in sent {
            peer.send(datagram);
        }
        let stage = self.stage;
        stage.begin(Point::Arrival, "receive, with datagrams in the socket,");
        let (mut counted, mut seen, mut most) =
            (BatchCount::default(), SeenDatagrams::default(), 0);
        while counted.packets < sent.len() as u64 && seen.0.len() < sent.len() {
            let published = stage.meter.received.read().packets;
            let moved = self.take(&mut seen)?;
            counted.packets += moved.packets;
            counted.bytes += moved.bytes;
            // An engine may publish each datagram itself: then many in one call surprise nobody.
            if stage.meter.received.read().packets == published {
                most = most.max(moved.packets);
            }
        }
        let bytes: usize = sent.iter().map(Vec::len).sum();
        let truth = BatchCount::of(sent.len() as u64, bytes as u64);
        seen.is_what_was_sent(sent, counted)?;
        if counted != truth {
            let (told, truth) = (words(counted), words(truth));
            let found = format!("receive counted {told}, and it received {truth}");
            return broken(Point::Count, found);
        }
        is_a_batch::<E>("receive", most, E::ABOUT.receives_batches)?;
        seen.is_from(peer, connection)
    }

    /// Receives an empty datagram. Whether [`Check`] sees it does not matter.
    fn receives_an_empty_one(&mut self, peer: &Peer) -> CheckResult {
        let call = "receive, with an empty datagram in the socket, which is no end,";
        self.stage.begin(Point::EmptyDatagram, call);
        peer.send(&[]);
        loop {
            let outcome = self.receive(&mut NoCheck);
            match self.stage.moved(outcome)? {
                None => {}
                Some(moved) if moved == BatchCount::one(0) => return Ok(()),
                Some(moved) => {
                    let found = format!("receive counted {} for an empty datagram", words(moved));
                    return broken(Point::EmptyDatagram, found);
                }
            }
        }
    }

    /// Receives one batch, which may be empty.
    pub(super) fn take(&mut self, seen: &mut SeenDatagrams) -> Result<BatchCount, super::Finding> {
        let before = seen.0.len();
        match self.receive(seen) {
            Ok(moved) if seen.0.len() > before => Ok(moved),
            outcome => Ok(self.stage.moved(outcome)?.unwrap_or_default()),
        }
    }
}

/// Returns a byte that fills datagram number `n`.
fn content(n: usize) -> u8 {
    u8::try_from(n % 250 + 1).unwrap_or(u8::MAX)
}

/// Fails unless datagrams arrived at the peer, from the endpoint's own socket.
fn are_from_here(moved: BatchCount, arrived: &[(Vec<u8>, SocketAddr)], peer: &Peer) -> CheckResult {
    if arrived.is_empty() {
        let found = format!(
            "transmit counted {}, and nothing came to the peer: send over the connection of the endpoint's socket if \
             it is connected, else to Fill::destination, or if that is None to Endpoint::peer",
            words(moved)
        );
        return broken(Point::Destination, found);
    }
    if arrived.iter().any(|(_, source)| *source != peer.ours) {
        let found = "a datagram came from another socket than the endpoint's";
        return broken(Point::Destination, found);
    }
    Ok(())
}

/// Fails unless each datagram is what [`Fill::fill`] wrote, in its order.
fn is_what_was_filled(
    arrived: &[(Vec<u8>, SocketAddr)],
    fill: &Recorded,
    has_own_payloads: bool,
) -> CheckResult {
    let last = lock(&fill.last);
    let Some(filled) = &*last else {
        let found = "transmit did not call Fill::fill before it sent";
        return broken(Point::Fill, found);
    };
    let is_filled = |(n, (datagram, _)): (usize, &(Vec<u8>, SocketAddr))| {
        if has_own_payloads {
            filled.get(n) == Some(datagram)
        } else {
            filled.contains(datagram)
        }
    };
    let Some(n) = arrived.iter().enumerate().position(|it| !is_filled(it)) else {
        return Ok(());
    };
    let found = format!(
        "datagram {} of {} is not what Fill::fill wrote: hand it the memory of the whole batch, which has {BYTES} B for \
         each datagram if IoOptions::own_payloads is set, and send that",
        n + 1,
        arrived.len(),
    );
    broken(Point::Fill, found)
}

/// A [`Fill`] that gives each datagram a number, and keeps a copy of the last batch.
pub(super) struct Recorded {
    destination: Option<SocketAddr>,
    number: AtomicU8,
    /// Datagrams of the last batch.
    last: Mutex<Option<Vec<Vec<u8>>>>,
}

impl Recorded {
    /// Creates a fill with this destination.
    pub(super) fn to(destination: Option<SocketAddr>) -> Self {
        Self {
            destination,
            number: AtomicU8::default(),
            last: Mutex::default(),
        }
    }
}

impl Fill for Recorded {
    fn fill(&self, memory: &mut [u8]) {
        for datagram in memory.chunks_mut(BYTES) {
            datagram.fill(self.number.fetch_add(1, Ordering::Relaxed));
        }
        let batch = memory.chunks(BYTES).map(<[u8]>::to_vec).collect();
        *lock(&self.last) = Some(batch);
    }

    fn sent(&mut self, _packets: u64) {}

    fn destination(&self) -> Option<SocketAddr> {
        self.destination
    }
}

/// Datagrams shown to the check, with their origins.
#[derive(Default)]
pub(super) struct SeenDatagrams(pub(super) Vec<(Vec<u8>, Origin)>);

impl Check for SeenDatagrams {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        self.0.push((datagram.to_vec(), origin));
    }
}

impl SeenDatagrams {
    /// Fails unless the check saw what was sent.
    fn is_what_was_sent(&self, sent: &[Vec<u8>], counted: BatchCount) -> CheckResult {
        let times = self.0.len();
        if times != sent.len() && counted.packets == sent.len() as u64 {
            let told = words(counted);
            let found = format!(
                "receive counted {told}, and called Check {times} times: call it once for each datagram"
            );
            return broken(Point::Check, found);
        }
        for (n, (datagram, _)) in self.0.iter().enumerate() {
            let (length, other) = (datagram.len(), sent.get(n));
            let bytes = other.map_or(length, Vec::len);
            if bytes != length {
                let found = format!(
                    "Check saw {length} B of a datagram of {bytes} B: show it the datagram, not the buffer"
                );
                return broken(Point::Check, found);
            }
            if other != Some(datagram) {
                let found = "Check saw other content than was sent, or datagrams in another order";
                return broken(Point::Check, found);
            }
        }
        Ok(())
    }

    /// Fails unless all datagrams are from the peer.
    fn is_from(&self, peer: &Peer, connection: Connection) -> CheckResult {
        let right = Origin {
            endpoint: peer.endpoint,
            source: (connection == Connection::Unconnected).then_some(peer.address),
        };
        let Some((_, origin)) = self.0.iter().find(|(_, origin)| *origin != right) else {
            return Ok(());
        };
        let found = format!(
            "Check was told {origin:?} instead of {right:?}: the source is the sender if the socket is unconnected, else \
             None, since recv(2) has none"
        );
        broken(Point::Source, found)
    }
}
