//! Network interfaces, as the kernel describes them by netlink, and the interfaces below one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use nix::net::if_::if_nametoindex;

use crate::sys::netlink::{Netlink, Scope, attributes, read_u16, read_u32, read_u64, text};

/// An interface, as RTM_GETLINK describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Number of the interface in its network namespace.
    pub index: u32,
    /// Name, such as `eth0`.
    pub name: String,
    /// Kind of its hardware addresses (`ARPHRD_`, linux/if_arp.h).
    pub hardware: u16,
    /// Its hardware address. Empty: it has none.
    pub address: Vec<u8>,
    /// Number of the interface that it is on top of (`IFLA_LINK`); of a veth, its other end.
    pub lower: Option<u32>,
    /// True if `lower` is a number in another network namespace.
    pub lower_is_elsewhere: bool,
    /// Number of the bridge or bond that it is a port of.
    pub master: Option<u32>,
    /// Somebody set it up (`IFF_UP`), with or without a carrier.
    pub is_up: bool,
    /// Operational state (`IF_OPER_`, linux/if.h).
    pub state: Option<u8>,
    /// Number of receive queues.
    pub rx_queues: Option<u32>,
    /// Number of transmit queues.
    pub tx_queues: Option<u32>,
    /// Counters of the interface since it was made, by their names in `/sys/class/net/*/statistics`. Drivers on 32-bit
    /// kernels may keep 32 bits of each.
    pub statistics: BTreeMap<&'static str, u64>,
    /// Times that the carrier came or went. `None`: before Linux 3.15.
    pub carrier_changes: Option<u32>,
    /// Its root queueing discipline, such as `mq`.
    pub qdisc: Option<String>,
    /// Kind of a software interface, such as `veth`.
    pub kind: Option<String>,
    /// Largest packet that it takes, in bytes.
    pub mtu: Option<u32>,
    /// The most segments of a packet that it takes.
    pub gso_max_segs: Option<u32>,
    /// An XDP program is loaded that the kernel runs instead of the driver ("generic").
    pub has_generic_xdp: bool,
}

/// Returns the number of an interface.
///
/// # Errors
/// Fails if there is no interface of this name.
pub fn index(interface: &str) -> io::Result<u32> {
    Ok(if_nametoindex(interface)?)
}

/// Attributes (linux/if_link.h).
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINK: u16 = 5;
const IFLA_QDISC: u16 = 6;
const IFLA_MASTER: u16 = 10;
const IFLA_OPERSTATE: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_NUM_TX_QUEUES: u16 = 31;
const IFLA_NUM_RX_QUEUES: u16 = 32;
const IFLA_CARRIER_CHANGES: u16 = 35;
pub(in crate::sys) const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_XDP: u16 = 43;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_XDP_ATTACHED: u16 = 2;
const XDP_ATTACHED_SKB: u8 = 2;
/// Flag of an interface (linux/if.h).
const IFF_UP: u32 = 1;
/// `struct ifinfomsg`.
const LINK_BYTES: usize = 16;

/// Reads an interface by its number.
pub(in crate::sys) fn read(route: &mut Netlink, index: u32) -> io::Result<Link> {
    let mut body = [0; LINK_BYTES];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    let mut link = Link::default();
    route.ask(libc::RTM_GETLINK, Scope::One, &body, |message| {
        link = parse(message);
    })?;
    Ok(link)
}

/// Reads all interfaces of the network namespace.
///
/// # Errors
/// Returns the error of netlink: a sandbox may forbid it.
pub fn links() -> io::Result<Vec<Link>> {
    let mut links = Vec::new();
    let mut route = Netlink::route()?;
    route.ask(libc::RTM_GETLINK, Scope::All, &[0; LINK_BYTES], |message| {
        links.push(parse(message));
    })?;
    Ok(links)
}

/// Interfaces directly below another one: those that a VLAN, a macvlan or a port of a switch is on top of, and the
/// ports of a bridge or bond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// The interfaces, by number.
    pub links: Vec<Link>,
    /// True if there is one in another network namespace, which is not visible here.
    pub is_elsewhere: bool,
}

/// Returns the interfaces of `all` that are directly below `upper`.
pub fn below(upper: &Link, all: &[Link]) -> Below {
    // The two ends of such a pair are beside each other.
    let is_pair = matches!(upper.kind.as_deref(), Some("veth" | "netkit" | "vxcan"));
    let own = upper.lower.filter(|&lower| !is_pair && lower > 0);
    let own = own.filter(|&lower| upper.lower_is_elsewhere || lower != upper.index);
    let here = own.filter(|_| !upper.lower_is_elsewhere);
    let is_below = |it: &&Link| Some(it.index) == here || it.master == Some(upper.index);
    Below {
        links: all.iter().filter(is_below).cloned().collect(),
        is_elsewhere: own.is_some() && upper.lower_is_elsewhere,
    }
}

