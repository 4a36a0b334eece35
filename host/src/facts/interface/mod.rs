//! Reads network interfaces: kind, settings and counters.

mod counted;
mod kind;
mod visible;

use serde::{Deserialize, Serialize};

pub use self::counted::Counted;
pub use self::kind::InterfaceKind;
use self::visible::Visible;
use super::interrupts::{cpus_of_irqs, irqs};
use super::network;
use crate::sys::files::Root;
use crate::sys::kernel_drops;
use crate::sys::nic::{
    self, Coalescing, Eee, Ethtool, InterfaceReader, Link, LinkModes, Pause, Qdisc, Rings,
    TokenBucket, Wireless,
};

/// A network interface. A field is `None` if neither the driver nor the kernel shows the value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Name, such as `eth0`.
    pub name: String,
    /// Kind of interface.
    pub kind: InterfaceKind,
    /// Driver, such as `bcmgenet`.
    pub driver: Option<String>,
    /// Bus that connects it, such as `usb`.
    pub bus: Option<String>,
    /// Operational state in the kernel's words: `up`, `down`, `unknown`.
    pub state: Option<String>,
    /// Speed in megabits per second.
    pub speed_mbps: Option<u32>,
    /// Duplex mode: `full` or `half`.
    pub duplex: Option<String>,
    /// Link modes that this end and its partner support.
    pub modes: Option<LinkModes>,
    /// Largest packet, in bytes.
    pub mtu: Option<u32>,
    /// Number of receive queues.
    pub rx_queues: usize,
    /// Number of transmit queues.
    pub tx_queues: usize,
    /// Numbers of descriptors in the rings.
    pub rings: Option<Rings>,
    /// Delays of interrupts.
    pub coalescing: Option<Coalescing>,
    /// Time that GRO may hold packets back, in nanoseconds.
    pub gro_flush_timeout_ns: Option<u64>,
    /// Number of polls that may find the queue empty before interrupts are enabled again.
    pub napi_defer_hard_irqs: Option<u32>,
    /// Offloads that change the cost of a datagram and are on, in ethtool's words.
    pub offloads: Option<Vec<String>>,
    /// Energy-efficient Ethernet.
    pub eee: Option<Eee>,
    /// Flow control.
    pub pause: Option<Pause>,
    /// CPUs that RPS hands its packets to. Empty: RPS is off.
    pub rps_cpus: Option<Vec<usize>>,
    /// CPUs that XPS gives transmit queues to. Empty: XPS is off.
    pub xps_cpus: Option<Vec<usize>>,
    /// Numbers of its interrupts, if `/proc/interrupts` names the interface.
    pub irqs: Vec<u32>,
    /// CPUs that take its interrupts.
    pub irq_cpus: Vec<usize>,
    /// Root queueing discipline.
    pub qdisc: Option<String>,
    /// Bucket of the root queueing discipline, if it is a token bucket. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_bucket: Option<TokenBucket>,
    /// State of the radio. Absent: it has none, or the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wireless: Option<Wireless>,
    /// Number of times that the carrier came or went.
    pub carrier_changes: Option<u32>,
    /// Counters up to now.
    pub counted: Counted,
    /// Interfaces directly below it, which carry its packets: of a VLAN, a macvlan, a port of a switch, a bridge, a
    /// bond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Interface>,
    /// True if there is an interface below it in another network namespace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub below_is_elsewhere: bool,
}

/// Offloads that change the cost of a datagram, in ethtool's words.
const OFFLOADS: &str = "rx-checksum rx-gro rx-gro-hw rx-gro-list rx-udp-gro-forwarding tx-checksum-ip-generic \
                        tx-checksum-ipv4 tx-generic-segmentation tx-udp-segmentation";

const NET: &str = "sys/class/net";
/// Beginning of the names of links to interfaces below one.
const LOWER: &str = "lower_";
/// Largest number of interfaces on top of each other, of which the kernel permits 8 (`MAX_NEST_DEV`).
const MOST_LEVELS: usize = 8;

/// Returns the names of all interfaces of this network namespace, sorted.
pub fn names(root: &Root) -> Vec<String> {
    let mut names = Visible::read(root).names;
    names.sort_unstable();
    names
}

/// Returns whether `/sys` shows the interfaces of this network namespace, as far as is known.
pub(super) fn is_in_sys(root: &Root) -> bool {
    Visible::read(root).is_in_sys
}

impl Interface {
    /// Reads the interface `name` below `root`, and those below it. If `root` is the machine's own, asks the driver and
    /// the kernel as well. `None` if there is no such interface.
    pub fn read(root: &Root, name: &str) -> Option<Self> {
        let visible = Visible::read(root);
        let name = visible.name(name)?;
        Some(Self::read_with_below(root, &visible, &name, MOST_LEVELS))
    }

    fn read_with_below(root: &Root, visible: &Visible, name: &str, levels: usize) -> Self {
        let mut interface = if visible.is_in_sys {
            Self::shown(root, name)
        } else {
            Self::default()
        };
        name.clone_into(&mut interface.name);
        let mut names: Vec<String> = Vec::new();
        if let Some(link) = visible.link(name) {
            interface.add_told(link, visible);
            let below = nic::below(link, &visible.links);
            interface.below_is_elsewhere = below.is_elsewhere;
            names.extend(below.links.into_iter().map(|it| it.name));
        } else {
            let links = root.names(format!("{NET}/{name}"), LOWER).into_iter();
            names.extend(links.filter_map(|link| Some(link.strip_prefix(LOWER)?.to_owned())));
        }
        if root.is_real() {
            interface.ask_driver();
            interface.ask_kernel();
        }
        if let Some(levels) = levels.checked_sub(1) {
            let read = |name: String| Self::read_with_below(root, visible, &name, levels);
            interface.below = names.into_iter().map(read).collect();
        }
        interface
    }

