//! Accounting of the datagrams between two hosts, by loss place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accounting::{MOST_PER_TRAIN, Places, WindowAccounting, signed};
use super::axes::Direction;
use crate::sys::nic::{Wireless, driver_drops};
use crate::sys::path_counters::PathCounters;

/// Raw counts of one direction between two hosts over a whole run, from the start of the threads until the queues were
/// empty. Counters of an interface and of a program cannot be read in the same instant. They agree only at the edges
/// of the run, where nothing moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionCounts {
    /// Direction: up or down.
    pub direction: Direction,
    /// Datagrams that the sender's kernel accepted.
    pub sent: u64,
    /// Datagrams refused with `ENOBUFS`: mostly the queueing discipline was full, sometimes the interface could not
    /// send them.
    pub refused: u64,
    /// Datagrams refused with another error.
    pub failed: u64,
    /// Datagrams refused without a known error: one of several in a call (sendmmsg(2)), or one that a library does not
    /// report.
    pub refused_without_error: u64,
    /// Datagrams received.
    pub received: u64,
    /// Datagrams left in the receive queues after the receivers had stopped.
    pub unread: u64,
    /// Datagrams dropped at a receiving socket.
    pub dropped_socket: u64,
    /// True if a drop at a socket may be a GRO aggregate (UDP_GRO). The kernel counts an aggregate of several
    /// datagrams as one drop.
    pub drops_may_be_aggregates: bool,
    /// True if a drop on the way may be a GSO train (UDP_SEGMENT). A counter may count a train of several datagrams as
    /// one drop.
    pub drops_may_be_trains: bool,
    /// Growth of the counters of the sender's host. Other traffic moves them as well.
    pub at_sender: PathCounters,
    /// Growth of the counters of the receiver's host. Other traffic moves them as well.
    pub at_receiver: PathCounters,
    /// Counters of lost packets at the sender's interface that moved, by name: the kernel's, and the driver's own
    /// (`ethtool -S`). Other traffic moves them as well. Absent: none moved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_at_sender: BTreeMap<String, u64>,
    /// Counters of lost packets at the receiver's interface that moved, by name. Absent: none moved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_at_receiver: BTreeMap<String, u64>,
    /// State of the radio of the sender's interface at the end of the run. Absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio_at_sender: Option<Wireless>,
    /// State of the radio of the receiver's interface at the end of the run. Absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio_at_receiver: Option<Wireless>,
    /// Packets that the sender's kernel dropped during the run, by the kernel's drop reasons, if requested. Other
    /// traffic is included. Absent: not requested, or nothing dropped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons_at_sender: BTreeMap<String, u64>,
    /// Packets that the receiver's kernel dropped during the run, by the kernel's drop reasons. Absent: not requested,
    /// or nothing dropped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons_at_receiver: BTreeMap<String, u64>,
    /// Packets that the receiver's host lost before its sockets during the run, or at them for another reason than a
    /// full buffer, by the names of [`PLACES`](crate::sys::loss_places::PLACES). Other traffic is included. Absent:
    /// none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places_at_receiver: BTreeMap<String, u64>,
}

/// A counter that explains losses although other traffic moves it as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Loss place that the counter belongs to.
    pub place: &'static str,
    /// Growth of the counter.
    pub counted: u64,
    /// Lost datagrams that the counter explains.
    pub taken: u64,
}

/// Lost datagrams that no counter explains yet.
struct Missing(u64);

impl Missing {
    /// Attributes up to `counted` of the missing datagrams to a counter. Returns the number attributed.
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

impl DirectionCounts {
    /// Returns the maximum number of datagrams per count of a counter.
    fn each(&self) -> u64 {
        if self.drops_may_be_trains {
            MOST_PER_TRAIN
        } else {
            1
        }
    }

    /// Returns the packets dropped by the sender's interface or driver. Some drivers add their own counters to the
    /// kernel's, others do not, so the larger of the two is taken.
    fn nic_out(&self) -> u64 {
        let (_, of_driver) = driver_drops(&self.nic_at_sender);
        self.at_sender.nic_out_drops.max(of_driver)
    }

    /// Returns the packets dropped by the receiver's interface or driver: the larger of the kernel's and the driver's
    /// counter.
    fn nic_in(&self) -> u64 {
        let (of_driver, _) = driver_drops(&self.nic_at_receiver);
        self.at_receiver.nic_in_drops.max(of_driver)
    }

    /// Returns the datagrams refused without a known error that the sender's kernel counted as dropped on the way out.
    /// 0 if every known error was another one than `ENOBUFS`: an interface drops many packets that no call reports.
    fn counted_without_error(&self) -> u64 {
        if self.failed > 0 && self.refused == 0 {
            return 0;
        }
        let counted = self.at_sender.qdisc_drops + self.nic_out();
        self.refused_without_error
            .min(counted.saturating_sub(self.refused))
    }

    /// Attributes refused sends to the places whose counters moved: no other place can have refused a datagram.
    ///
    /// A `clsact` qdisc has one counter for drops by its egress filters, which each send reports, and by its ingress
    /// filters, which no send reports. This counter therefore explains only refusals, and only the refusals that no
    /// other counter does.
    fn refusals(&self) -> Refused {
        let refused = self.refused + self.counted_without_error();
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

    /// Returns the datagrams refused for other reasons than a full queue.
    pub fn failed_otherwise(&self) -> u64 {
        self.failed + self.refused_without_error - self.counted_without_error()
    }

    /// Returns the accounting of all datagrams. Refused datagrams count as sent, because the program handed them over.
    pub fn accounting(&self) -> WindowAccounting {
        self.explained().0
    }

    /// Returns the counters that explain losses although other traffic moves them as well.
    pub fn shared_counters(&self) -> Vec<Shared> {
        self.explained().1
    }

    fn explained(&self) -> (WindowAccounting, Vec<Shared>) {
        // Only the socket's counter counts nothing but our datagrams.
        let whole = if self.drops_may_be_aggregates {
            0
        } else {
            self.dropped_socket
        };
        let known = self.received + self.unread + whole;
        let mut missing = Missing(self.sent.saturating_sub(known));
        let (refused, into) = (self.refusals(), &self.at_receiver);
        // The most reliable counters come first. A veth counts refusals by the backlog at its other end as dropped on
        // the way out, and none of our ports is closed. The sender's counters include the datagrams that it refused.
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
        // With GSO, some counters count a train as one. Which counters do is unknown.
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
        let dropped_socket = whole + missing.take(of_socket.saturating_mul(MOST_PER_TRAIN));
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
        let accounting = WindowAccounting {
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
        (accounting, shared.collect())
    }

    /// Returns the ends whose interface lost or regained its link during the run: "sender", "receiver", or both.
    pub fn links_that_changed(&self) -> Vec<&'static str> {
        let ends = [("sender", &self.at_sender), ("receiver", &self.at_receiver)];
        let changed = ends.into_iter().filter(|(_, at)| at.carrier_changes > 0);
        changed.map(|(end, _)| end).collect()
    }
}

/// The value of [`Shared::place`] for datagrams to closed ports. Our ports were open during the whole run, so these
/// datagrams belong to other traffic, unless a device on the way changes the port.
pub const CLOSED_PORTS: &str = "closed ports";

#[cfg(test)]
mod tests;
