//! The contract between loops and engines, as a test for authors of engines.
//!
//! ```ignore
//! #[test]
//! fn it_keeps_the_contract() {
//!     udpbench::testing::check_engine::<MyEngine>();
//! }
//! ```
//!
//! The test opens the engine on sockets over loopback, connected and unconnected, IPv4 and IPv6, and compares what it
//! says with what arrives. Without an IPv6 loopback, it leaves that out. It needs no privileges, and about a second.
//!
//! | file | contents |
//! |---|---|
//! | `bench` | a thread with a time limit for each check, and the engine in it |
//! | `ends` | sockets of the engine and of its peers |
//! | `exchange` | compares a call with what the peer received or sent |
//! | `conduct` | waits that a datagram or a signal ends, receivers that must not wait, answers to requests |

mod bench;
mod conduct;
mod ends;
mod exchange;

use std::fmt;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use self::bench::{Bench, broken};
use self::ends::{Ends, V4, V6};
use crate::data::{Connection, choice};
use crate::engine::prelude::*;

#[cfg(test)]
pub(crate) use self::tests::controls::check_controls;

choice! {
    /// A point of the contract between loops and engines.
    #[non_exhaustive]
    Point {
        /// [`Engine::start`] and [`Engine::open`] succeed.
        Opens "the engine opens",
        /// [`Engine::open`] refuses several endpoints if the engine does not serve them.
        Endpoints "several endpoints are served or refused",
        /// Datagrams go out over the endpoint's socket: over its connection, or to [`Fill::destination`], or else to
        /// the endpoint's peer.
        Destination "datagrams go from the socket to their destination",
        /// Before each batch, [`Fill::fill`] sees the memory that is sent.
        Fill "Fill sees what is sent",
        /// A datagram that is in the socket is received, also if it arrives during the wait or is one of many.
        Arrival "what arrives is received",
        /// [`Check`] sees each received datagram once, with its own length.
        Check "Check sees what is received",
        /// [`Origin`] has the endpoint, and the source unless it is connected.
        Source "the origin is the source",
        /// A [`BatchCount`] has the datagrams and bytes that were moved.
        Count "the count is what was moved",
        /// A call moves no more than [`IoOptions::batch`] datagrams, and no more than one unless the engine's group is
        /// [`Group::Batch`] or [`Group::Offload`].
        Batch "a call moves at most a batch",
        /// A datagram without payload is a datagram.
        EmptyDatagram "a datagram may be empty",
        /// Calls carry the control messages of [`IoOptions::controls`], and a wrong one is told.
        Controls "control messages are sent and read",
        /// A signal ends a wait, with `Interrupted`.
        Interrupted "a signal ends a wait",
        /// A receiver that spins never waits; another one waits.
        Spin "only a receiver that spins does not wait",
        /// Nothing panics.
        Panic "nothing panics",
    }
}

/// Something that an engine does against the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The point that the engine breaks.
    pub point: Point,
    /// Conduct of the engine, and how to mend it.
    pub found: String,
    /// Sockets and directions of the checks that found it.
    pub when: Vec<String>,
}

