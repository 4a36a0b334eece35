//! Tests of open-loop clients.

use super::*;
use crate::data::Arrivals;
use crate::engine::verify::HEAD_BYTES;

/// Creates a client in a window that never ends.
fn client(gap_ns: f64) -> (Pacer, Collector) {
    let shared = (
        Arc::new(InFlight::every(gap_ns, 1)),
        Arc::<RoundTripMeter>::default(),
    );
    shared.1.open_window();
    let numbering = Numbering::new(3, None);
    let schedule = DueTimes::new(gap_ns, Arrivals::Even);
    let pacer = Pacer::new(numbering.clone(), 1, schedule, shared.clone());
    (pacer, Collector::new(numbering, shared))
}

fn sends(pacer: &mut Pacer) -> [u8; HEAD_BYTES] {
    let mut memory = [0; HEAD_BYTES];
    pacer.counts = pacer.meter.is_open();
    pacer.fill(&mut memory);
    pacer.sent(1);
    memory
}

#[test]
fn a_round_trip_counts_from_when_its_request_was_due() {
    let (mut pacer, mut collector) = client(1000.0);
    pacer.schedule.due_ns = clock::monotonic_ns() - 5_000_000;
    let request = sends(&mut pacer);
    collector.check(&request, Origin::PEER);
    collector.check(&request, Origin::PEER);
    let found = collector.meter.round_trips();
    assert_eq!(
        (found.times.count(), found.unanswered, found.late),
        (1, 0, 1)
    );
    assert!(found.sum_ns >= 5_000_000, "{}", found.sum_ns);
}

/// Holds however late the response arrives, and whenever the coordinator thread gets to run.
#[test]
fn a_request_that_is_due_in_the_window_is_of_it_with_its_answer() {
    let (mut pacer, mut collector) = client(1000.0);
    let send = |pacer: &mut Pacer| {
        pacer.schedule.due_ns = clock::monotonic_ns();
        sends(pacer)
    };
    pacer.meter.close_window();
    let before = send(&mut pacer);
    pacer.meter.open_window();
    let within = [(); 2].map(|()| send(&mut pacer));
    collector.check(&before, Origin::PEER);
    collector.check(&within[0], Origin::PEER);
    pacer.meter.close_window();
    let after = send(&mut pacer);
    collector.check(&within[1], Origin::PEER);
    collector.check(&after, Origin::PEER);
    let found = collector.meter.round_trips();
    assert_eq!(
        (found.times.count(), found.unanswered, found.late),
        (2, 0, 0)
    );
}

#[test]
fn an_answer_that_comes_too_late_is_none() {
    let (mut pacer, mut collector) = client(1000.0);
    pacer.schedule.due_ns = clock::monotonic_ns() - TIMEOUT_NS;
    let request = sends(&mut pacer);
    collector.check(&request, Origin::PEER);
    let found = collector.meter.round_trips();
    assert_eq!(
        (found.times.count(), found.unanswered, found.late),
        (0, 1, 1)
    );
}

#[test]
fn where_there_are_too_many_the_oldest_are_given_up() {
    let (mut pacer, mut collector) = client(1e12);
    let far_off = clock::monotonic_ns() + 3_600_000_000_000;
    let mut requests = Vec::new();
    for _ in 0..InFlight::PLACES.start() + 10 {
        pacer.schedule.due_ns = far_off;
        requests.push(sends(&mut pacer));
    }
    for request in &requests {
        collector.check(request, Origin::PEER);
    }
    let found = collector.meter.round_trips();
    assert_eq!((found.unanswered, found.late), (10, 10));
}
