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
//! | `finding` | points of the contract, and what breaks them |
//! | `sending`, `receiving` | compare a call with what the peer received or sent |
//! | `waiting` | waits that a datagram or a signal ends, and receivers that must not wait |
//! | `answering` | requests and responses |
//! | `controls` | control messages, of engines of this package |

mod answering;
mod bench;
#[cfg(test)]
mod controls;
mod ends;
mod finding;
mod receiving;
mod sending;
mod waiting;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use self::bench::Bench;
use self::ends::{Ends, Family};
pub use self::finding::{Finding, Point};
use crate::engine::{
    Addressing, Connected, Direction, Engine, ManyEndpoints, Partner, Unconnected,
};

/// Time limit of a check: far longer than any engine needs, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
/// Number of endpoints for engines whose I/O objects serve many.
const MANY: usize = 3;

/// Tests that an engine keeps the contract of [`DatagramIo`](crate::engine::DatagramIo) and
/// [`Engine`]. If the engine [cannot run](Engine::probe) on this machine, says so and tests nothing.
///
/// The test installs an empty handler for `SIGUSR1`.
///
/// # Panics
/// Panics with the list of [findings], if there is any.
pub fn check_engine<E: Engine>() {
    if let Err(why) = E::probe() {
        eprintln!("SKIPPED: {} cannot run here: {why}", E::ABOUT.name);
        return;
    }
    let findings = findings::<E>();
    assert!(findings.is_empty(), "{}", listed(E::ABOUT.name, &findings));
}

/// Tests that the calls of an engine carry control messages and tell wrong ones.
///
/// # Panics
/// Panics with the list of findings, if there is any.
#[cfg(test)]
pub(crate) fn check_controls<E: Engine>() {
    if let Err(why) = E::probe() {
        eprintln!("SKIPPED: {} cannot run here: {why}", E::ABOUT.name);
        return;
    }
    let mut bench = Bench::<E>::new(LIMIT);
    controls::check(&mut bench);
    let findings = bench.into_findings();
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
    let mut bench = Bench::<E>::new(limit);
    let counts: &[usize] = match E::ABOUT.many_endpoints {
        ManyEndpoints::OneIo => &[1, MANY],
        _ => &[1],
    };
    for &count in counts {
        for direction in directions::<E>() {
            exchange::<E, Connected>(&mut bench, direction, Family::V4, count);
            exchange::<E, Unconnected>(&mut bench, direction, Family::V4, count);
        }
    }
    for direction in directions::<E>() {
        exchange::<E, Unconnected>(&mut bench, direction, Family::V6, 1);
    }
    if receives::<E>() {
        waiting::check(&mut bench);
    }
    if E::ABOUT.can_serve_requests.is_ok() {
        answering::check(&mut bench);
    }
    if E::ABOUT.many_endpoints != ManyEndpoints::OneIo {
        refuses_two_endpoints(&mut bench);
    }
    bench.into_findings()
}

/// Returns the directions in which the loops open an I/O object of this engine.
fn directions<E: Engine>() -> Vec<Direction> {
    let mut directions = Vec::new();
    if sends::<E>() {
        directions.push(Direction::Sends);
    }
    if receives::<E>() {
        directions.push(Direction::Receives);
    }
    if E::ABOUT.can_serve_requests.is_ok() {
        directions.push(Direction::Both);
    }
    directions
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
fn exchange<E: Engine, A: Addressing>(
    bench: &mut Bench<E>,
    direction: Direction,
    family: Family,
    count: usize,
) {
    let Some(ends) = Ends::new::<A>(family, count) else {
        return;
    };
    bench.check(ends.when(direction), move |stage| {
        let engine = bench::start_with::<E>(&Arc::default(), &stage.meter)?;
        let options = bench::options(ends.endpoints, direction);
        let mut io = bench::open::<E, A>(&engine, options)?;
        for _turn in 0..2 {
            for peer in &ends.peers {
                if direction.sends() {
                    sending::check(&engine, &mut io, peer, stage, direction)?;
                }
                if direction.receives() {
                    receiving::check::<E, A>(&engine, &mut io, peer, stage)?;
                }
            }
        }
        Ok(())
    });
}

/// Checks that an engine does not ignore all endpoints but one.
fn refuses_two_endpoints<E: Engine>(bench: &mut Bench<E>) {
    let Some(ends) = Ends::new::<Unconnected>(Family::V4, 2) else {
        return;
    };
    bench.check("two endpoints", move |_| {
        let options = bench::options(ends.endpoints, Direction::Both);
        match bench::start::<E>()?.open::<Unconnected>(options) {
            Err(_) => Ok(()),
            Ok(_) => Err(Finding::new(
                Point::Endpoints,
                "open took two endpoints, though ABOUT.many_endpoints is not OneIo: take the only one by \
                 IoOptions::only_endpoint, which refuses more",
            )),
        }
    });
}

#[cfg(test)]
mod tests;
