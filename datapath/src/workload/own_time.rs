//! Measures the client's own share of a round trip.

use std::sync::Arc;

use super::client::Client;
use super::numbering::Numbering;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::HEAD_BYTES;
use crate::sys::clock;

/// Returns the mean time that a client itself spends on a request and its response, in nanoseconds, if the response is
/// available immediately. A measured round trip contains no more overhead of the client than this. The measurement
/// takes about a millisecond.
pub fn own_round_trip_ns() -> Option<f64> {
    const ASKED: u32 = 10_000;
    let mut client = Client::new(Numbering::new(0, None), (1, 1), Arc::default());
    client.meter().open_window();
    let mut memory = [0; HEAD_BYTES];
    let begin = clock::monotonic_ns();
    for _ in 0..ASKED {
        client.prepare()?;
        client.fill(&mut memory);
        client.sent(1);
        client.check(&memory, Origin::PEER);
    }
    let took_ns = clock::monotonic_ns().saturating_sub(begin);
    Some(took_ns as f64 / f64::from(ASKED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_some_time() {
        assert!(own_round_trip_ns() > Some(0.0));
    }
}
