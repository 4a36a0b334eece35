//! Tests of the accounting of calls with several operations.

use super::*;

fn outcome(packets: u64, failed: u32) -> BatchOutcome {
    BatchOutcome {
        moved: BatchCount::of(packets, packets),
        failed,
        errno: libc::ECONNREFUSED,
    }
}

#[test]
fn every_receive_that_failed_is_counted_beside_what_was_moved_or_in_its_stead() {
    let meter = Meter::default();
    let errors = || meter.errors.load(Ordering::Relaxed);
    for (packets, failed, counted) in [(5, 0, 0), (3, 2, 2)] {
        let moved = outcome(packets, failed).received(&meter);
        assert_eq!(
            moved.expect("something was moved"),
            BatchCount::of(packets, packets)
        );
        assert_eq!(errors(), counted);
    }
    let error = outcome(0, 4)
        .received(&meter)
        .expect_err("nothing was moved");
    assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
    assert_eq!(errors(), 2 + 3, "and one that the loop counts");
}

#[test]
fn what_was_refused_was_sent() {
    let meter = Meter::default();
    let moved = outcome(5, 2).sent(&meter, || false);
    assert_eq!(moved.expect("five went"), BatchCount::of(7, 5));
    assert_eq!(meter.refusals.packets(), 2);
    let moved = outcome(3, 0).sent(&meter, || false);
    assert_eq!(moved.expect("three went"), BatchCount::of(3, 3));
    let moved = outcome(3, 4).sent(&meter, || true);
    assert_eq!(moved.expect("three went"), BatchCount::of(3, 3));
    let error = outcome(0, 3).sent(&meter, || false).expect_err("none went");
    assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
    assert_eq!(meter.refusals.packets(), 2, "the loop counts these");
    assert_eq!(meter.errors.load(Ordering::Relaxed), 0);
}
