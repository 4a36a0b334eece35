//! Counters of the places where this host loses datagrams between a network interface and a socket.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::counting::{Counting, all_below};
use super::driver::WIFI_TX_FAILED;
use super::link;
use super::qdisc;
use super::wireless::Wireless;
use crate::sys::netlink::Netlink;
use crate::sys::protocols::Protocols;
use crate::sys::softnet::{self, Softnet};

/// Lost packets by place, in the order of a datagram's way. The counters run since boot and are compared with an
/// earlier reading.
///
/// Other programs move these counters as well. No packet is in two of the places, except those that `nic_in_drops` and
/// `nic_out_drops` name. A GSO train or GRO aggregate that is lost as one counts once, for all its datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCounters {
    /// Packets dropped by the interface's queueing disciplines: [`qdisc::out_drops`].
    pub qdisc_drops: u64,
    /// Packets lost by the interface and its driver on the way out. A veth also counts packets here that its other end
    /// refused: its backlog was full, or the packet was longer than its MTU.
    pub nic_out_drops: u64,
    /// Packets dropped by filters of an `ingress` qdisc, or of a `clsact` qdisc on either way.
    pub filter_drops: u64,
    /// Packets lost by the interface and its driver on the way in: dropped, bad or missed. The kernel also counts
    /// packets here that found the backlog full (`enqueue_to_backlog`). [`PathCounters::since`] subtracts these.
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

/// Reader of the counters of an interface and of the network namespace that it was opened in.
#[derive(Debug)]
pub struct PathReader {
    route: Netlink,
    own: Counting,
    /// The interfaces below it.
    below: Vec<Counting>,
    /// Name of the interface if it has a radio.
    radio: Option<String>,
}

impl PathReader {
    /// Opens a reader of an interface and those below it: what a VLAN, a macvlan or a port of a switch is on top of, and
    /// the ports of a bridge or bond. They may lose what is sent and received by it, and what others send.
    ///
    /// # Errors
    /// Fails if there is no interface of this name, or if netlink is forbidden.
    pub fn open(interface: &str) -> io::Result<Self> {
        let mut reader = Self::open_alone(interface)?;
        reader.below = all_below(reader.own.index);
        Ok(reader)
    }

    /// Opens a reader of an interface alone.
    ///
    /// # Errors
    /// Fails if there is no interface of this name, or if netlink is forbidden.
    pub fn open_alone(interface: &str) -> io::Result<Self> {
        Ok(Self {
            own: Counting::open(interface, false)?,
            below: Vec::new(),
            route: Netlink::route()?,
            radio: Wireless::read(interface).map(|_| interface.to_owned()),
        })
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub fn read(&mut self) -> io::Result<PathCounters> {
        // Reads from the end of a datagram's way to its beginning, so that no packet that moves meanwhile is counted
        // twice.
        let protocols = Protocols::read();
        let softnet = softnet::read();
        let link = self.link()?;
        let qdiscs = self.qdiscs()?;
        let mut counters = PathCounters {
            qdisc_drops: qdisc::out_drops(&qdiscs).into(),
            filter_drops: qdisc::filter_drops(&qdiscs).into(),
            nic_out_drops: link.statistics.out_drops(),
            nic_in_drops: link.statistics.in_drops(),
            ip_in_discards: protocols.ip_in_drops(),
            ip_out_discards: protocols.both("IpOutDiscards"),
            udp_no_ports: protocols.both("UdpNoPorts"),
            udp_in_errors: protocols.udp_errors_without_rcvbuf(),
            udp_rcvbuf_errors: protocols.both("UdpRcvbufErrors"),
            udp_sndbuf_errors: protocols.both("UdpSndbufErrors"),
            tx_packets: link.statistics.tx_packets,
            rx_packets: link.statistics.rx_packets,
            ip_in_frames: Some(protocols.in_frames()).filter(|&frames| frames > 0),
            ip_in_packets: protocols.both("IpInReceives"),
            ip_in_ended: protocols.ip_in_ended(),
            carrier_changes: link.carrier_changes.unwrap_or(0).into(),
            backlog_drops: sum(&softnet, |cpu| cpu.dropped),
            softnet_squeezed: sum(&softnet, |cpu| cpu.squeezed),
            cpus: u32::try_from(softnet.len()).unwrap_or(u32::MAX),
        };
        for lower in &self.below {
            // One that is gone loses nothing any more.
            let qdiscs = qdiscs_of(&mut self.route, lower.index).unwrap_or_default();
            counters.qdisc_drops += u64::from(qdisc::out_drops(&qdiscs));
            counters.filter_drops += u64::from(qdisc::filter_drops(&qdiscs));
            let link = link::read(&mut self.route, lower.index).unwrap_or_default();
            if !lower.is_added {
                counters.nic_out_drops += link.statistics.out_drops();
                counters.nic_in_drops += link.statistics.in_drops();
            }
        }
        Ok(counters)
    }

    /// Reads counters of lost packets by name, since boot: the kernel's for the interface, and those of its driver that
    /// are known to count lost packets (`way`). Of Wi-Fi also frames given up, and retries, which are no losses.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub fn named(&mut self) -> io::Result<BTreeMap<String, u64>> {
        let mut named = BTreeMap::new();
        for interface in [&self.own].into_iter().chain(&self.below) {
            interface.add_named(&mut named);
        }
        if let Some(radio) = self.radio() {
            let counters = [
                (WIFI_TX_FAILED, radio.tx_failed),
                ("wifi_tx_retries", radio.tx_retries),
            ];
            let known = counters.into_iter();
            let known = known.filter_map(|(name, count)| Some((name.to_owned(), count?.into())));
            named.extend(known);
        }
        let mut kernels = vec![self.link()?];
        for lower in self.below.iter().filter(|lower| !lower.is_added) {
            kernels.extend(link::read(&mut self.route, lower.index));
        }
        for (name, value) in kernels.iter().flat_map(|link| &link.statistics.losses) {
            *named.entry((*name).to_owned()).or_default() += value;
        }
        Ok(named)
    }

