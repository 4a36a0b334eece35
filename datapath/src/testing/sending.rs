//! Compares what a call sent with what the peer received.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use super::bench::{self, BYTES, Outcome, Stage, words};
use super::ends::Peer;
use super::{Finding, Point};
use crate::engine::payload::Fill;
use crate::engine::{BatchCount, DatagramIo, Direction, Engine, is_to_be_made_again};

/// Sends one batch and checks what arrived.
pub(super) fn check<E: Engine>(
    engine: &E,
    io: &mut impl DatagramIo,
    peer: &Peer,
    stage: &Stage,
    direction: Direction,
) -> Outcome {
    let fill = Recorded::to(None);
    let moved = transmit(engine, io, peer.endpoint, &fill, stage)?;
    let arrived = peer.take(moved.packets);
    are_from_here(moved, &arrived, peer)?;
    is_counted(moved, &arrived)?;
    bench::is_a_batch::<E>("transmit", arrived.len() as u64, E::ABOUT.sends_batches)?;
    is_what_was_filled(&arrived, &fill, bench::differ(direction))
}

/// Sends until something was sent.
pub(super) fn transmit<E: Engine>(
    engine: &E,
    io: &mut impl DatagramIo,
    endpoint: usize,
    fill: &Recorded,
    stage: &Stage,
) -> Result<BatchCount, Finding> {
    stage.begin(Point::Destination, "transmit");
    loop {
        let last = match engine.run(async { io.transmit(endpoint, fill).await }) {
            Ok(BatchCount { packets: 0, .. }) => "an empty batch".to_owned(),
            Ok(moved) => return Ok(moved),
            Err(error) if is_to_be_made_again(&error) => error.to_string(),
            Err(error) => {
                let found = format!("transmit failed, though loopback takes any datagram: {error}");
                return Err(Finding::new(Point::Destination, found));
            }
        };
        stage.still_has_time(&last)?;
    }
}

/// Fails unless datagrams arrived at the peer, from the endpoint's own socket.
fn are_from_here(moved: BatchCount, arrived: &[(Vec<u8>, SocketAddr)], peer: &Peer) -> Outcome {
    let found = if arrived.is_empty() {
        format!(
            "transmit counted {}, and nothing came to the peer: send over the connection of the endpoint's socket if \
             it is connected, else to Fill::destination, or if that is None to Endpoint::peer",
            words(moved)
        )
    } else if arrived.iter().any(|(_, source)| *source != peer.ours) {
        "a datagram came from another socket than the endpoint's".to_owned()
    } else {
        return Ok(());
    };
    Err(Finding::new(Point::Destination, found))
}

/// Fails unless the call counted what arrived.
fn is_counted(moved: BatchCount, arrived: &[(Vec<u8>, SocketAddr)]) -> Outcome {
    let bytes = arrived.iter().map(|(datagram, _)| datagram.len() as u64);
    let truth = BatchCount::of(arrived.len() as u64, bytes.sum());
    if moved == truth {
        return Ok(());
    }
    let (told, truth) = (words(moved), words(truth));
    Err(Finding::new(
        Point::Count,
        format!("transmit counted {told}, and {truth} arrived"),
    ))
}

/// Fails unless each datagram is what [`Fill::fill`] wrote, in its order.
fn is_what_was_filled(
    arrived: &[(Vec<u8>, SocketAddr)],
    fill: &Recorded,
    has_own_payloads: bool,
) -> Outcome {
    let filled = fill.last();
    let Some(filled) = filled else {
        let found = "transmit did not call Fill::fill before it sent";
        return Err(Finding::new(Point::Fill, found));
    };
    let is_filled = |(n, (datagram, _)): (usize, &(Vec<u8>, SocketAddr))| {
        if has_own_payloads {
            filled.get(n) == Some(datagram)
        } else {
            filled.contains(datagram)
        }
    };
    match arrived.iter().enumerate().position(|it| !is_filled(it)) {
        None => Ok(()),
        Some(n) => Err(Finding::new(
            Point::Fill,
            format!(
                "datagram {} of {} is not what Fill::fill wrote: hand it the memory of the whole batch, which has {BYTES} \
                 B for each datagram if IoOptions::own_payloads is set, and send that",
                n + 1,
                arrived.len(),
            ),
        )),
    }
}

/// A [`Fill`] that gives each datagram a number, and keeps a copy of the last batch.
pub(super) struct Recorded {
    destination: Option<SocketAddr>,
    batches: Mutex<Batches>,
}

#[derive(Default)]
struct Batches {
    /// Number of the last datagram.
    number: u8,
    /// Datagrams of the last batch.
    last: Option<Vec<Vec<u8>>>,
}

impl Recorded {
    /// Creates a fill with this destination.
    pub(super) fn to(destination: Option<SocketAddr>) -> Self {
        Self {
            destination,
            batches: Mutex::default(),
        }
    }

    /// Returns the datagrams of the last batch. `None`: there was none.
    fn last(&self) -> Option<Vec<Vec<u8>>> {
        let batches = self.batches.lock();
        batches.unwrap_or_else(PoisonError::into_inner).last.clone()
    }
}

impl Fill for Recorded {
    fn fill(&self, memory: &mut [u8]) {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        for datagram in memory.chunks_mut(BYTES) {
            batches.number = batches.number.wrapping_add(1);
            datagram.fill(batches.number);
        }
        batches.last = Some(memory.chunks(BYTES).map(<[u8]>::to_vec).collect());
    }

    fn sent(&mut self, _packets: u64) {}

    fn destination(&self) -> Option<SocketAddr> {
        self.destination
    }
}