/// Returns all interfaces of `all` below the one of this number, each once: those directly below, and those below them.
/// True: the kernel adds its counters to those of the interface above, as of the ports of a bond (`bond_get_stats`).
pub(super) fn all_below(index: u32, all: &[Link]) -> Vec<(Link, bool)> {
    let mut uppers: Vec<&Link> = all.iter().filter(|it| it.index == index).collect();
    let (mut found, mut seen) = (Vec::new(), vec![index]);
    while let Some(upper) = uppers.pop() {
        let is_added = upper.kind.as_deref() == Some("bond");
        for lower in below(upper, all).links {
            if !seen.contains(&lower.index) {
                seen.push(lower.index);
                uppers.extend(all.iter().filter(|it| it.index == lower.index));
                found.push((lower, is_added));
            }
        }
    }
    found
}

/// Returns the names of some interfaces of `all`, given by number, and of all below them.
pub fn with_those_below(numbers: &BTreeSet<u32>, all: &[Link]) -> BTreeSet<String> {
    let own = all.iter().filter(|link| numbers.contains(&link.index));
    let lower = numbers.iter().flat_map(|number| all_below(*number, all));
    let names = lower.map(|(link, _)| link.name);
    names.chain(own.map(|link| link.name.clone())).collect()
}

/// Parses a message of the kernel about an interface, without its header.
pub(super) fn parse(message: &[u8]) -> Link {
    let mut link = Link {
        hardware: read_u16(message, 2).unwrap_or(0),
        index: read_u32(message, 4).unwrap_or(0),
        is_up: read_u32(message, 8).unwrap_or(0) & IFF_UP != 0,
        ..Link::default()
    };
    for (kind, value) in attributes(message.get(LINK_BYTES..).unwrap_or_default()) {
        match kind {
            IFLA_ADDRESS => link.address = value.to_vec(),
            IFLA_IFNAME => link.name = text(value),
            IFLA_MTU => link.mtu = read_u32(value, 0),
            IFLA_LINK => link.lower = read_u32(value, 0),
            IFLA_QDISC => link.qdisc = Some(text(value)),
            IFLA_MASTER => link.master = read_u32(value, 0),
            IFLA_OPERSTATE => link.state = value.first().copied(),
            IFLA_STATS64 => link.statistics = read_statistics(value),
            IFLA_NUM_TX_QUEUES => link.tx_queues = read_u32(value, 0),
            IFLA_NUM_RX_QUEUES => link.rx_queues = read_u32(value, 0),
            IFLA_CARRIER_CHANGES => link.carrier_changes = read_u32(value, 0),
            IFLA_GSO_MAX_SEGS => link.gso_max_segs = read_u32(value, 0),
            IFLA_XDP => {
                let is_generic = |(kind, value): (u16, &[u8])| {
                    kind == IFLA_XDP_ATTACHED && value.first() == Some(&XDP_ATTACHED_SKB)
                };
                link.has_generic_xdp = attributes(value).any(is_generic);
            }
            IFLA_LINK_NETNSID => link.lower_is_elsewhere = true,
            IFLA_LINKINFO => {
                let kind = attributes(value).find(|(kind, _)| *kind == IFLA_INFO_KIND);
                link.kind = kind.map(|(_, value)| text(value));
            }
            _ => {}
        }
    }
    link
}

/// Counters of lost packets, with their places in the structure. Some contain others.
///
/// The kernel's documentation separates `dropped`, `errors` and `missed`: no packet is in two of them. The kinds of
/// errors are part of `errors`, except `over` and `fifo`, which count events that need not be packets.
///
/// - `rx_dropped`: packets received and not processed: no memory, no protocol for them (`__netif_receive_skb_core`), or
///   a full backlog (`enqueue_to_backlog`)
/// - `tx_dropped`: packets that the driver, not a qdisc, dropped before their transmission
/// - `rx_missed_errors`: packets that the interface dropped because the host had no buffers ready
const LOSSES: [(&str, usize); 14] = [
    ("rx_errors", 4),
    ("rx_dropped", 6),
    ("rx_missed_errors", 15),
    ("rx_length_errors", 10),
    ("rx_over_errors", 11),
    ("rx_crc_errors", 12),
    ("rx_frame_errors", 13),
    ("rx_fifo_errors", 14),
    ("tx_errors", 5),
    ("tx_dropped", 7),
    ("tx_aborted_errors", 16),
    ("tx_carrier_errors", 17),
    ("tx_fifo_errors", 18),
    ("tx_window_errors", 20),
];

/// Other counters, with their places.
///
/// - `rx_nohandler`: packets received for nobody, on an interface that only listens (Linux 4.6)
/// - `rx_otherhost_dropped`: packets received for the MAC address of another host, and dropped by IP (Linux 5.19)
const OTHERS: [(&str, usize); 4] = [
    ("rx_packets", 0),
    ("tx_packets", 1),
    ("rx_nohandler", 23),
    ("rx_otherhost_dropped", 24),
];

/// Returns whether a counter of [`Link::statistics`] is of lost packets.
pub(super) fn is_loss(counter: &str) -> bool {
    LOSSES.iter().any(|(name, _)| *name == counter)
}

