//! Reads the counters of all loss places ([`PLACES`]), and says which places lost packets between two readings.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::iter;
use std::path::Path;

use nix::net::if_::if_nameindex;

use super::clock;
use super::drop_reasons::DropReasons;
use super::kernel_drops::{Softnet, read_softnet};
use super::loss_places::{IP_WITHOUT_END, Layer, LossPlace, PLACES};
use super::nic::{InterfaceReader, LinkWatch, Way, is_loss, is_named, way};
use super::protocols::{Protocols, both, counters_by_line};

/// Counters of all loss places since boot, or their growth. A counter that is missing cannot be read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossCounters {
    /// Counters of the network namespace and of the machine, by their names in the table.
    pub counters: BTreeMap<String, u64>,
    /// Counters of interfaces ([`InterfaceReader::read`]), by interface and counter, such as `eth0 rx_missed_errors`.
    /// Some contain others.
    pub interfaces: BTreeMap<String, u64>,
    /// Drops of the whole machine, by the kernel's drop reasons.
    pub reasons: BTreeMap<String, u64>,
    /// Times that the carrier of an interface came or went (`eth0 carrier_changes`), or somebody set it down
    /// (`eth0 set_down`).
    pub links: BTreeMap<String, u64>,
    /// Packets that each interface received.
    pub received: BTreeMap<String, u64>,
    /// Each CPU's receive queue.
    pub softnet: Vec<Softnet>,
    /// When they were read, in nanoseconds of CLOCK_MONOTONIC; of growth, the time between the readings. 0: unknown.
    pub at_ns: u64,
    /// Time that the reading took, in nanoseconds; of growth, that of both.
    pub took_ns: u64,
}

/// Packets lost at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Place.
    pub place: &'static LossPlace,
    /// Packets.
    pub packets: u64,
    /// Counters and reasons that moved.
    pub by: Vec<(String, u64)>,
    /// Interface that lost them, or the one that received most packets. Empty: none did.
    pub interface: String,
}

/// Number of packets that may be on their way between two counters.
const ON_THE_WAY: u64 = 10;
/// Layers whose drops come between the counters of [`IP_WITHOUT_END`].
const WITHIN_IP: [Layer; 2] = [Layer::Ip, Layer::Firewall];

impl LossCounters {
    /// Returns the growth since `before`, which has each counter that both have.
    pub fn since(&self, before: &Self) -> Self {
        let mut counters = grown(&self.counters, &before.counters);
        // If a CPU came or went, so did its counters.
        if self.softnet.len() != before.softnet.len() {
            counters.retain(|name, _| name != SOFTNET_DROPPED && name != SOFTNET_SQUEEZED);
        }
        Self {
            counters,
            interfaces: grown(&self.interfaces, &before.interfaces),
            reasons: grown(&self.reasons, &before.reasons),
            links: grown(&self.links, &before.links),
            received: grown(&self.received, &before.received),
            softnet: Vec::new(),
            at_ns: self.at_ns.saturating_sub(before.at_ns),
            took_ns: self.took_ns + before.took_ns,
        }
    }

    /// Adds later growth.
    pub fn add(&mut self, later: &Self) {
        for (sums, counts) in [
            (&mut self.counters, &later.counters),
            (&mut self.interfaces, &later.interfaces),
            (&mut self.reasons, &later.reasons),
            (&mut self.links, &later.links),
            (&mut self.received, &later.received),
        ] {
            for (name, count) in counts {
                *sums.entry(name.clone()).or_default() += count;
            }
        }
        self.at_ns += later.at_ns;
        self.took_ns += later.took_ns;
    }

    /// Returns how many of so many packets may have moved while counters were read, one after the other. `self` is
    /// growth.
    fn moved_meanwhile(&self, packets: u64) -> u64 {
        if self.at_ns == 0 {
            return packets / 100;
        }
        let moved = u128::from(packets) * u128::from(self.took_ns) / u128::from(self.at_ns);
        u64::try_from(moved).unwrap_or(packets)
    }

    /// Returns the places that lost packets, in the order of the way in. `self` is growth.
    pub fn losses(&self) -> Vec<Loss> {
        let mut named: Vec<Loss> = PLACES.iter().filter_map(|place| self.loss(place)).collect();
        let unsure = self.take_unsure(&mut named);
        let more: u64 = named
            .iter()
            .filter(|loss| is_more(loss))
            .map(|loss| loss.packets)
            .sum();
        let unnamed = self.loss(&IP_WITHOUT_END).map(|loss| Loss {
            packets: loss.packets.saturating_sub(more),
            by: iter::once(("IpInReceives - IpInDelivers".to_owned(), loss.packets))
                .chain(unsure)
                .collect(),
            ..loss
        });
        let unnamed = unnamed.filter(|loss| loss.packets > ON_THE_WAY);
        named.into_iter().chain(unnamed).collect()
    }