    /// Returns the interface and all interfaces below it, each once.
    pub fn with_below(&self) -> Vec<&Self> {
        let mut all = vec![self];
        for lower in self.below.iter().flat_map(Self::with_below) {
            if all.iter().all(|known| known.name != lower.name) {
                all.push(lower);
            }
        }
        all
    }

    /// Adds what netlink tells. Where `/sys` shows another network namespace, nothing else tells it.
    fn add_told(&mut self, link: &Link, visible: &Visible) {
        /// `IF_OPER_` (linux/if.h), in the words of `operstate`.
        const STATES: &str = "unknown notpresent down lowerlayerdown testing dormant up";
        self.kind = InterfaceKind::by_netlink(link).unwrap_or(self.kind);
        if visible.is_in_sys {
            return;
        }
        let state = |state: u8| STATES.split(' ').nth(state.into());
        let queues = |count: Option<u32>| count.map_or(0, |count| count as usize);
        self.state = link.state.and_then(state).map(str::to_owned);
        self.mtu = link.mtu;
        self.rx_queues = queues(link.rx_queues);
        self.tx_queues = queues(link.tx_queues);
        self.carrier_changes = link.carrier_changes;
        let count = |name| link.statistics.get(name).copied();
        let missed = count("rx_missed_errors").unwrap_or(0);
        self.counted.rx_packets = count("rx_packets");
        self.counted.tx_packets = count("tx_packets");
        self.counted.rx_dropped = count("rx_dropped");
        self.counted.rx_errors = count("rx_errors").map(|errors| errors.saturating_add(missed));
    }

    /// Reads the values in `/sys` and `/proc`.
    fn shown(root: &Root, name: &str) -> Self {
        let file = |file: &str| format!("{NET}/{name}/{file}");
        let queues = |prefix| root.names(file("queues"), prefix).len();
        let irqs = irqs(root, name);
        let known = |word: &String| word != "unknown";
        let count = |name: &str| root.number(file(&format!("statistics/{name}")));
        let missed: u64 = count("rx_missed_errors").unwrap_or(0);
        Self {
            kind: InterfaceKind::in_sysfs(root, name),
            driver: root.link_name(file("device/driver")),
            bus: root.link_name(file("device/subsystem")),
            state: root.text(file("operstate")),
            // Without a carrier the speed is -1, or not readable.
            speed_mbps: root.number(file("speed")).filter(|speed| *speed > 0),
            duplex: root.text(file("duplex")).filter(known),
            mtu: root.number(file("mtu")),
            rx_queues: queues("rx-"),
            tx_queues: queues("tx-"),
            gro_flush_timeout_ns: root.number(file("gro_flush_timeout")),
            napi_defer_hard_irqs: root.number(file("napi_defer_hard_irqs")),
            rps_cpus: network::rps_cpus(root, name),
            xps_cpus: network::xps_cpus(root, name),
            irq_cpus: cpus_of_irqs(root, &irqs),
            irqs,
            carrier_changes: root.number(file("carrier_changes")),
            counted: Counted {
                rx_packets: count("rx_packets"),
                tx_packets: count("tx_packets"),
                rx_dropped: count("rx_dropped"),
                rx_errors: count("rx_errors").map(|errors| errors.saturating_add(missed)),
                ..Counted::default()
            },
            name: name.to_owned(),
            ..Self::default()
        }
    }

    fn ask_driver(&mut self) {
        let Ok(driver) = Ethtool::open(&self.name) else {
            return;
        };
        if self.driver.is_none() {
            self.driver = driver.driver();
        }
        if self.speed_mbps.is_none() {
            (self.speed_mbps, self.duplex) = driver.speed();
        }
        if self.driver.as_deref() == Some("veth") {
            self.kind = InterfaceKind::Veth;
        }
        self.modes = driver.modes();
        self.rings = driver.rings();
        self.coalescing = driver.coalescing();
        self.eee = driver.eee();
        self.pause = driver.pause();
        self.offloads = driver.features().ok().map(|features| {
            let is_ours = |name: &String| OFFLOADS.split(' ').any(|it| it == name);
            let on = features.into_iter().filter(|(_, is_on)| *is_on);
            on.map(|(name, _)| name).filter(is_ours).collect()
        });
        let statistics = driver.statistics().unwrap_or_default();
        self.counted
            .count_driver(self.driver.as_deref(), &statistics);
    }

    /// Reads the driver's counters of lost packets again, to see which of them grow.
    pub fn read_again(&mut self, root: &Root) {
        let asked = Ethtool::open(&self.name).and_then(|driver| driver.statistics());
        if let (true, Ok(statistics)) = (root.is_real(), asked) {
            let driver = self.driver.as_deref();
            self.counted.count_driver_again(driver, &statistics);
        }
        for lower in &mut self.below {
            lower.read_again(root);
        }
    }

    fn ask_kernel(&mut self) {
        if let Ok(mut reader) = InterfaceReader::open_alone(&self.name) {
            self.qdisc = reader.link().ok().and_then(|link| link.qdisc);
            let mut qdiscs = reader.qdiscs().unwrap_or_default().into_iter();
            let root = qdiscs.find(Qdisc::is_root);
            self.token_bucket = root.and_then(|root| root.token_bucket);
        }
        if self.kind == InterfaceKind::Wireless {
            self.wireless = Wireless::read(&self.name);
        }
        let drops = kernel_drops::read_softnet()
            .into_iter()
            .map(|cpu| cpu.dropped);
        self.counted.backlog_drops = drops.map(u64::from).sum();
    }
}

#[cfg(test)]
mod tests;
