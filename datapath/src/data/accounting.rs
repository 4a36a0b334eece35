//! Accounting of datagrams: the counts of a run, and those of its window.

use serde::{Deserialize, Serialize};

/// Accounting of all datagrams of a run: counts since the start of the threads, read when the window opens, when it
/// closes and at the end.
///
/// Warm-up and window are one uninterrupted run, so some datagrams are in flight when the window opens. Queues are
/// first in, first out, so these are the first that are received afterwards. [`Accounting::of_window`] uses this to
/// separate the window's own datagrams from those of the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// Counts at the opening of the window.
    pub at_opening: Counts,
    /// Counts at the closing of the window.
    pub at_closing: Counts,
    /// Counts at the end of the run: senders stopped, queues drained.
    pub at_end: Counts,
    /// Datagrams left in the receive queues after the receivers had stopped.
    pub unread: u64,
    /// Growth of the kernel's own discard counters during the run. Other programs move them as well.
    pub kernel_discards: u64,
    /// Growth of the kernel's discard counters until the window opened.
    pub kernel_discards_at_opening: u64,
    /// Growth of the kernel's discard counters until the window closed.
    pub kernel_discards_at_closing: u64,
    /// True if a drop at a socket may be a GRO aggregate (UDP_GRO). The kernel counts an aggregate of several
    /// datagrams as one drop.
    pub drops_may_be_aggregates: bool,
    /// True if a discard on the way may be a GSO train (UDP_SEGMENT). The kernel counts a train of several datagrams
    /// as one discard.
    pub discards_may_be_trains: bool,
}

/// Maximum number of datagrams in a GSO train or GRO aggregate: UDP_MAX_SEGMENTS since Linux 6.9
/// (include/linux/udp.h), half of it before.
pub const MOST_PER_TRAIN: u64 = 128;

/// Running counts over all bench threads and sockets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Datagrams that the program handed to the kernel, including refused ones.
    pub sent: u64,
    /// Sent datagrams that the kernel refused with an error of the call: lost at the sender.
    pub refused: u64,
    /// Datagrams received from the kernel.
    pub received: u64,
    /// Datagrams dropped at a receiving socket.
    pub dropped_socket: u64,
}

/// Accounting of the datagrams that were sent in one or several windows.
///
/// Invariant: `sent + surplus = received + unread + refused + dropped_socket + dropped_kernel + unaccounted` plus the
/// losses at the other places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowAccounting {
    /// Datagrams handed to the kernel from the opening of the window until the senders had stopped.
    pub sent: u64,
    /// Datagrams that the kernel refused with an error of the call. Between two hosts, refusals because of a full
    /// queue are among the loss places instead.
    pub refused: u64,
    /// Datagrams received, in the window or in the drain after it.
    pub received: u64,
    /// Datagrams left in the queue by a receiver that starved.
    pub unread: u64,
    /// Datagrams dropped at a receiving socket, mostly because its buffer was full.
    pub dropped_socket: u64,
    /// Datagrams dropped elsewhere in the kernel, by its own counters.
    pub dropped_kernel: u64,
    /// Datagrams that no counter explains. Not 0 on loopback: the run is invalid. Negative: other programs sent
    /// datagrams to our sockets.
    pub unaccounted: i64,
    /// Losses by place between two hosts, instead of `dropped_kernel`.
    pub places: Places,
}

/// Datagrams that did not arrive, by loss place. The fields follow the way from sender to receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The sender's kernel refused it, and no counter says where.
    pub kernel_out: u64,
    /// The queueing discipline of the sender's interface had no room, or a filter of it dropped it.
    pub qdisc: u64,
    /// The sender's interface, or its driver, dropped it.
    pub nic_out: u64,
    /// Lost anywhere else: no counter of either host explains it.
    pub path: u64,
    /// The receiver's interface, or its driver, dropped it.
    pub nic_in: u64,
    /// The backlog queue of a CPU of the receiver's host was full (`net.core.netdev_max_backlog`).
    pub backlog: u64,
    /// The receiver's interface received it, but no protocol did: a firewall, tc or XDP dropped it.
    pub kernel_in: u64,
    /// The receiver's IP or UDP discarded it: a bad checksum, or a closed port.
    pub protocol: u64,
    /// Received, but not sent by this run: the path duplicated it, or another program sent it. Not a loss.
    pub surplus: u64,
}