    /// Leaves those losses of the whole machine in `named` that explain what came to IP here and has no end. Returns
    /// the counters and reasons of the others: another network namespace may have moved them, and a firewall here have
    /// none.
    fn take_unsure(&self, named: &mut Vec<Loss>) -> Vec<(String, u64)> {
        let is_of_machine = |loss: &Loss| loss.place.is_of_machine;
        // A firewall's next step is the same as that of [`IP_WITHOUT_END`].
        if !named
            .iter()
            .any(|loss| is_of_machine(loss) && loss.place.layer == Layer::Ip)
        {
            return Vec::new();
        }
        let whole = self.loss(&IP_WITHOUT_END).map_or(0, |loss| loss.packets);
        let sure = named
            .iter()
            .filter(|loss| is_more(loss) && !is_of_machine(loss));
        let rest = whole.saturating_sub(sure.map(|loss| loss.packets).sum());
        let explains = |packets: u64| packets.abs_diff(rest) <= ON_THE_WAY + rest / 100;
        let of_machine = named.iter().filter(|loss| is_of_machine(loss));
        let everywhere = of_machine.filter_map(|loss| self.everywhere(loss.place));
        let everywhere: Vec<Loss> = everywhere.collect();
        let all: u64 = everywhere.iter().map(|loss| loss.packets).sum();
        if rest <= ON_THE_WAY || explains(all) {
            return Vec::new();
        }
        let only = everywhere.iter().find(|loss| explains(loss.packets));
        let only = only.map(|loss| loss.place);
        named.retain(|loss| !is_of_machine(loss) || only == Some(loss.place));
        let unsure = everywhere.into_iter().flat_map(|loss| loss.by);
        unsure
            .map(|(name, count)| (format!("{name} of the whole machine"), count))
            .collect()
    }

    /// Returns the datagrams that sockets dropped, for whatever reason, by counter.
    pub fn of_sockets(&self) -> Vec<(String, u64)> {
        let names = ["UdpInErrors", "UdpMemErrors"].into_iter();
        names.flat_map(|name| self.named(name)).collect()
    }

