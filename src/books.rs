//! Where every datagram of a run ended.

use serde::{Deserialize, Serialize};

/// Where every datagram of a run ended: counts from the gate on, taken twice.
///
/// Warm-up and window are one uninterrupted run, so some datagrams are in flight when the window opens.
/// Queues are first in, first out: they are the first that are received afterwards. That is how the
/// fates of the window's own datagrams are told from those of the warm-up ([`Books::of_window`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// When the window opened.
    pub at_opening: Fates,
    /// When the window closed.
    pub at_closing: Fates,
    /// When the run was over: senders stopped, queues drained.
    pub at_end: Fates,
    /// Found in the receive queues after the receivers had stopped.
    pub unread: u64,
    /// How much the kernel's own discard counters grew during the run. Other programs move them too.
    pub kernel_discards: u64,
    /// How much of that until the window opened. 0 in logs that do not say: the warm-up's discards are then
    /// among the window's.
    #[serde(default)]
    pub kernel_discards_at_opening: u64,
    /// How much of that until the window closed. 0 in logs that do not say.
    #[serde(default)]
    pub kernel_discards_at_closing: u64,
    /// Whether several datagrams may have been in one piece when it was dropped at a socket, which the kernel
    /// counts as one (UDP_GRO).
    pub dropped_in_pieces: bool,
    /// Whether several datagrams may have been in one piece when the kernel discarded it on the way, which it
    /// counts as one (UDP_SEGMENT).
    #[serde(default)]
    pub discarded_in_pieces: bool,
}

/// Datagrams that the kernel cuts from, and joins into, one piece at most: UDP_MAX_SEGMENTS since Linux 6.9
/// (include/linux/udp.h), half of it before.
const MOST_IN_A_PIECE: u64 = 128;

/// Running counts over all lanes and sockets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fates {
    /// Handed to the kernel.
    pub sent: u64,
    /// Taken from the kernel.
    pub received: u64,
    /// Dropped at a receiving socket.
    pub dropped_socket: u64,
}

/// The fates of the datagrams that were sent in one window, or in several.
///
/// `sent = received + unread + dropped_socket + dropped_kernel + unaccounted`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowBooks {
    /// From the opening of the window until the senders had stopped.
    pub sent: u64,
    /// Received, in the window or in the drain after it.
    pub received: u64,
    /// Left in the queue by a receiver that starved.
    pub unread: u64,
    /// Dropped at a receiving socket, mostly because its buffer was full.
    pub dropped_socket: u64,
    /// Dropped elsewhere in the kernel, by its own counters.
    pub dropped_kernel: u64,
    /// The rest. Not 0 on loopback: something is wrong with the run. Negative: strangers sent to us.
    pub unaccounted: i64,
}

impl Fates {
    /// Sent, and neither received nor dropped so far. Negative by a few when a receiver was quicker to
    /// publish its count than the sender.
    pub fn in_flight(&self) -> i64 {
        signed(self.sent) - signed(self.received) - signed(self.dropped_socket)
    }
}

impl Books {
    /// How many more datagrams were in flight when the window closed than when it opened.
    pub fn queue_growth(&self) -> i64 {
        let at_opening = self.in_flight(self.at_opening, self.kernel_discards_at_opening);
        self.in_flight(self.at_closing, self.kernel_discards_at_closing) - at_opening
    }

    /// Datagrams in flight when the counts were `fates` and the kernel's discards `discards`.
    fn in_flight(&self, fates: Fates, discards: u64) -> i64 {
        let under_way = self.in_datagrams(fates).in_flight();
        under_way - signed(self.lost_by(discards)).min(under_way.max(0))
    }

    /// Datagrams of the run that are missing at its end although they were sent, and were not dropped at a
    /// socket: as far as the kernel's discards can explain them.
    fn lost(&self) -> u64 {
        let missing = self.in_datagrams(self.at_end).in_flight() - signed(self.unread);
        let most_each = if self.discarded_in_pieces {
            MOST_IN_A_PIECE
        } else {
            1
        };
        let explained = self.kernel_discards.saturating_mul(most_each);
        explained.min(u64::try_from(missing).unwrap_or(0))
    }