impl Places {
    /// Returns the names of the loss places and the datagrams lost at each.
    pub fn lost(&self) -> [(&'static str, u64); 8] {
        [
            ("kernel out", self.kernel_out),
            ("qdisc", self.qdisc),
            ("NIC out", self.nic_out),
            ("path", self.path),
            ("NIC in", self.nic_in),
            ("backlog", self.backlog),
            ("kernel in", self.kernel_in),
            ("protocol", self.protocol),
        ]
    }
}

impl std::ops::AddAssign for Places {
    fn add_assign(&mut self, other: Self) {
        self.kernel_out += other.kernel_out;
        self.qdisc += other.qdisc;
        self.nic_out += other.nic_out;
        self.path += other.path;
        self.nic_in += other.nic_in;
        self.backlog += other.backlog;
        self.kernel_in += other.kernel_in;
        self.protocol += other.protocol;
        self.surplus += other.surplus;
    }
}

impl WindowAccounting {
    /// Returns the datagrams that were sent and not received. Duplicates may hide further losses.
    pub fn lost(&self) -> u64 {
        let lost = (self.sent + self.places.surplus).saturating_sub(self.received);
        lost.min(self.sent)
    }
}

impl Counts {
    /// Returns the datagrams in flight: sent, and so far neither refused nor received nor dropped. Negative by a few
    /// if a receiver published its count earlier than the sender.
    pub fn in_flight(&self) -> i64 {
        signed(self.taken()) - signed(self.received) - signed(self.dropped_socket)
    }

    /// Returns the datagrams that the kernel accepted.
    pub fn taken(&self) -> u64 {
        self.sent.saturating_sub(self.refused)
    }
}

impl Accounting {
    /// Returns the growth of the datagrams in flight from the opening of the window to its closing.
    pub fn queue_growth(&self) -> i64 {
        let at_opening = self.in_flight(self.at_opening, self.kernel_discards_at_opening);
        self.in_flight(self.at_closing, self.kernel_discards_at_closing) - at_opening
    }

    /// Returns the datagrams in flight when the counts were `counts` and the kernel's discards `discards`.
    fn in_flight(&self, counts: Counts, discards: u64) -> i64 {
        let under_way = self.in_datagrams(counts).in_flight();
        under_way - signed(self.lost_by(discards)).min(under_way.max(0))
    }

    /// Returns the datagrams missing at the end of the run, without drops at a socket, as far as the kernel's discards
    /// can explain them.
    fn lost(&self) -> u64 {
        let missing = self.in_datagrams(self.at_end).in_flight() - signed(self.unread);
        let most_each = if self.discards_may_be_trains {
            MOST_PER_TRAIN
        } else {
            1
        };
        let explained = self.kernel_discards.saturating_mul(most_each);
        explained.min(u64::try_from(missing).unwrap_or(0))
    }

    /// Returns the lost datagrams when the kernel's counters stood at `discards`. If other programs moved the
    /// counters, or trains were discarded, our losses are assumed to be spread evenly over all discards.
    fn lost_by(&self, discards: u64) -> u64 {
        let all = u128::from(self.kernel_discards.max(1));
        let share = u128::from(self.lost()) * u128::from(discards.min(self.kernel_discards)) / all;
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Converts drops to datagrams. Dropped aggregates are assumed to be of one size, as a sender makes them: the
    /// datagrams missing at the end, divided by the number of drops. If the result is not a whole number, something
    /// else is missing, and the accounting is left unbalanced on purpose.
    fn in_datagrams(&self, counts: Counts) -> Counts {
        let dropped = self.at_end.dropped_socket;
        let missing =
            signed(self.at_end.taken()) - signed(self.at_end.received) - signed(self.unread);
        let missing = u64::try_from(missing).unwrap_or(0);
        let is_even = dropped > 0 && missing % dropped == 0 && missing / dropped <= MOST_PER_TRAIN;
        let datagrams_each = if self.drops_may_be_aggregates && is_even {
            missing / dropped
        } else {
            1
        };
        Counts {
            dropped_socket: counts.dropped_socket * datagrams_each,
            ..counts
        }
    }

    /// Returns the accounting of the datagrams sent since the opening of the window.
    pub fn of_window(&self) -> WindowAccounting {
        let (before, end) = (
            self.in_datagrams(self.at_opening),
            self.in_datagrams(self.at_end),
        );
        let in_flight = self.in_flight(self.at_opening, self.kernel_discards_at_opening);
        // Losses before the opening are at most the datagrams that were in flight.
        let lost_before = before.in_flight() - in_flight;
        let lost = self.lost() - u64::try_from(lost_before).unwrap_or(0);
        let dropped = end.dropped_socket - before.dropped_socket;
        // Datagrams in flight at the opening came out of the queues first ...
        let arrived = end.received - before.received + self.unread;
        let early = in_flight.min(signed(arrived));
        let arrived = arrived.saturating_add_signed(-early);
        let unread = self.unread.min(arrived);
        // ... or were lost. The counters cannot be read in one instant. This term also absorbs their differences.
        let late = in_flight - early;
        let late = u64::try_from(late).unwrap_or(0);
        let dropped_socket = dropped.saturating_sub(late);
        let dropped_kernel = lost.saturating_sub(late.saturating_sub(dropped));
        let sent = end.sent - before.sent;
        let refused = end.refused - before.refused;
        let received = arrived - unread;
        let explained = received + unread + refused + dropped_socket + dropped_kernel;
        WindowAccounting {
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

/// Converts a count to a signed number. No run reaches 2^63 datagrams.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl std::ops::AddAssign for WindowAccounting {
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