    /// Returns how many packets came to interfaces of this network namespace and to no protocol, at most: fragments,
    /// forwarded packets and those that the kernel has joined to one are among them. Of few, nothing can be said: that
    /// is 0. `None`: no interface can be read.
    fn not_delivered(&self) -> Option<u64> {
        let count = |name: &str| self.named(name).iter().map(|(_, count)| count).sum::<u64>();
        let came: u64 = self.received.values().sum::<u64>() + count("IpReasmOKs");
        let gone = count("IpInDelivers") + count("IpReasmReqds");
        let is_reassembly = |name: &String| name.starts_with("IpReasm");
        let is_between = |place: &&'static LossPlace| {
            let is_ip =
                WITHIN_IP.contains(&place.layer) && !place.counters.iter().any(is_reassembly);
            !place.is_of_machine && (is_ip || place.counters == ["* ingress_drops"])
        };
        // Where these ended is known.
        let own = PLACES.iter().filter(is_between);
        let own = own.filter_map(|place| self.everywhere(place));
        let own: u64 = own.map(|loss| loss.packets).sum();
        let most = came.saturating_sub(gone + own);
        let is_much = most > ON_THE_WAY + own / 100;
        (!self.received.is_empty()).then_some(if is_much { most } else { 0 })
    }

    /// Returns the packets lost at a place, at most. `None`: none, or they cannot be seen.
    pub fn loss(&self, place: &'static LossPlace) -> Option<Loss> {
        let mut loss = self.everywhere(place)?;
        let most = self.not_delivered().filter(|_| place.is_of_machine);
        if let Some(most) = most.filter(|most| loss.packets > most + ON_THE_WAY) {
            loss.packets = most;
        }
        (loss.packets > 0).then_some(loss)
    }

    /// Returns the packets lost at a place in all network namespaces that its counters are of.
    fn everywhere(&self, place: &'static LossPlace) -> Option<Loss> {
        let all = |names: &[String]| -> Vec<(String, u64)> {
            names.iter().flat_map(|name| self.named(name)).collect()
        };
        let some = |counts: Vec<(String, u64)>| -> Vec<(String, u64)> {
            counts.into_iter().filter(|(_, count)| *count > 0).collect()
        };
        let sum = |counts: &[(String, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
        let counted = all(&place.counters);
        let by_counter = !counted.is_empty();
        let (counted, reasons) = (some(counted), some(all(&place.reasons)));
        let more = if by_counter {
            sum(&counted)
        } else {
            sum(&reasons)
        };
        let others = sum(&all(&place.less));
        let packets = more.saturating_sub(others);
        if packets <= self.moved_meanwhile(others) || sum(&all(&place.unless)) > 0 {
            return None;
        }
        let mut others = PLACES.iter().filter(|it| place.unless.contains(&it.what));
        if others.any(|other| self.everywhere(other).is_some()) {
            return None;
        }
        let interface = counted
            .iter()
            .find_map(|(name, _)| self.interfaces.get(name).and(name.split_once(' ')));
        let interface = match interface {
            Some((interface, _)) => interface.to_owned(),
            None => self.busiest_interface(),
        };
        Some(Loss {
            place,
            packets,
            by: counted.into_iter().chain(reasons).collect(),
            interface,
        })
    }

    /// Returns the places that cannot be looked at here: neither their counters nor the kernel's reasons are readable.
    pub fn unseen(&self) -> impl Iterator<Item = &'static LossPlace> {
        let is_seen = |place: &&'static LossPlace| {
            // A driver without counters of its own leaves all to the kernel's. Mostly, no such program is loaded.
            if place.counters == ["* driver"] || place.counters == ["* xdp_generic"] {
                return !self.interfaces.is_empty();
            }
            let mut names = place.counters.iter().chain(&place.reasons);
            names.any(|name| !self.named(name).is_empty())
        };
        PLACES.iter().filter(move |place| !is_seen(place))
    }

    /// Returns the counters or reasons that a name of the table stands for.
    fn named(&self, name: &str) -> Vec<(String, u64)> {
        let Some(pattern) = name.strip_prefix("* ") else {
            let of_both = both(name).filter_map(|it| self.counters.get_key_value(&it));
            let all = of_both.chain(self.reasons.get_key_value(name));
            return all.map(|(name, count)| (name.clone(), *count)).collect();
        };
        let is_it = |counter: &str| match pattern {
            "driver" => way(None, counter) == Some(Way::In) && !counter.ends_with("_xdp_drops"),
            pattern => is_named(counter, pattern),
        };
        let of_all = self.interfaces.iter();
        let of_it =
            of_all.filter(|(name, _)| name.split_once(' ').is_some_and(|(_, it)| is_it(it)));
        of_it.map(|(name, count)| (name.clone(), *count)).collect()
    }

    /// Returns an interface's own counters of lost packets that are not 0, by name: the kernel's and the driver's. Of
    /// Wi-Fi also retries, which are no losses.
    pub fn lost_at(&self, interface: &str) -> BTreeMap<String, u64> {
        let counters = self.interfaces.iter().filter(|(_, count)| **count > 0);
        let own = counters.filter_map(|(name, count)| match name.split_once(' ')? {
            (at, counter) if at == interface => Some((counter.to_owned(), *count)),
            _ => None,
        });
        own.filter(|(counter, _)| is_loss(counter)).collect()
    }

    /// Returns the interface that received most packets, without loopback if there is another one.
    pub fn busiest_interface(&self) -> String {
        let most = self
            .received
            .iter()
            .max_by_key(|(name, packets)| (**packets > 0 && *name != "lo", **packets));
        most.map_or_else(String::new, |(name, _)| name.clone())
    }
}

/// Returns whether [`IP_WITHOUT_END`] contains a loss: not if the table subtracts it there.
fn is_more(loss: &Loss) -> bool {
    let mut counters = loss.place.counters.iter();
    let is_less = counters.any(|name| IP_WITHOUT_END.less.contains(name));
    WITHIN_IP.contains(&loss.place.layer) && !is_less
}

fn grown(now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let both = now
        .iter()
        .filter_map(|(name, now)| Some((name, *now, *before.get(name)?)));
    both.map(|(name, now, before)| (name.clone(), moved(before, now)))
        .collect()
}

