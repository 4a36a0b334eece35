//! Where every datagram between two hosts ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accounting::{MOST_IN_A_PIECE, WindowBooks, signed};
use super::axes::Direction;
use super::places::Places;
use crate::sys::nic::{PathCounters, driver_drops};

/// The raw counts of one direction between two hosts, over a whole run: from the start of the threads until the queues
/// were empty. Counters of an interface cannot be read in the same instant as those of a program, so that its edges,
/// where nothing moves, are the only ones at which they agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// Up or down.
    pub direction: Direction,
    /// Datagrams that the sender's kernel took.
    pub sent: u64,
    /// Datagrams that the sender's kernel had no room for, as each call was told (`ENOBUFS`): mostly its queueing
    /// discipline, but also an interface that cannot hand them on.
    pub refused: u64,
    /// Datagrams that were refused for another reason, as each call was told.
    pub failed: u64,
    /// Datagrams that were refused for a reason that was lost: one of several in a call (sendmmsg(2)), or one that a
    /// library keeps to itself.
    pub unsaid: u64,
    /// Datagrams that were received.
    pub received: u64,
    /// Found in the receive queues after the receivers had stopped.
    pub unread: u64,
    /// Dropped at a receiving socket.
    pub dropped_socket: u64,
    /// Whether several datagrams may have been in one piece when it was dropped at a socket, which the kernel counts as
    /// one (UDP_GRO).
    pub dropped_in_pieces: bool,
    /// The same of what was dropped on the way (UDP_SEGMENT).
    pub sent_in_pieces: bool,
    /// By how much the counters of the sender's host grew. Other traffic moves them, too.
    pub at_sender: PathCounters,
    /// By how much those of the receiver's host grew.
    pub at_receiver: PathCounters,
    /// Counters of lost packets at the sender's interface that moved, by name: the kernel's, and its driver's own
    /// (`ethtool -S`). Other traffic moves them, too. Absent: none moved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_at_sender: BTreeMap<String, u64>,
    /// The same at the receiver's interface. Absent: none moved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_at_receiver: BTreeMap<String, u64>,
    /// What the sender's machine dropped meanwhile, by the kernel's reasons, where it was asked. Other traffic is among it.
    /// Absent: it was not asked, or dropped nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons_at_sender: BTreeMap<String, u64>,
    /// The same of the receiver's machine. Absent: it was not asked, or dropped nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons_at_receiver: BTreeMap<String, u64>,
}

/// A counter that other traffic moves, too, beside what it was taken to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The place that it counts for.
    pub place: &'static str,
    /// By how much it moved.
    pub counted: u64,
    /// Datagrams that it explains.
    pub taken: u64,
}

/// Datagrams that are still to be explained.
struct Missing(u64);

impl Missing {
    /// As far as `counted` can explain it: no more than there is to explain.
    fn take(&mut self, counted: u64) -> u64 {
        let taken = counted.min(self.0);
        self.0 -= taken;
        taken
    }
}

/// Sends that the sender's kernel refused, by the place that its counters name.
struct Refused {
    qdisc: u64,
    nic_out: u64,
    filter: u64,
    /// No counter moved: see [`Places::kernel_out`].
    unknown: u64,
}

impl Refused {
    fn all(&self) -> u64 {
        self.qdisc + self.nic_out + self.filter + self.unknown
    }
}

impl Path {
    /// Datagrams in what a counter counts once, at most.
    fn each(&self) -> u64 {
        if self.sent_in_pieces {
            MOST_IN_A_PIECE
        } else {
            1
        }
    }

    /// Dropped by the sender's interface or its driver. Some drivers add their own counters to the kernel's, and others
    /// do not, so the larger one counts.
    fn nic_out(&self) -> u64 {
        let (_, of_driver) = driver_drops(&self.nic_at_sender);
        self.at_sender.nic_out_drops.max(of_driver)
    }

    /// The same at the receiver's.
    fn nic_in(&self) -> u64 {
        let (of_driver, _) = driver_drops(&self.nic_at_receiver);
        self.at_receiver.nic_in_drops.max(of_driver)
    }

    /// Datagrams that were refused without a reason, and that the sender's kernel has counted as dropped on the way out. None
    /// where every call that was told a reason was told another one: an interface drops much that no call hears of.
    fn refused_without_a_word(&self) -> u64 {
        if self.failed > 0 && self.refused == 0 {
            return 0;
        }
        let counted = self.at_sender.qdisc_drops + self.nic_out();
        self.unsaid.min(counted.saturating_sub(self.refused))
    }

