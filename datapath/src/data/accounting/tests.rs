//! Tests of the accounting, with counts made by hand.

use proptest::prelude::*;

use super::*;

fn counts(sent: u64, received: u64, dropped_socket: u64) -> Counts {
    Counts {
        sent,
        received,
        dropped_socket,
        ..Counts::default()
    }
}

#[test]
fn what_the_kernel_refused_was_sent_and_is_lost_at_the_sender() {
    let refused = |refused, counts| Counts { refused, ..counts };
    let accounting = Accounting {
        at_opening: refused(10, counts(100, 60, 10)), // 20 in flight
        at_closing: refused(400, counts(1000, 550, 20)), // 30 in flight
        at_end: refused(460, counts(1100, 610, 30)),
        // The discards include the refused datagrams.
        kernel_discards_at_opening: 10,
        kernel_discards_at_closing: 400,
        kernel_discards: 460,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.sent, window.refused), (1000, 450));
    assert_eq!((window.received, window.dropped_socket), (530, 20));
    assert_eq!((window.dropped_kernel, window.unaccounted), (0, 0));
    assert_eq!(accounting.queue_growth(), 10);
}

#[test]
fn what_was_in_flight_at_the_opening_is_not_counted_as_received_in_the_window() {
    let accounting = Accounting {
        at_opening: counts(100, 60, 10), // 30 in flight
        at_end: counts(1100, 1050, 50),  // all accounted for
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.sent, window.received), (1000, 960));
    assert_eq!((window.dropped_socket, window.unaccounted), (40, 0));
}

#[test]
fn a_shortfall_is_the_kernels_only_as_far_as_the_kernel_admits_it() {
    let accounting = Accounting {
        at_end: counts(100, 90, 0),
        kernel_discards: 7,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.dropped_kernel, window.unaccounted), (7, 3));
    let busy_host = Accounting {
        kernel_discards: 700,
        ..accounting
    };
    let window = busy_host.of_window();
    assert_eq!((window.dropped_kernel, window.unaccounted), (10, 0));
}

#[test]
fn what_the_kernel_discarded_before_the_window_is_no_queue_that_the_window_empties() {
    // One in twenty gets through; 10 are in flight at each edge.
    let accounting = Accounting {
        at_opening: counts(1000, 50, 0),
        at_closing: counts(3000, 150, 0),
        at_end: counts(3000, 160, 0),
        kernel_discards: 2840,
        kernel_discards_at_opening: 940,
        kernel_discards_at_closing: 2840,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.sent, window.received), (2000, 100));
    assert_eq!((window.dropped_kernel, window.unaccounted), (1900, 0));
    assert_eq!(accounting.queue_growth(), 0);
    // Another program discards the same number, at an even pace.
    let beside_others = Accounting {
        kernel_discards: 2 * 2840,
        kernel_discards_at_opening: 2 * 940,
        kernel_discards_at_closing: 2 * 2840,
        ..accounting
    };
    assert_eq!(beside_others.of_window(), window);
    // Every discard was before the window: our share is at most the datagrams that were in flight.
    let before_us = Accounting {
        kernel_discards_at_opening: 2840,
        ..accounting
    };
    let window = before_us.of_window();
    assert_eq!((window.received, window.unaccounted), (110, 0));
}

#[test]
fn a_discard_explains_a_train_only_where_trains_were_sent() {
    let accounting = Accounting {
        at_end: counts(440, 352, 0),
        kernel_discards: 2,
        discards_may_be_trains: true,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.dropped_kernel, window.unaccounted), (88, 0));
    let one_each = Accounting {
        discards_may_be_trains: false,
        ..accounting
    };
    assert_eq!(one_each.of_window().unaccounted, 86);
}

#[test]
fn datagrams_from_strangers_show_as_negative() {
    let accounting = Accounting {
        at_end: counts(100, 102, 0),
        kernel_discards: 5,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.dropped_kernel, window.unaccounted), (0, -2));
}

