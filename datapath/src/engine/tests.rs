//! What calls of several operations come to.

use super::*;

#[test]
fn every_failed_operation_is_counted_beside_what_was_moved_or_in_its_stead() {
    let meter = Meter::default();
    let batched = |packets, failed| Batched {
        moved: Burst::of(packets, packets),
        failed,
        errno: libc::ECONNREFUSED,
    };
    let errors = || meter.errors.load(Ordering::Relaxed);
    for (packets, failed, counted) in [(5, 0, 0), (3, 2, 2)] {
        let burst = batched(packets, failed).counted(&meter);
        assert_eq!(
            burst.expect("something was moved"),
            Burst::of(packets, packets)
        );
        assert_eq!(errors(), counted);
    }
    let error = batched(0, 4)
        .counted(&meter)
        .expect_err("nothing was moved");
    assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
    assert_eq!(errors(), 2 + 3, "and one that the loop counts");
}