    /// How many of them were lost when the kernel's counters stood at `discards`. Where other programs moved
    /// the counters as well, or pieces were discarded, ours are taken to be spread evenly among them all.
    fn lost_by(&self, discards: u64) -> u64 {
        let all = u128::from(self.kernel_discards.max(1));
        let share = u128::from(self.lost()) * u128::from(discards.min(self.kernel_discards)) / all;
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Counts in which every drop is a datagram. Where pieces were dropped, all were of one size, as a sender
    /// makes them: what is missing at the end, over the number of drops. If that does not come out even,
    /// something else is missing, and the books shall not close.
    fn in_datagrams(&self, fates: Fates) -> Fates {
        let dropped = self.at_end.dropped_socket;
        let missing = signed(self.at_end.sent) - signed(self.at_end.received) - signed(self.unread);
        let missing = u64::try_from(missing).unwrap_or(0);
        let is_even = dropped > 0 && missing % dropped == 0 && missing / dropped <= MOST_IN_A_PIECE;
        let datagrams_each = if self.dropped_in_pieces && is_even {
            missing / dropped
        } else {
            1
        };
        Fates {
            dropped_socket: fates.dropped_socket * datagrams_each,
            ..fates
        }
    }

    /// Closes the books over the datagrams that were sent from the opening of the window on.
    pub fn of_window(&self) -> WindowBooks {
        let (before, end) = (
            self.in_datagrams(self.at_opening),
            self.in_datagrams(self.at_end),
        );
        let in_flight = self.in_flight(self.at_opening, self.kernel_discards_at_opening);
        // Before the opening, no more was lost than was under way.
        let lost_before = before.in_flight() - in_flight;
        let lost = self.lost() - u64::try_from(lost_before).unwrap_or(0);
        let dropped = end.dropped_socket - before.dropped_socket;
        // What was in flight at the opening came out of the queues first ...
        let arrived = end.received - before.received + self.unread;
        let early = in_flight.min(signed(arrived));
        let arrived = arrived.saturating_add_signed(-early);
        let unread = self.unread.min(arrived);
        // ... or was lost after all. The counters cannot be read in one instant, so this takes up what
        // they were apart, too.
        let late = in_flight - early;
        let late = u64::try_from(late).unwrap_or(0);
        let dropped_socket = dropped.saturating_sub(late);
        let dropped_kernel = lost.saturating_sub(late.saturating_sub(dropped));
        let sent = end.sent - before.sent;
        let received = arrived - unread;
        let explained = received + unread + dropped_socket + dropped_kernel;
        WindowBooks {
            sent,
            received,
            unread,
            dropped_socket,
            dropped_kernel,
            unaccounted: signed(sent) - signed(explained),
        }
    }
}

/// No run lasts for 2^63 datagrams.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl std::ops::AddAssign for WindowBooks {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.unread += other.unread;
        self.dropped_socket += other.dropped_socket;
        self.dropped_kernel += other.dropped_kernel;
        self.unaccounted += other.unaccounted;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fates(sent: u64, received: u64, dropped_socket: u64) -> Fates {
        Fates {
            sent,
            received,
            dropped_socket,
        }
    }