    /// Reads the state of the radio. `None`: the interface has none.
    pub fn radio(&self) -> Option<Wireless> {
        Wireless::read(self.radio.as_deref()?)
    }

    /// Reads the description of the interface and all its counters.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub fn link(&mut self) -> io::Result<link::Link> {
        link::read(&mut self.route, self.own.index)
    }

    /// Reads the queueing disciplines of the interface. Empty if the kernel was built without them.
    ///
    /// # Errors
    /// Returns the error of netlink.
    pub fn qdiscs(&mut self) -> io::Result<Vec<qdisc::Qdisc>> {
        qdiscs_of(&mut self.route, self.own.index)
    }
}

fn qdiscs_of(route: &mut Netlink, index: u32) -> io::Result<Vec<qdisc::Qdisc>> {
    match qdisc::read(route, index) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(Vec::new()),
        answer => answer,
    }
}

/// Returns the sum over all CPUs, modulo 2^32 like the counters.
fn sum(softnet: &[Softnet], counter: impl Fn(&Softnet) -> u32) -> u64 {
    let sum = softnet.iter().map(counter).fold(0, u32::wrapping_add);
    sum.into()
}

impl PathCounters {
    /// Returns the differences since `before`.
    pub fn since(&self, before: &Self) -> Self {
        let of = |counter: fn(&Self) -> u64| moved(counter(before), counter(self));
        // If a CPU came or went, so did its counters.
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
            ip_in_frames: self
                .ip_in_frames
                .zip(before.ip_in_frames)
                .map(|(now, before)| moved(before, now)),
            ip_in_packets: of(|it| it.ip_in_packets),
            ip_in_ended: of(|it| it.ip_in_ended),
            softnet_squeezed: of_cpus(|it| it.softnet_squeezed),
            carrier_changes: of(|it| it.carrier_changes),
            cpus: self.cpus,
        }
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

/// Number of frames in a run that may be ARP or LLDP.
pub const NOT_IP: u64 = 20;

/// Returns the difference of each counter, without counters that did not move.
pub fn named_since(
    now: &BTreeMap<String, u64>,
    before: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let moved = now.iter().map(|(name, &now)| {
        let before = before.get(name).copied().unwrap_or(now);
        (name.clone(), moved(before, now))
    });
    moved.filter(|(_, packets)| *packets > 0).collect()
}

/// Returns the difference of a counter of 32 or 64 bits. The counter may have restarted: an interface or a qdisc was
/// made again, or a driver was loaded again.
pub(in crate::sys) fn moved(before: u64, now: u64) -> u64 {
    /// More packets than pass between two readings: 12 minutes at 1.4 million per second.
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
mod tests;
