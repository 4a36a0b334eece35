//! Where every datagram of a run ended.

use serde::{Deserialize, Serialize};

use super::places::Places;

/// Where every datagram of a run ended: counts from the start of the threads on, taken twice.
///
/// Warm-up and window are one uninterrupted run, so some datagrams are in flight when the window opens.
/// Queues are first in, first out: they are the first that are received afterwards. That is how the
/// counts of the window's own datagrams are told from those of the warm-up ([`Books::of_window`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// When the window opened.
    pub at_opening: Counts,
    /// When the window closed.
    pub at_closing: Counts,
    /// When the run was over: senders stopped, queues drained.
    pub at_end: Counts,
    /// Found in the receive queues after the receivers had stopped.
    pub unread: u64,
    /// How much the kernel's own discard counters grew during the run. Other programs move them too.
    pub kernel_discards: u64,
    /// How much of that until the window opened.
    pub kernel_discards_at_opening: u64,
    /// How much of that until the window closed.
    pub kernel_discards_at_closing: u64,
    /// Whether several datagrams may have been in one piece when it was dropped at a socket, which the kernel
    /// counts as one (UDP_GRO).
    pub dropped_in_pieces: bool,
    /// Whether several datagrams may have been in one piece when the kernel discarded it on the way, which it
    /// counts as one (UDP_SEGMENT).
    pub discarded_in_pieces: bool,
}

/// Datagrams that the kernel cuts from, and joins into, one piece at most: UDP_MAX_SEGMENTS since Linux 6.9
/// (include/linux/udp.h), half of it before.
pub const MOST_IN_A_PIECE: u64 = 128;

/// Running counts over all lanes and sockets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Datagrams that the program handed to the kernel, whether or not it refused them.
    pub sent: u64,
    /// Those of them that it refused: lost at the sender, as the call was told.
    pub refused: u64,
    /// Taken from the kernel.
    pub received: u64,
    /// Dropped at a receiving socket.
    pub dropped_socket: u64,
}

/// The counts of the datagrams that were sent in one window, or in several.
///
/// `sent + surplus = received + unread + refused + dropped_socket + dropped_kernel + unaccounted`, and what was lost at the other
/// places, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowBooks {
    /// Handed to the kernel from the opening of the window until the senders had stopped.
    pub sent: u64,
    /// Refused by the kernel in that call. Between two hosts: but for want of room in a queue, which is among the places.
    pub refused: u64,
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
    /// Between two hosts, where the others were lost, in place of `dropped_kernel`.
    pub places: Places,
}

impl WindowBooks {
    /// Datagrams that were sent and not received, as far as is known: what came twice hides others.
    pub fn lost(&self) -> u64 {
        let lost = (self.sent + self.places.surplus).saturating_sub(self.received);
        lost.min(self.sent)
    }
}

impl Counts {
    /// Sent, and neither refused nor received nor dropped so far. Negative by a few when a receiver was quicker to
    /// publish its count than the sender.
    pub fn in_flight(&self) -> i64 {
        signed(self.taken()) - signed(self.received) - signed(self.dropped_socket)
    }

    /// Datagrams that the kernel took.
    pub fn taken(&self) -> u64 {
        self.sent.saturating_sub(self.refused)
    }
}

impl Books {
    /// How many more datagrams were in flight when the window closed than when it opened.
    pub fn queue_growth(&self) -> i64 {
        let at_opening = self.in_flight(self.at_opening, self.kernel_discards_at_opening);
        self.in_flight(self.at_closing, self.kernel_discards_at_closing) - at_opening
    }

    /// Datagrams in flight when the counts were `counts` and the kernel's discards `discards`.
    fn in_flight(&self, counts: Counts, discards: u64) -> i64 {
        let under_way = self.in_datagrams(counts).in_flight();
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
    fn in_datagrams(&self, counts: Counts) -> Counts {
        let dropped = self.at_end.dropped_socket;
        let missing =
            signed(self.at_end.taken()) - signed(self.at_end.received) - signed(self.unread);
        let missing = u64::try_from(missing).unwrap_or(0);
        let is_even = dropped > 0 && missing % dropped == 0 && missing / dropped <= MOST_IN_A_PIECE;
        let datagrams_each = if self.dropped_in_pieces && is_even {
            missing / dropped
        } else {
            1
        };
        Counts {
            dropped_socket: counts.dropped_socket * datagrams_each,
            ..counts
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
        let refused = end.refused - before.refused;
        let received = arrived - unread;
        let explained = received + unread + refused + dropped_socket + dropped_kernel;
        WindowBooks {
            sent,
            refused,
            received,
            unread,
            dropped_socket,
            dropped_kernel,
            unaccounted: signed(sent) - signed(explained),
            places: Places::default(),
        }
    }
}

/// No run lasts for 2^63 datagrams.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl std::ops::AddAssign for WindowBooks {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.refused += other.refused;
        self.received += other.received;
        self.unread += other.unread;
        self.dropped_socket += other.dropped_socket;
        self.dropped_kernel += other.dropped_kernel;
        self.unaccounted += other.unaccounted;
        self.places += other.places;
    }
}

#[cfg(test)]
mod tests;
