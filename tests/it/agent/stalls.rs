//! Round trips of a client whose server is stopped for a while, in an open and in a closed loop.

use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::data::RoundTrips;

use super::{case, end, far_agent, run, spec, with_agents};

const STALL: Duration = Duration::from_millis(100);

/// The stall is in all requests that were due while it lasted, from all of it down to nothing.
#[test]
fn in_an_open_loop_a_server_that_is_stopped_delays_all_requests_meanwhile() {
    let found = stalled("std:std/2t/100B/connected/v4/rr/up/rate500");
    let stall_ns = STALL.as_nanos() as f64;
    let times = &found.times;
    let quantile = |share| times.quantile(share).expect("some were answered");
    assert!(quantile(1.0) >= 0.95 * stall_ns, "{times:?}");
    // 500 per second: 50 in 100 ms, of 1,000 in the window. A busy machine delays more.
    let longer_than = |part: f64| {
        let count = times.count();
        let rank = |n: u64| (n as f64 - 0.5) / count as f64;
        (1..=count)
            .filter(|n| quantile(rank(*n)) >= part * stall_ns)
            .count()
    };
    let (half, most) = (longer_than(0.5), longer_than(0.9));
    assert!(
        (20..=200).contains(&half) && (2..=100).contains(&most),
        "{half} and {most} of {times:?}"
    );
}

/// The client waits: it sees the stall once, however many requests others would have sent meanwhile.
#[test]
fn in_a_closed_loop_a_server_that_is_stopped_costs_one_long_round_trip() {
    let found = stalled("std:std/2t/100B/connected/v4/rr/up");
    let longest_ns = found.times.quantile(1.0).expect("some were answered");
    let stall_ns = STALL.as_nanos() as f64;
    // On a busy machine the client, too, may have to wait before it asks.
    assert!(longest_ns >= 0.5 * stall_ns, "{longest_ns}");
    // On a busy machine others may be long, too, but not as long, nor many.
    let count = found.times.count();
    let long = (1..=count).rev();
    let share = |rank: u64| (rank as f64 - 0.5) / count as f64;
    let is_long = |rank: &u64| found.times.quantile(share(*rank)) >= Some(0.9 * stall_ns);
    assert!(long.take_while(is_long).count() <= 3, "{:?}", found.times);
}

/// The round trips of a window of two seconds, in which the server is stopped for a while.
fn stalled(key: &str) -> RoundTrips {
    let (child, mut servers) = far_agent();
    let pid = Pid::from_raw(child.id().try_into().expect("a process id"));
    let stall = thread::spawn(move || {
        // Within the window, also where it takes a while to begin.
        thread::sleep(10 * STALL);
        kill(pid, Signal::SIGSTOP).expect("it is ours");
        thread::sleep(STALL);
        kill(pid, Signal::SIGCONT).expect("it is ours");
    });
    let spec = spec(&case(key), 20 * STALL);
    let sample = with_agents(Some(&mut servers), |agents| run(&spec, agents));
    let sample = sample.expect("it is measured");
    stall.join().expect("no panic");
    end(child, servers);
    let found = sample.round_trips.clone().expect("somebody asked");
    assert_eq!((found.unanswered, sample.fault()), (0, None));
    found
}
