//! Round trips of a client whose server is stopped again and again, in an open and in a closed loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::data::RoundTrips;

use super::{case, end, far_agent, run, spec, with_agents};
use crate::common::AtEnd;

const STALL: Duration = Duration::from_millis(100);
const WINDOW: Duration = Duration::from_secs(2);

/// The stall is in all requests that were due while it lasted, from all of it down to nothing.
#[test]
fn in_an_open_loop_a_server_that_is_stopped_delays_all_requests_meanwhile() {
    let found = stalled("std:std/2t/100B/connected/v4/rr/up/rate500");
    let stall_ns = STALL.as_nanos() as f64;
    let times = &found.times;
    let quantile = |share| times.quantile(share).expect("some were answered");
    assert!(quantile(1.0) >= 0.95 * stall_ns, "{times:?}");
    // 500 per second: 50 in each 100 ms. A busy machine delays more.
    let longer_than = |part: f64| {
        let count = times.count();
        let rank = |n: u64| (n as f64 - 0.5) / count as f64;
        (1..=count)
            .filter(|n| quantile(rank(*n)) >= part * stall_ns)
            .count()
    };
    let (half, most) = (longer_than(0.5), longer_than(0.9));
    assert!(half >= 20 && most >= 2, "{half} and {most} of {times:?}");
}

/// The client waits: it sees a stall once, however many requests others would have sent meanwhile. So all its round
/// trips together are no longer than the window, and the last of them.
#[test]
fn in_a_closed_loop_a_server_that_is_stopped_costs_one_long_round_trip() {
    let found = stalled("std:std/2t/100B/connected/v4/rr/up");
    let longest_ns = found.times.quantile(1.0).expect("some were answered");
    let stall_ns = STALL.as_nanos() as f64;
    // On a busy machine the client, too, may have to wait before it asks.
    assert!(longest_ns >= 0.5 * stall_ns, "{longest_ns}");
    let together = found.sum_ns as f64;
    let window = WINDOW.as_nanos() as f64;
    assert!(
        together <= 1.01 * (window + longest_ns),
        "{together} {:?}",
        found.times
    );
}

/// The round trips of a window in which the server is stopped for a while, several times: nobody can know from outside
/// when a window begins.
fn stalled(key: &str) -> RoundTrips {
    let (child, mut servers) = far_agent();
    let pid = Pid::from_raw(child.id().try_into().expect("a process id"));
    let is_over = AtomicBool::new(false);
    let spec = spec(&case(key), WINDOW);
    let sample = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(4 * STALL);
                kill(pid, Signal::SIGSTOP).expect("it is ours");
                thread::sleep(STALL);
                kill(pid, Signal::SIGCONT).expect("it is ours");
            }
        });
        let _over = AtEnd(|| is_over.store(true, Ordering::Relaxed));
        with_agents(Some(&mut servers), |agents| run(&spec, agents))
    });
    let sample = sample.expect("it is measured");
    end(child, servers);
    let found = sample.round_trips.clone().expect("somebody asked");
    assert_eq!((found.unanswered, sample.fault()), (0, None));
    found
}
