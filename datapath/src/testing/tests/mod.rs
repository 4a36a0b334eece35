//! Tests that the contract names the one thing that is wrong with an engine, and nothing else.

pub(crate) mod controls;
mod wrong;

use std::time::Duration;

use self::wrong::{Fault, Has, Wrong};
use super::*;

/// Returns the points that an engine breaks, each once.
fn points<F: Has>() -> Vec<Point> {
    let mut points = Vec::new();
    for finding in within::<Wrong<F>>(Duration::from_secs(4)) {
        eprintln!("{:?}: {finding}", F::FAULT);
        if !points.contains(&finding.point) {
            points.push(finding.point);
        }
    }
    points
}

/// A test for each fault: the points that the contract names.
macro_rules! faults {
    ($($name:ident: $fault:ident => [$($point:ident)?];)+) => {
        $(
            #[test]
            fn $name() {
                enum It {}
                impl Has for It {
                    const FAULT: Fault = Fault::$fault;
                }
                let expected: &[Point] = &[$(Point::$point)?];
                assert_eq!(points::<It>(), expected);
            }
        )+
    };
}

faults! {
    an_engine_without_a_fault: None => [];
    an_engine_that_cannot_open: CannotOpen => [Opens];
    an_engine_that_drops_all_endpoints_but_one: IgnoresOtherEndpoints => [Endpoints];
    a_sender_that_knows_one_of_many_endpoints: UsesFirstEndpoint => [Destination];
    a_sender_with_another_destination: SendsToItself => [Destination];
    a_sender_with_a_socket_of_its_own: SendsFromOtherSocket => [Destination];
    a_server_that_ignores_the_source_of_a_request: IgnoresDestination => [Destination];
    a_sender_that_fills_nothing: NeverFills => [Fill];
    a_sender_that_fills_what_it_has_sent: FillsAfterwards => [Fill];
    a_sender_that_fills_one_of_a_batch: FillsOne => [Fill];
    a_sender_that_counts_more_than_it_sent: CountsOneMoreSent => [Count];
    a_sender_that_counts_no_bytes: CountsNoBytesSent => [Count];
    a_sender_of_more_than_a_batch: SendsTwoBatches => [Batch];
    an_engine_with_batches_that_calls_itself_blocking: CallsItselfBlocking => [Batch];
    a_receiver_that_waits_before_each_of_many: TakesOnePerWait => [Arrival];
    a_receiver_that_no_datagram_wakes: SleepsThroughArrivals => [Arrival];
    a_receiver_that_shows_nothing: NeverChecks => [Check];
    a_receiver_that_shows_its_buffer: ChecksWholeBuffer => [Check];
    a_receiver_without_sources: TellsNoSource => [Source];
    a_receiver_with_the_source_of_a_connection: TellsSourceOfConnected => [Source];
    a_receiver_that_knows_one_of_many_endpoints: TellsFirstEndpoint => [Source];
    a_receiver_that_counts_its_buffers: CountsBuffers => [Count];
    a_receiver_that_counts_a_batch_as_one: CountsOneForAll => [Count];
    a_receiver_of_more_than_a_batch: TakesTwoBatches => [Batch];
    a_receiver_that_ends_at_an_empty_datagram: TakesEmptyForEnd => [EmptyDatagram];
    a_receiver_that_panics_at_an_empty_datagram: CannotTakeEmpty => [Panic];
    a_receiver_that_no_signal_wakes: RepeatsAfterSignal => [Interrupted];
    a_receiver_that_fails_when_a_signal_comes: HidesInterruption => [Interrupted];
    a_receiver_that_waits_though_it_is_to_spin: WaitsThoughItSpins => [Spin];
    a_receiver_that_spins_though_it_is_to_wait: NeverWaits => [Spin];
    a_future_that_nobody_wakes: Suspends => [Panic];
}

#[test]
fn the_message_of_a_failed_test_has_all_findings() {
    let finding = |point, when: &[&str]| Finding {
        when: when.iter().map(|&it| it.to_owned()).collect(),
        ..Finding::new(point, "it did that")
    };
    let findings = [
        finding(Point::Fill, &["connected", "unconnected"]),
        finding(Point::Spin, &[]),
    ];
    assert_eq!(
        listed("mine", &findings),
        "the engine mine breaks the contract:\n\
         - Fill sees what is sent: it did that [connected; unconnected]\n\
         - only a receiver that spins does not wait: it did that\n"
    );
}
