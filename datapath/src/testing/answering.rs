//! Requests and responses: an endpoint without a peer sends to the source of what it received.

use super::bench::{self, BYTES, Bench, Outcome, Stage, words};
use super::ends::{Ends, Family, Peer};
use super::receiving::{Seen, receive};
use super::sending::{Recorded, transmit};
use super::{Finding, Point};
use crate::engine::{BatchCount, DatagramIo, Direction, Endpoint, Engine, IoOptions, Unconnected};

/// Checks that responses go to the source of each request, one datagram each.
pub(super) fn check<E: Engine>(bench: &mut Bench<E>) {
    let (ends, other) = (
        Ends::new::<Unconnected>(Family::V4, 1),
        Ends::new::<Unconnected>(Family::V4, 1),
    );
    let Some((mut ends, mut other)) = ends.zip(other) else {
        return;
    };
    let first = ends.peers.remove(0);
    let second = Peer {
        ours: first.ours,
        ..other.peers.remove(0)
    };
    let endpoints = ends.endpoints.into_iter();
    let without_peer = endpoints.map(|it| Endpoint::of(it.socket, None)).collect();
    bench.check("unconnected, answers requests", move |stage| {
        let engine = bench::start::<E>()?;
        let options = IoOptions {
            batch: 1,
            ..bench::options(without_peer, Direction::Both)
        };
        let mut io = bench::open::<E, Unconnected>(&engine, options)?;
        for client in [&first, &second, &first] {
            answers(&engine, &mut io, client, stage)?;
        }
        Ok(())
    });
}

/// Receives a request of the client, and sends a response to its source.
fn answers<E: Engine>(
    engine: &E,
    io: &mut impl DatagramIo,
    client: &Peer,
    stage: &Stage,
) -> Outcome {
    stage.begin(Point::Arrival, "receive, with a request in the socket,");
    client.send(&[1; BYTES]);
    let mut seen = Seen::default();
    while seen.0.is_empty() && receive(engine, io, &mut seen, stage)?.packets == 0 {}
    let source = Some(client.address);
    if seen.0.is_empty() {
        let found = "receive counted a request that Check did not see";
        return Err(Finding::new(Point::Check, found));
    }
    if seen.0.iter().any(|(_, origin)| origin.source != source) {
        let found = "Check was told another source than the client's";
        return Err(Finding::new(Point::Source, found));
    }
    let moved = transmit(engine, io, 0, &Recorded::to(source), stage)?;
    let arrived = client.take(1).len();
    if arrived == 0 {
        let found = "a response did not go to Fill::destination, which comes before Endpoint::peer on an unconnected \
                     socket (an engine that cannot, says so by ABOUT.can_serve_requests)";
        return Err(Finding::new(Point::Destination, found));
    }
    if arrived > 1 {
        let found = format!(
            "transmit sent {arrived} datagrams, though IoOptions::batch is 1 (an engine that cannot, says so by \
             ABOUT.can_serve_requests)"
        );
        return Err(Finding::new(Point::Batch, found));
    }
    if moved != BatchCount::one(BYTES) {
        let found = format!(
            "transmit counted {}, and one of {BYTES} B arrived",
            words(moved)
        );
        return Err(Finding::new(Point::Count, found));
    }
    Ok(())
}