/// Reads `struct rtnl_link_stats64`. An older kernel's array is shorter.
fn read_statistics(bytes: &[u8]) -> BTreeMap<&'static str, u64> {
    let all = LOSSES.into_iter().chain(OTHERS);
    all.filter_map(|(name, index)| Some((name, read_u64(bytes, 8 * index)?)))
        .collect()
}

/// Watch on the interfaces of a network namespace. The kernel tells of each change (RTNLGRP_LINK, rtnetlink(7)).
#[derive(Debug)]
pub struct LinkWatch {
    news: Netlink,
    is_up: BTreeMap<String, bool>,
    set_downs: BTreeMap<String, u64>,
}

impl LinkWatch {
    /// Begins to watch the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// Returns the error of netlink: a sandbox may forbid it.
    pub fn start() -> io::Result<Self> {
        let mut watch = Self {
            news: Netlink::news_of_links()?,
            is_up: BTreeMap::new(),
            set_downs: BTreeMap::new(),
        };
        for link in links()? {
            watch.hear(link);
        }
        Ok(watch)
    }

    /// Returns how often each interface was set down since the start, by name.
    pub fn set_downs(&mut self) -> &BTreeMap<String, u64> {
        let mut heard = Vec::new();
        // What the kernel could not keep is not known, and all later news come.
        let _ = self.news.hear(|message| heard.push(parse(message)));
        for link in heard {
            self.hear(link);
        }
        &self.set_downs
    }

    fn hear(&mut self, link: Link) {
        let times = self.set_downs.entry(link.name.clone()).or_default();
        let was_up = self.is_up.insert(link.name, link.is_up);
        *times += u64::from(was_up == Some(true) && !link.is_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32, kind: &str, lower: Option<u32>) -> Link {
        Link {
            index,
            kind: Some(kind.to_owned()).filter(|kind| !kind.is_empty()),
            lower,
            ..Link::default()
        }
    }

    #[test]
    fn what_an_interface_is_on_top_of_is_below_it_and_the_other_end_of_a_pair_is_not() {
        let port = |index, master| Link {
            master: Some(master),
            ..link(index, "", None)
        };
        let all = [
            link(1, "", None),
            link(2, "", None),
            link(3, "vlan", Some(2)),
            link(4, "macvlan", Some(3)),
            link(5, "veth", Some(6)),
            link(6, "veth", Some(5)),
            link(7, "bond", None),
            port(8, 7),
            port(9, 7),
            // Some drivers tell their own number.
            link(10, "", Some(10)),
            link(11, "vxlan", Some(0)),
            Link {
                lower_is_elsewhere: true,
                ..link(12, "macvlan", Some(2))
            },
            Link {
                lower_is_elsewhere: true,
                ..link(13, "veth", Some(2))
            },
        ];
        let found = |index: u32| {
            let upper = all
                .iter()
                .find(|it| it.index == index)
                .expect("it is there");
            let below = below(upper, &all);
            let indices: Vec<u32> = below.links.iter().map(|it| it.index).collect();
            (indices, below.is_elsewhere)
        };
        for (index, expected, elsewhere) in [
            (2, vec![], false),
            (3, vec![2], false),
            (4, vec![3], false),
            (5, vec![], false),
            (7, vec![8, 9], false),
            (10, vec![], false),
            (11, vec![], false),
            (12, vec![], true),
            (13, vec![], false),
        ] {
            assert_eq!(found(index), (expected, elsewhere), "{index}");
        }
    }

    #[test]
    fn a_bond_on_a_bridge_has_the_ports_of_both_below_it_and_nothing_beside_it() {
        let named = |name: &str, index, master| Link {
            name: name.to_owned(),
            master,
            ..link(index, "", None)
        };
        let all = [
            named("br0", 1, None),
            named("bond0", 2, Some(1)),
            named("eth0", 3, Some(2)),
            named("veth7", 4, None),
        ];
        let names = with_those_below(&BTreeSet::from([1]), &all);
        assert_eq!(names, ["bond0", "br0", "eth0"].map(str::to_owned).into());
    }

    #[test]
    fn the_machines_own_loopback_is_among_all() {
        let all = links().expect("everybody may");
        let lo = all.iter().find(|it| it.name == "lo").expect("it is there");
        assert_eq!((lo.index, lo.hardware), (1, 772));
        assert_eq!(below(lo, &all), Below::default());
    }

    #[test]
    fn an_interface_that_is_up_again_was_set_down_and_one_without_carrier_was_not() {
        let mut watch = LinkWatch::start().expect("everybody may");
        assert_eq!(watch.set_downs().get("lo"), Some(&0));
        let mut tell = |name: &str, is_up| {
            watch.hear(Link {
                name: name.to_owned(),
                is_up,
                ..Link::default()
            });
        };
        for is_up in [true, false, false, true, true, false, true] {
            tell("wan9", is_up);
        }
        for is_up in [false, false, true, true] {
            tell("wan8", is_up);
        }
        let set_downs = watch.set_downs();
        assert_eq!((set_downs["wan9"], set_downs["wan8"]), (2, 0));
    }
}