#[test]
fn a_starved_receiver_leaves_its_queue_unread() {
    let accounting = Accounting {
        at_opening: counts(500, 100, 144), // 256 in the queue, never read
        at_end: counts(1500, 100, 1144),
        unread: 256,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.received, window.unread), (0, 0));
    assert_eq!((window.dropped_socket, window.unaccounted), (1000, 0));
}

#[test]
fn dropped_aggregates_are_counted_as_the_datagrams_in_them() {
    let accounting = Accounting {
        at_opening: counts(500, 100, 2), // 80 dropped as 2 aggregates, 320 in flight
        at_closing: counts(1300, 700, 7),
        at_end: counts(1300, 1020, 7), // 280 dropped as 7 aggregates
        drops_may_be_aggregates: true,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!((window.sent, window.received), (800, 600));
    assert_eq!((window.dropped_socket, window.unaccounted), (200, 0));
    assert_eq!(accounting.queue_growth(), 0);
    // No aggregate has this size.
    let mut huge = accounting;
    huge.at_end.sent += 7 * 128;
    assert_ne!(huge.of_window().unaccounted, 0);
    // A single missing datagram is no aggregate.
    let mut faulty = accounting;
    faulty.at_end.received -= 1;
    assert_ne!(faulty.of_window().unaccounted, 0);
}

proptest! {
    #[test]
    fn a_window_never_holds_more_than_the_run_and_its_accounting_balance(
        (warm, window) in (history(), history()),
        unread in 0_u64..300,
        // Datagrams dropped after the drop counter was read, and before the send counter was.
        skew in 0_u64..5,
    ) {
        let skew = skew.min(window.1);
        let at_opening = counts(warm.0 + warm.1 + warm.2 + skew, warm.0, warm.1);
        // The window drains what the warm-up left in flight, and leaves `unread` behind.
        let drained = (warm.2 + window.0).saturating_sub(unread);
        let unread = warm.2 + window.0 - drained;
        let at_end = counts(
            at_opening.sent - skew + window.0 + window.1,
            at_opening.received + drained,
            at_opening.dropped_socket + window.1,
        );
        let accounting = Accounting { at_opening, at_end, unread, ..Accounting::default() }.of_window();
        prop_assert_eq!(accounting.unaccounted, 0);
        prop_assert!(accounting.received + accounting.unread + skew >= window.0.saturating_sub(unread));
        prop_assert!(accounting.received <= window.0 && accounting.dropped_socket <= window.1);
        prop_assert_eq!(accounting.sent, window.0 + window.1 - skew);
        prop_assert_eq!(
            accounting.sent,
            accounting.received + accounting.unread + accounting.dropped_socket + accounting.dropped_kernel
        );
    }
}

/// Generates counts: received, dropped, still in flight.
fn history() -> impl Strategy<Value = (u64, u64, u64)> {
    (0_u64..10_000, 0_u64..10_000, 0_u64..300)
}

/// Simulates a sender of 100 datagrams per millisecond, a receiver of 60, a buffer for 4,000 datagrams, 50 ms of
/// warm-up and 67 ms of window. It shows why losses are attributed to the window, and not counted over the whole run:
/// a warm-up that fills the queue would halve the loss.
#[test]
fn what_is_lost_once_the_queue_is_full_is_of_the_window() {
    let counts = |sent: u64, received: u64| Counts {
        sent,
        received,
        dropped_socket: (sent - received).saturating_sub(4_000),
        ..Counts::default()
    };
    let (at_opening, at_closing) = (counts(5_000, 3_000), counts(11_700, 7_020));
    let at_end = Counts {
        received: 7_020 + 4_000,
        ..at_closing
    };
    let accounting = Accounting {
        at_opening,
        at_closing,
        at_end,
        ..Accounting::default()
    };
    let window = accounting.of_window();
    assert_eq!(
        (window.sent, window.dropped_socket, window.unaccounted),
        (6_700, 680, 0)
    );
    let loss_permille = |dropped: u64, sent: u64| 1000 * dropped / sent;
    assert_eq!(loss_permille(window.dropped_socket, window.sent), 101);
    assert_eq!(loss_permille(at_end.dropped_socket, at_end.sent), 58);
}
