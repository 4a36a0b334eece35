//! Where this host loses datagrams between a network interface and a socket, and how many.

use std::io;

use serde::{Deserialize, Serialize};

use super::link;
use super::netlink::Route;
use super::qdisc;
use crate::sys::protocols::Protocols;
use crate::sys::softnet::{self, Softnet};

/// Lost packets by place, in the order of a datagram's way; counters since boot, to be held against an earlier
/// reading.
///
/// They are not ours alone: other programs move them too. No packet is in two of the places, but for those that
/// `nic_in_drops` and `nic_out_drops` name. A train of GSO or GRO that is lost as one counts once, however many
/// datagrams it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCounters {
    /// By the interface's queueing disciplines: [`qdisc::out_drops`].
    pub qdisc_drops: u64,
    /// By the driver on its way out. A veth counts here, too, what the backlog at its other end refused.
    pub nic_out_drops: u64,
    /// By filters of an `ingress` qdisc, or of a `clsact` qdisc on either way.
    pub filter_drops: u64,
    /// By the interface and its driver on the way in: dropped, bad or missed. The kernel counts here, too, what
    /// found the backlog full (`enqueue_to_backlog`): a difference is without them.
    pub nic_in_drops: u64,
    /// By the backlog queues of this machine: RPS, loopback and software interfaces use them.
    pub backlog_drops: u64,
    /// By IP on the way in: discarded, with a bad header, for another host or protocol, not put together again.
    pub ip_in_discards: u64,
    /// For a UDP port that no socket has.
    pub udp_no_ports: u64,
    /// By UDP for other reasons than a full receive buffer: wrong checksum, no memory, a socket's filter.
    pub udp_in_errors: u64,
    /// At a full receive buffer.
    pub udp_rcvbuf_errors: u64,

    /// Not a place of its own: sends that found the send buffer full, and what `qdisc_drops` has, once more.
    pub udp_sndbuf_errors: u64,
    /// Not a place of its own: discarded by IP on the way out, and what `qdisc_drops` has of IP, once more.
    pub ip_out_discards: u64,
    /// Packets that the interface sent.
    pub tx_packets: u64,
    /// Packets that the interface received.
    pub rx_packets: u64,
    /// How often a CPU's softirq ended with packets left (`time_squeeze`).
    pub softnet_squeezed: u64,
    /// How often the carrier came or went.
    pub carrier_changes: u64,
    /// CPUs online: their counters come and go with them.
    pub cpus: u32,
}

/// Reads the counters of an interface and of the network namespace that it was opened in.
#[derive(Debug)]
pub struct PathReader {
    route: Route,
    index: u32,
}

impl PathReader {
    /// Opens one.
    ///
    /// # Errors
    /// There is no interface of this name, or netlink is forbidden here.
    pub fn open(interface: &str) -> io::Result<Self> {
        Ok(Self {
            index: link::index(interface)?,
            route: Route::open()?,
        })
    }

    /// The counters by now.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn read(&mut self) -> io::Result<PathCounters> {
        // From the end of a datagram's way to its beginning: what is under way meanwhile is not counted twice.
        let protocols = Protocols::read();
        let softnet = softnet::read();
        let link = self.link()?;
        let qdiscs = self.qdiscs()?;
        Ok(PathCounters {
            qdisc_drops: qdisc::out_drops(&qdiscs).into(),
            filter_drops: qdisc::filter_drops(&qdiscs).into(),
            nic_out_drops: link.statistics.out_drops(),
            nic_in_drops: link.statistics.in_drops(),
            ip_in_discards: protocols.ip_in_drops(),
            ip_out_discards: protocols.out_discards,
            udp_no_ports: protocols.no_ports,
            udp_in_errors: protocols.udp_errors_without_rcvbuf(),
            udp_rcvbuf_errors: protocols.rcvbuf_errors,
            udp_sndbuf_errors: protocols.sndbuf_errors,
            tx_packets: link.statistics.tx_packets,
            rx_packets: link.statistics.rx_packets,
            carrier_changes: link.carrier_changes.unwrap_or(0).into(),
            backlog_drops: sum(&softnet, |cpu| cpu.dropped),
            softnet_squeezed: sum(&softnet, |cpu| cpu.squeezed),
            cpus: u32::try_from(softnet.len()).unwrap_or(u32::MAX),
        })
    }

    /// What the interface is, and all that it counted.
    ///
    /// # Errors
    /// It is gone.
    pub fn link(&mut self) -> io::Result<link::Link> {
        link::read(&mut self.route, self.index)
    }

    /// Its queueing disciplines. None, too, where the kernel was built without.
    ///
    /// # Errors
    /// What netlink answers.
    pub fn qdiscs(&mut self) -> io::Result<Vec<qdisc::Qdisc>> {
        match qdisc::read(&mut self.route, self.index) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(Vec::new()),
            answer => answer,
        }
    }
}