    #[test]
    fn what_was_in_flight_at_the_opening_is_not_counted_as_received_in_the_window() {
        let books = Books {
            at_opening: fates(100, 60, 10), // 30 in flight
            at_end: fates(1100, 1050, 50),  // all accounted for
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.sent, window.received), (1000, 960));
        assert_eq!((window.dropped_socket, window.unaccounted), (40, 0));
    }

    #[test]
    fn a_shortfall_is_the_kernels_only_as_far_as_the_kernel_admits_it() {
        let books = Books {
            at_end: fates(100, 90, 0),
            kernel_discards: 7,
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.dropped_kernel, window.unaccounted), (7, 3));
        let busy_host = Books {
            kernel_discards: 700,
            ..books
        };
        let window = busy_host.of_window();
        assert_eq!((window.dropped_kernel, window.unaccounted), (10, 0));
    }

    #[test]
    fn what_the_kernel_discarded_before_the_window_is_no_queue_that_the_window_empties() {
        // One in twenty gets through; 10 are in flight at each edge.
        let books = Books {
            at_opening: fates(1000, 50, 0),
            at_closing: fates(3000, 150, 0),
            at_end: fates(3000, 160, 0),
            kernel_discards: 2840,
            kernel_discards_at_opening: 940,
            kernel_discards_at_closing: 2840,
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.sent, window.received), (2000, 100));
        assert_eq!((window.dropped_kernel, window.unaccounted), (1900, 0));
        assert_eq!(books.queue_growth(), 0);
        // Another program's discards, as many as ours, at an even pace.
        let beside_others = Books {
            kernel_discards: 2 * 2840,
            kernel_discards_at_opening: 2 * 940,
            kernel_discards_at_closing: 2 * 2840,
            ..books
        };
        assert_eq!(beside_others.of_window(), window);
        // All of them before the window: no more can have been ours than was under way.
        let before_us = Books {
            kernel_discards_at_opening: 2840,
            ..books
        };
        let window = before_us.of_window();
        assert_eq!((window.received, window.unaccounted), (110, 0));
    }

    #[test]
    fn a_discard_explains_a_piece_only_where_pieces_were_sent() {
        let books = Books {
            at_end: fates(440, 352, 0),
            kernel_discards: 2,
            discarded_in_pieces: true,
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.dropped_kernel, window.unaccounted), (88, 0));
        let one_each = Books {
            discarded_in_pieces: false,
            ..books
        };
        assert_eq!(one_each.of_window().unaccounted, 86);
    }

    #[test]
    fn datagrams_from_strangers_show_as_negative() {
        let books = Books {
            at_end: fates(100, 102, 0),
            kernel_discards: 5,
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.dropped_kernel, window.unaccounted), (0, -2));
    }

    #[test]
    fn a_starved_receiver_leaves_its_queue_unread() {
        let books = Books {
            at_opening: fates(500, 100, 144), // 256 in the queue, and there they stay
            at_end: fates(1500, 100, 1144),
            unread: 256,
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.received, window.unread), (0, 0));
        assert_eq!((window.dropped_socket, window.unaccounted), (1000, 0));
    }

    #[test]
    fn dropped_pieces_are_counted_as_the_datagrams_in_them() {
        let books = Books {
            at_opening: fates(500, 100, 2), // 80 dropped as 2 pieces, 320 in flight
            at_closing: fates(1300, 700, 7),
            at_end: fates(1300, 1020, 7), // 280 dropped as 7 pieces
            dropped_in_pieces: true,
            ..Books::default()
        };
        let window = books.of_window();
        assert_eq!((window.sent, window.received), (800, 600));
        assert_eq!((window.dropped_socket, window.unaccounted), (200, 0));
        assert_eq!(books.queue_growth(), 0);
        // No piece is as large as that.
        let mut huge = books;
        huge.at_end.sent += 7 * 128;
        assert_ne!(huge.of_window().unaccounted, 0);
        // One datagram too few is no piece.
        let mut faulty = books;
        faulty.at_end.received -= 1;
        assert_ne!(faulty.of_window().unaccounted, 0);
    }

    proptest! {
        #[test]
        fn a_window_never_holds_more_than_the_run_and_its_books_balance(
            (warm, window) in (history(), history()),
            unread in 0_u64..300,
            // Dropped after the drops had been read, but before the sent ones were.
            skew in 0_u64..5,
        ) {
            let skew = skew.min(window.1);
            let at_opening = fates(warm.0 + warm.1 + warm.2 + skew, warm.0, warm.1);
            // The window drains what the warm-up left in flight, and leaves `unread` behind.
            let drained = (warm.2 + window.0).saturating_sub(unread);
            let unread = warm.2 + window.0 - drained;
            let at_end = fates(
                at_opening.sent - skew + window.0 + window.1,
                at_opening.received + drained,
                at_opening.dropped_socket + window.1,
            );
            let books = Books { at_opening, at_end, unread, ..Books::default() }.of_window();
            prop_assert_eq!(books.unaccounted, 0);
            prop_assert!(books.received + books.unread + skew >= window.0.saturating_sub(unread));
            prop_assert!(books.received <= window.0 && books.dropped_socket <= window.1);
            prop_assert_eq!(books.sent, window.0 + window.1 - skew);
            prop_assert_eq!(
                books.sent,
                books.received + books.unread + books.dropped_socket + books.dropped_kernel
            );
        }
    }

    /// Received, dropped, still in flight.
    fn history() -> impl Strategy<Value = (u64, u64, u64)> {
        (0_u64..10_000, 0_u64..10_000, 0_u64..300)
    }
}