/// Returns the difference of a counter of 32 or 64 bits. The counter may have restarted: an interface or a qdisc was
/// made again, or a driver was loaded again.
fn moved(before: u64, now: u64) -> u64 {
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

/// Packets that found the backlog of a CPU full, and times that a softirq ended with packets left, of all CPUs.
pub(super) const SOFTNET_DROPPED: &str = "softnet dropped";
pub(super) const SOFTNET_SQUEEZED: &str = "softnet squeezed";
/// Exists if connections are followed.
const CONNTRACK: &str = "/proc/sys/net/netfilter/nf_conntrack_max";

/// Reader of all counters.
#[derive(Debug)]
pub struct LossReader {
    /// Directory of `/proc` that shows the network namespace.
    process: String,
    interfaces: Vec<(String, InterfaceReader)>,
    /// `None`: it is not asked for, or netlink is forbidden.
    links: Option<LinkWatch>,
    /// The kernel's drop reasons, or why they cannot be counted.
    reasons: Result<DropReasons, String>,
}

impl LossReader {
    /// Opens a reader of the network namespace that a directory of `/proc` shows, such as `42`. `thread-self` is that
    /// of this thread, which is the only one whose interfaces are read.
    pub fn open(process: &str) -> Self {
        let is_own = process == "thread-self";
        let names = if_nameindex().ok().filter(|_| is_own);
        let names = names.iter().flat_map(|all| all.iter());
        let names = names.map(|it| it.name().to_string_lossy().into_owned());
        let open = |name: String| Some((name.clone(), InterfaceReader::open_alone(&name).ok()?));
        Self {
            process: process.to_owned(),
            interfaces: names.filter_map(open).collect(),
            links: is_own.then(|| LinkWatch::start().ok()).flatten(),
            reasons: DropReasons::open(),
        }
    }

    /// Opens a reader of this thread's network namespace, without interfaces and drop reasons.
    pub fn without_reasons() -> Self {
        Self {
            process: "thread-self".to_owned(),
            interfaces: Vec::new(),
            links: None,
            reasons: Err("not asked for".to_owned()),
        }
    }

    /// Opens a reader of this thread's network namespace and of one of its interfaces with those below it, without drop
    /// reasons.
    ///
    /// # Errors
    /// Fails if there is no interface of this name, or if netlink is forbidden.
    pub fn of_interface(interface: &str) -> io::Result<Self> {
        Ok(Self {
            interfaces: vec![(interface.to_owned(), InterfaceReader::open(interface)?)],
            ..Self::without_reasons()
        })
    }

    /// Returns why the kernel's drop reasons cannot be counted. `None`: they are.
    pub fn no_reasons(&self) -> Option<&str> {
        self.reasons.as_ref().err().map(String::as_str)
    }

    /// Reads all counters.
    pub fn read(&mut self) -> LossCounters {
        let start_ns = clock::monotonic_ns();
        // From the end of a datagram's way to its beginning, so that none that moves meanwhile is missed between two.
        let mut counters = Protocols::of_process(&self.process).0;
        for file in ["nf_conntrack", "rt_cache"] {
            let path = format!("/proc/{}/net/stat/{file}", self.process);
            let text = fs::read_to_string(path);
            counters.extend(of_cpus(file, &text.unwrap_or_default()));
        }
        let text = fs::read_to_string(format!("/proc/{}/net/xfrm_stat", self.process));
        let text = text.unwrap_or_default();
        counters.extend(counters_by_line(&text).map(|(name, count)| (name.to_owned(), count)));
        // Without connections that are followed, none is refused.
        if self.process == "thread-self" && !Path::new(CONNTRACK).exists() {
            counters.insert("nf_conntrack drop".to_owned(), 0);
        }
        let softnet = read_softnet();
        if !softnet.is_empty() {
            // Modulo 2^32, like the counters.
            let sum = |counter: fn(&Softnet) -> u32| {
                let sum = softnet.iter().map(counter).fold(0, u32::wrapping_add);
                u64::from(sum)
            };
            counters.insert(SOFTNET_DROPPED.to_owned(), sum(|cpu| cpu.dropped));
            counters.insert(SOFTNET_SQUEEZED.to_owned(), sum(|cpu| cpu.squeezed));
        }
        let (mut interfaces, mut received) = (BTreeMap::new(), BTreeMap::new());
        let mut links = BTreeMap::new();
        for (name, reader) in &mut self.interfaces {
            for (counter, count) in reader.read().unwrap_or_default() {
                match &*counter {
                    "rx_packets" => received.insert(name.clone(), count),
                    "carrier_changes" => links.insert(format!("{name} {counter}"), count),
                    _ => interfaces.insert(format!("{name} {counter}"), count),
                };
            }
        }
        let set_downs = self.links.iter_mut().flat_map(LinkWatch::set_downs);
        links.extend(set_downs.map(|(name, times)| (format!("{name} set_down"), *times)));
        let reasons = self.reasons.as_ref().ok().and_then(|it| it.read().ok());
        LossCounters {
            counters,
            interfaces,
            links,
            reasons: reasons.into_iter().flatten().collect(),
            received,
            softnet,
            at_ns: start_ns,
            took_ns: clock::monotonic_ns().saturating_sub(start_ns),
        }
    }
}

/// Parses a file of `/proc/net/stat`: names, then a line of hexadecimal numbers for each CPU. Returns their sums.
fn of_cpus(file: &str, text: &str) -> BTreeMap<String, u64> {
    let mut lines = text.lines();
    let names = lines.next().unwrap_or_default().split_whitespace();
    let mut sums: Vec<(String, u64)> = names.map(|name| (format!("{file} {name}"), 0)).collect();
    for line in lines {
        for ((_, sum), number) in sums.iter_mut().zip(line.split_whitespace()) {
            *sum += u64::from_str_radix(number, 16).unwrap_or(0);
        }
    }
    sums.into_iter().collect()
}

#[cfg(test)]
mod tests;