/// Modulo 2^32, as each of them is.
fn sum(softnet: &[Softnet], counter: impl Fn(&Softnet) -> u32) -> u64 {
    let sum = softnet.iter().map(counter).fold(0, u32::wrapping_add);
    sum.into()
}

impl PathCounters {
    /// What was counted since `before`.
    pub fn since(&self, before: &Self) -> Self {
        let of = |counter: fn(&Self) -> u64| moved(counter(before), counter(self));
        // Where a CPU came or went, its counters did.
        let of_cpus = |counter: fn(&Self) -> u64| {
            if self.cpus == before.cpus {
                of(counter)
            } else {
                0
            }
        };
        let backlog_drops = of_cpus(|it| it.backlog_drops);
        Self {
            qdisc_drops: of(|it| it.qdisc_drops),
            nic_out_drops: of(|it| it.nic_out_drops),
            filter_drops: of(|it| it.filter_drops),
            nic_in_drops: of(|it| it.nic_in_drops).saturating_sub(backlog_drops),
            backlog_drops,
            ip_in_discards: of(|it| it.ip_in_discards),
            udp_no_ports: of(|it| it.udp_no_ports),
            udp_in_errors: of(|it| it.udp_in_errors),
            udp_rcvbuf_errors: of(|it| it.udp_rcvbuf_errors),
            udp_sndbuf_errors: of(|it| it.udp_sndbuf_errors),
            ip_out_discards: of(|it| it.ip_out_discards),
            tx_packets: of(|it| it.tx_packets),
            rx_packets: of(|it| it.rx_packets),
            softnet_squeezed: of_cpus(|it| it.softnet_squeezed),
            carrier_changes: of(|it| it.carrier_changes),
            cpus: self.cpus,
        }
    }

    /// Packets lost on the way out of this host, in a difference.
    pub fn out_drops(&self) -> u64 {
        self.qdisc_drops + self.nic_out_drops
    }

    /// Packets lost on the way in, in a difference.
    pub fn in_drops(&self) -> u64 {
        let below_udp = self.filter_drops + self.nic_in_drops + self.backlog_drops;
        below_udp + self.ip_in_discards + self.in_udp()
    }

    fn in_udp(&self) -> u64 {
        self.udp_no_ports + self.udp_in_errors + self.udp_rcvbuf_errors
    }
}

/// How far a counter moved that may have 32 bits or 64, and may have begun anew: an interface or a qdisc that was
/// made again, a driver that was loaded again.
fn moved(before: u64, now: u64) -> u64 {
    /// More packets than pass between two readings: 12 minutes at 1.4 million a second.
    const MOST: u64 = 1 << 30;
    if let Some(moved) = now.checked_sub(before) {
        return moved;
    }
    let had_32_bits = before <= u32::MAX.into();
    let around = (1 << 32) - before.min(1 << 32) + now;
    if had_32_bits && around <= MOST {
        around
    } else {
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_32_bits_may_pass_their_end() {
        let end = u64::from(u32::MAX);
        assert_eq!(moved(end - 1, 3), 5);
        assert_eq!(moved(end, 0), 1);
        assert_eq!(moved(end, end + 7), 7);
    }

    #[test]
    fn counters_that_begin_anew_have_moved_by_what_they_show() {
        assert_eq!(moved(1_000_000, 7), 7);
        assert_eq!(moved(1 << 31, 7), 7);
        assert_eq!(moved(1 << 40, 7), 7);
        assert_eq!(moved(u64::MAX, 7), 7);
    }

    #[test]
    fn what_found_the_backlog_full_is_counted_once() {
        let before = PathCounters {
            nic_in_drops: 100,
            backlog_drops: 30,
            ..PathCounters::default()
        };
        let after = PathCounters {
            nic_in_drops: 150,
            backlog_drops: 70,
            ..before
        };
        let moved = after.since(&before);
        assert_eq!((moved.nic_in_drops, moved.backlog_drops), (10, 40));
        assert_eq!(moved.in_drops(), 50);
    }

    #[test]
    fn counters_of_cpus_that_came_or_went_say_nothing() {
        let before = PathCounters {
            backlog_drops: 30,
            softnet_squeezed: 30,
            cpus: 4,
            ..PathCounters::default()
        };
        let after = PathCounters { cpus: 3, ..before };
        let moved = after.since(&before);
        assert_eq!((moved.backlog_drops, moved.softnet_squeezed), (0, 0));
    }
}