impl Finding {
    /// Creates a finding of a check that is running.
    pub(super) fn new(point: Point, found: impl Into<String>) -> Self {
        Self {
            point,
            found: found.into(),
            when: Vec::new(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, found, when } = self;
        write!(f, "{point}: {found}")?;
        if !when.is_empty() {
            write!(f, " [{}]", when.join("; "))?;
        }
        Ok(())
    }
}

/// Time limit of a check: far longer than any engine needs, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
/// Number of endpoints for engines whose I/O objects serve many.
const MANY: usize = 3;

/// Tests that an engine keeps the contract of [`DatagramIo`] and
/// [`Engine`]. If the engine [cannot run](Engine::probe) on this machine, says so and tests nothing.
///
/// The test installs an empty handler for `SIGUSR1`.
///
/// # Panics
/// Panics with the list of [findings], if there is any.
pub fn check_engine<E: Engine>() {
    assert_none::<E>(findings::<E>);
}

fn assert_none<E: Engine>(findings: impl FnOnce() -> Vec<Finding>) {
    if let Err(why) = E::probe() {
        eprintln!("SKIPPED: {} cannot run here: {why}", E::ABOUT.name);
        return;
    }
    let findings = findings();
    assert!(findings.is_empty(), "{}", listed(E::ABOUT.name, &findings));
}

/// Returns what is wrong with an engine: for each point of the contract that it breaks, one finding for each way in
/// which it does. A call that never returns ends the test after 20 s; what comes after it is not checked. Its thread
/// is left behind.
pub fn findings<E: Engine>() -> Vec<Finding> {
    within::<E>(LIMIT)
}

/// Formats findings as the message of a failed test.
fn listed(engine: &str, findings: &[Finding]) -> String {
    let mut text = format!("the engine {engine} breaks the contract:\n");
    for finding in findings {
        let _ = writeln!(text, "- {finding}");
    }
    text
}

/// Checks all points, each within the time limit.
fn within<E: Engine>(limit: Duration) -> Vec<Finding> {
    let serves_many = E::ABOUT.many_endpoints == ManyEndpoints::OneIo;
    let serves_requests = E::ABOUT.can_serve_requests.is_ok();
    let directions = [
        (Direction::Sends, sends::<E>()),
        (Direction::Receives, receives::<E>()),
        (Direction::Both, serves_requests),
    ];
    let directions = directions.iter().filter(|(_, is_used)| *is_used);
    let directions: Vec<Direction> = directions.map(|(direction, _)| *direction).collect();
    let mut bench = Bench::new(limit);
    for &count in if serves_many { &[1, MANY][..] } else { &[1] } {
        for &direction in &directions {
            exchange::<E>(&mut bench, direction, (Connection::Connected, V4), count);
            exchange::<E>(&mut bench, direction, (Connection::Unconnected, V4), count);
        }
    }
    for &direction in &directions {
        exchange::<E>(&mut bench, direction, (Connection::Unconnected, V6), 1);
    }
    if receives::<E>() {
        conduct::waits::<E>(&mut bench);
    }
    if serves_requests {
        conduct::answers_requests::<E>(&mut bench);
    }
    if !serves_many {
        refuses_two_endpoints::<E>(&mut bench);
    }
    bench.findings
}

/// Returns whether the engine has to send. One that only receives has to if a single thread is to do both.
fn sends<E: Engine>() -> bool {
    !matches!(E::ABOUT.partner, Partner::SentBy(_)) || serves_both::<E>()
}

/// Returns whether the engine has to receive. One that only sends has to if a single thread is to do both.
fn receives<E: Engine>() -> bool {
    !matches!(E::ABOUT.partner, Partner::ReceivedBy(_)) || serves_both::<E>()
}

fn serves_both<E: Engine>() -> bool {
    E::ABOUT.one_thread.is_ok() || E::ABOUT.can_serve_requests.is_ok()
}

/// Sends over each endpoint of one I/O object, and receives over each.
fn exchange<E: Engine>(
    bench: &mut Bench,
    direction: Direction,
    (connection, ip): (Connection, IpAddr),
    count: usize,
) {
    let Some(ends) = Ends::new(connection, ip, count) else {
        return;
    };
    bench.check(ends.when(direction), move |stage| {
        let options = IoOptions {
            connection,
            ..bench::options(ends.endpoints, direction)
        };
        let mut opened = stage.open::<E>(options)?;
        for peer in ends.peers.iter().chain(&ends.peers) {
            if direction.sends() {
                opened.check_sending(peer, direction)?;
            }
            if direction.receives() {
                opened.check_receiving(peer, connection)?;
            }
        }
        Ok(())
    });
}

/// Checks that an engine does not ignore all endpoints but one.
fn refuses_two_endpoints<E: Engine>(bench: &mut Bench) {
    let options = bench::options(Ends::unconnected(2).endpoints, Direction::Both);
    bench.check("two endpoints", move |stage| {
        if stage.open::<E>(options).is_err() {
            return Ok(());
        }
        broken(
            Point::Endpoints,
            "open took two endpoints, though ABOUT.many_endpoints is not OneIo: take the only one by \
             IoOptions::only_endpoint, which refuses more",
        )
    });
}

#[cfg(test)]
mod tests;