    /// Only what counted a drop can have refused a datagram. A `clsact` qdisc has one counter for what its filters drop
    /// on the way out, which each send is told of, and on the way in, which no send is: it explains only refusals, and
    /// of these only what nothing else does.
    fn refusals(&self) -> Refused {
        let refused = self.refused + self.refused_without_a_word();
        let at_most = |counted: u64| counted.saturating_mul(self.each());
        let qdisc = refused.min(at_most(self.at_sender.qdisc_drops));
        let nic_out = (refused - qdisc).min(at_most(self.nic_out()));
        let left = refused - qdisc - nic_out;
        let filter = left.min(at_most(self.at_sender.filter_drops));
        Refused {
            qdisc,
            nic_out,
            filter,
            unknown: left - filter,
        }
    }

    /// Datagrams that were refused for another reason than want of room.
    pub fn failed_otherwise(&self) -> u64 {
        self.failed + self.unsaid - self.refused_without_a_word()
    }

    /// Closes the books. What was refused counts as sent, for whatever reason: the program had handed it over.
    pub fn books(&self) -> WindowBooks {
        self.explained().0
    }

    /// The counters that explain losses although other traffic moves them, too.
    pub fn shared_counters(&self) -> Vec<Shared> {
        self.explained().1
    }

    fn explained(&self) -> (WindowBooks, Vec<Shared>) {
        // Of all counters, that of a socket is ours alone.
        let whole = if self.dropped_in_pieces {
            0
        } else {
            self.dropped_socket
        };
        let known = self.received + self.unread + whole;
        let mut missing = Missing(self.sent.saturating_sub(known));
        let (refused, into) = (self.refusals(), &self.at_receiver);
        // The surest first: a veth counts as dropped on the way out what the backlog at its other end refused, and a port
        // of ours is closed to nobody. The sender counts what it refused, too.
        let counters = [
            (
                "qdisc",
                self.at_sender.qdisc_drops.saturating_sub(refused.qdisc),
            ),
            ("backlog", into.backlog_drops),
            ("protocol", into.ip_in_discards + into.udp_in_errors),
            ("NIC in", self.nic_in()),
            ("NIC out", self.nic_out().saturating_sub(refused.nic_out)),
            ("kernel in", into.vanished(self.received + self.unread)),
            (CLOSED_PORTS, into.udp_no_ports),
        ];
        let mut taken = counters.map(|(_, counted)| missing.take(counted));
        // Where trains are sent some counters count each of them as one, and nobody knows which.
        for (taken, (_, counted)) in taken.iter_mut().zip(counters) {
            let most = counted.saturating_mul(self.each());
            *taken += missing.take(most.saturating_sub(*taken));
        }
        let [
            qdisc,
            backlog,
            protocol,
            nic_in,
            nic_out,
            kernel_in,
            closed_ports,
        ] = taken;
        let of_socket = self.dropped_socket - whole;
        let dropped_socket = whole + missing.take(of_socket.saturating_mul(MOST_IN_A_PIECE));
        let places = Places {
            kernel_out: refused.unknown,
            qdisc: refused.qdisc + refused.filter + qdisc,
            nic_out: refused.nic_out + nic_out,
            path: missing.0,
            nic_in,
            backlog,
            kernel_in,
            protocol: protocol + closed_ports,
            surplus: known.saturating_sub(self.sent),
        };
        let failed = self.failed_otherwise();
        let sent = self.sent + refused.all() + failed;
        let lost: u64 = places.lost().iter().map(|(_, packets)| packets).sum();
        let explained = self.received + self.unread + failed + dropped_socket + lost;
        let books = WindowBooks {
            sent,
            refused: failed,
            received: self.received,
            unread: self.unread,
            dropped_socket,
            dropped_kernel: 0,
            unaccounted: signed(sent + places.surplus) - signed(explained),
            places,
        };
        let shared = counters.into_iter().zip(taken);
        let shared = shared.map(|((place, counted), taken)| Shared {
            place,
            counted,
            taken,
        });
        (books, shared.collect())
    }

    /// Where the link of an interface came or went meanwhile: at the sender, at the receiver, or both.
    pub fn links_that_changed(&self) -> Vec<&'static str> {
        let ends = [("sender", &self.at_sender), ("receiver", &self.at_receiver)];
        let changed = ends.into_iter().filter(|(_, at)| at.carrier_changes > 0);
        changed.map(|(end, _)| end).collect()
    }
}

/// The name of [`Shared::place`] for datagrams to ports that no socket has. Ours were open all the time, so that these are
/// other traffic's, unless something changes the port on the way.
pub const CLOSED_PORTS: &str = "closed ports";

#[cfg(test)]
mod tests;
