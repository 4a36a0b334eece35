//! Growth of the counters of the places where a host loses datagrams of one interface, as logs have it.

use serde::{Deserialize, Serialize};

use super::loss_counters::{LossCounters, SOFTNET_DROPPED, SOFTNET_SQUEEZED};
use super::protocols::Protocols;

/// Packets lost between two readings, by place, in the order of a datagram's way.
///
/// Other programs move these counters as well. No packet is in two of the places, except those that `nic_in_drops` and
/// `nic_out_drops` name. A GSO train or GRO aggregate that is lost as one counts once, for all its datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCounters {
    /// Packets dropped by the interface's queueing disciplines.
    pub qdisc_drops: u64,
    /// Packets lost by the interface and its driver on the way out. A veth also counts packets here that its other end
    /// refused: its backlog was full, or the packet was longer than its MTU.
    pub nic_out_drops: u64,
    /// Packets dropped by filters of an `ingress` qdisc, or of a `clsact` qdisc on either way.
    pub filter_drops: u64,
    /// Packets lost by the interface and its driver on the way in: dropped, bad or missed. The kernel also counts
    /// packets here that found the backlog full (`enqueue_to_backlog`). These are subtracted.
    pub nic_in_drops: u64,
    /// Packets dropped by the backlog queues of this machine. RPS, loopback and software interfaces use them.
    pub backlog_drops: u64,
    /// Packets dropped by IP on the way in: discarded, with a bad header, for another host or protocol, or not
    /// reassembled.
    pub ip_in_discards: u64,
    /// Datagrams for a UDP port that no socket has.
    pub udp_no_ports: u64,
    /// Datagrams dropped by UDP for other reasons than a full receive buffer: wrong checksum, no memory, a socket's
    /// filter.
    pub udp_in_errors: u64,
    /// Datagrams dropped at a full receive buffer.
    pub udp_rcvbuf_errors: u64,

    /// Sends that found the send buffer full. Not a place of its own, as it includes `qdisc_drops`.
    pub udp_sndbuf_errors: u64,
    /// Packets discarded by IP on the way out. Not a place of its own, as it includes the IP packets of `qdisc_drops`.
    pub ip_out_discards: u64,
    /// Packets that the interface sent.
    pub tx_packets: u64,
    /// Packets that the interface received.
    pub rx_packets: u64,
    /// Frames received by IP, over all interfaces of the network namespace. `None`: the kernel does not tell.
    pub ip_in_frames: Option<u64>,
    /// Packets received by IP, over all interfaces. A GRO aggregate counts once.
    pub ip_in_packets: u64,
    /// Packets received by IP whose end is known: [`Protocols::ip_in_ended`].
    pub ip_in_ended: u64,
    /// Times that a CPU's softirq ended with packets left (`time_squeeze`).
    pub softnet_squeezed: u64,
    /// Times that the carrier came or went.
    pub carrier_changes: u64,
    /// CPUs online. Counters per CPU come and go with their CPU.
    pub cpus: u32,
}

/// Number of frames in a run that may be ARP or LLDP.
pub const NOT_IP: u64 = 20;

impl PathCounters {
    /// Returns the growth from one reading to a later one. `None`: the interface was gone at one of them.
    pub fn between(before: &LossCounters, now: &LossCounters, interface: &str) -> Option<Self> {
        let growth = now.since(before);
        let named = |counter: &str| format!("{interface} {counter}");
        let own = |counter: &str| growth.interfaces.get(&named(counter)).copied();
        let sum = |counters: &[&str]| counters.iter().filter_map(|it| own(it)).sum::<u64>();
        let carrier_changes = growth.links.get(&named("carrier_changes")).copied();
        let protocols = Protocols(growth.counters);
        let backlog_drops = protocols.both(SOFTNET_DROPPED);
        let in_drops = sum(&["rx_dropped", "rx_errors", "rx_missed_errors"]);
        Some(Self {
            qdisc_drops: own("qdisc_drops")?,
            nic_out_drops: sum(&["tx_dropped", "tx_errors"]),
            filter_drops: own("ingress_drops")?,
            nic_in_drops: in_drops.saturating_sub(backlog_drops),
            backlog_drops,
            ip_in_discards: protocols.ip_in_drops(),
            udp_no_ports: protocols.both("UdpNoPorts"),
            udp_in_errors: protocols.udp_errors_without_rcvbuf(),
            udp_rcvbuf_errors: protocols.both("UdpRcvbufErrors"),
            udp_sndbuf_errors: protocols.both("UdpSndbufErrors"),
            ip_out_discards: protocols.both("IpOutDiscards"),
            tx_packets: own("tx_packets")?,
            rx_packets: *growth.received.get(interface)?,
            ip_in_frames: protocols.in_frames(),
            ip_in_packets: protocols.both("IpInReceives"),
            ip_in_ended: protocols.ip_in_ended(),
            softnet_squeezed: protocols.both(SOFTNET_SQUEEZED),
            carrier_changes: carrier_changes.unwrap_or(0),
            cpus: u32::try_from(now.softnet.len()).unwrap_or(u32::MAX),
        })
    }

    /// Returns the packets that the interface received and that reached no protocol although no counter names a drop: a
    /// firewall (netfilter), a filter of tc, or XDP dropped them. `self` is a difference. `came` is the number of
    /// datagrams that sockets received.
    ///
    /// Two differences reveal them: packets that the interface received and IP did not, and packets that IP received
    /// and neither delivered, forwarded nor counted as lost. Other traffic that is delivered is on both sides of each
    /// difference. Frames of other protocols than IP are on one side only, so a small difference counts as none
    /// ([`NOT_IP`]). Traffic that reaches IP over other interfaces hides some of the packets.
    pub fn vanished(&self, came: u64) -> u64 {
        // The kernel also counts packets as received that it dropped itself behind the interface.
        let counted = self.backlog_drops + self.nic_in_drops;
        // A veth passes a GSO train on as one packet, and counts it as one.
        let counts_trains = came > self.rx_packets;
        let at_ip = if counts_trains {
            Some(self.ip_in_packets)
        } else {
            self.ip_in_frames
        };
        let before_ip = at_ip.map_or(0, |at_ip| self.rx_packets.saturating_sub(at_ip + counted));
        let before_ip = Some(before_ip).filter(|&frames| frames > NOT_IP);
        let within_ip = self.ip_in_packets.saturating_sub(self.ip_in_ended);
        (before_ip.unwrap_or(0) + within_ip).max(self.filter_drops)
    }
}

#[cfg(test)]
mod tests;
