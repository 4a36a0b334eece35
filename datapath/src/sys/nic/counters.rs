//! Counters of an interface and of those below it: the kernel's, the queueing disciplines', the driver's, the radio's.

use std::collections::BTreeMap;
use std::io;

use super::driver::{WIFI_TX_FAILED, Way, way};
use super::ethtool::Ethtool;
use super::link::{self, Link};
use super::qdisc::{self, Qdisc};
use super::wireless::Wireless;
use crate::sys::netlink::Netlink;

/// Times that a frame of Wi-Fi was sent again. It is no loss.
const WIFI_TX_RETRIES: &str = "wifi_tx_retries";

/// An interface, and the counters of its driver.
#[derive(Debug)]
struct Device {
    index: u32,
    driver: Ethtool,
    driver_name: String,
    /// True if the kernel adds its counters to those of the interface above.
    is_added: bool,
}

impl Device {
    fn open(interface: &str, is_added: bool) -> io::Result<Self> {
        let driver = Ethtool::open(interface)?;
        Ok(Self {
            index: link::index(interface)?,
            driver_name: driver.driver().unwrap_or_default(),
            driver,
            is_added,
        })
    }
}

/// Reader of the counters of an interface, in the network namespace that it was opened in.
#[derive(Debug)]
pub struct InterfaceReader {
    route: Netlink,
    own: Device,
    below: Vec<Device>,
    /// Name of the interface if it has a radio.
    radio: Option<String>,
}

impl InterfaceReader {
    /// Opens a reader of an interface and those below it: what a VLAN, a macvlan or a port of a switch is on top of,
    /// and the ports of a bridge or bond. They may lose what is sent and received by it, and what others send.
    ///
    /// # Errors
    /// Fails if there is no interface of this name, or if netlink is forbidden.
    pub fn open(interface: &str) -> io::Result<Self> {
        let mut reader = Self::open_alone(interface)?;
        let lower = link::all_below(reader.own.index, &link::links().unwrap_or_default());
        let open = |(link, is_added): (Link, bool)| Device::open(&link.name, is_added).ok();
        reader.below = lower.into_iter().filter_map(open).collect();
        Ok(reader)
    }

    /// Opens a reader of an interface alone.
    ///
    /// # Errors
    /// Fails if there is no interface of this name, or if netlink is forbidden.
    pub fn open_alone(interface: &str) -> io::Result<Self> {
        Ok(Self {
            own: Device::open(interface, false)?,
            below: Vec::new(),
            route: Netlink::route()?,
            radio: Wireless::read(interface).map(|_| interface.to_owned()),
        })
    }

    /// Reads the counters by name, since boot:
    ///
    /// - the kernel's, as in `/sys/class/net/*/statistics`, and `carrier_changes`
    /// - `xdp_generic`: packets received, if a program of generic XDP sees them all
    /// - `qdisc_drops` (`qdisc::out_drops`) and `ingress_drops` (`qdisc::filter_drops`)
    /// - those of the driver that are known to count lost packets ([`way`])
    /// - of Wi-Fi `wifi_tx_failed`: frames given up; and `wifi_tx_retries`, which are no losses
    ///
    /// Lost packets include those of the interfaces below.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub fn read(&mut self) -> io::Result<BTreeMap<String, u64>> {
        let own = self.link()?;
        let mut counters = BTreeMap::new();
        let mut add = |name: &str, count| *counters.entry(name.to_owned()).or_default() += count;
        for (name, count) in own.statistics {
            add(name, count);
            if name == "rx_packets" && own.has_generic_xdp {
                add("xdp_generic", count);
            }
        }
        if let Some(changes) = own.carrier_changes {
            add("carrier_changes", changes.into());
        }
        for lower in self.below.iter().filter(|lower| !lower.is_added) {
            // One that is gone loses nothing any more.
            let link = link::read(&mut self.route, lower.index).unwrap_or_default();
            let lost = link.statistics.into_iter();
            lost.filter(|(name, _)| link::is_loss(name))
                .for_each(|(name, count)| add(name, count));
        }
        let all = || [&self.own].into_iter().chain(&self.below);
        if let Ok(mut qdiscs) = qdisc::read(&mut self.route) {
            qdiscs.retain(|qdisc| all().any(|device| device.index == qdisc.interface));
            add("qdisc_drops", qdisc::out_drops(&qdiscs).into());
            add("ingress_drops", qdisc::filter_drops(&qdiscs).into());
        }
        for device in all() {
            for (name, count) in device.driver.statistics().unwrap_or_default() {
                if way(Some(&device.driver_name), &name).is_some() {
                    add(&name, count);
                }
            }
        }
        let radio = self.radio.as_deref().and_then(Wireless::read);
        let radio = radio.unwrap_or_default();
        for (name, frames) in [
            (WIFI_TX_FAILED, radio.tx_failed),
            (WIFI_TX_RETRIES, radio.tx_retries),
        ] {
            if let Some(frames) = frames {
                add(name, frames.into());
            }
        }
        Ok(counters)
    }

    /// Reads the description of the interface and the kernel's counters.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub fn link(&mut self) -> io::Result<Link> {
        link::read(&mut self.route, self.own.index)
    }

    /// Reads the queueing disciplines of the interface, parents before children. Empty if the kernel was built without
    /// them.
    ///
    /// # Errors
    /// Returns the error of netlink.
    pub fn qdiscs(&mut self) -> io::Result<Vec<Qdisc>> {
        let mut qdiscs = qdisc::read(&mut self.route)?;
        qdiscs.retain(|qdisc| qdisc.interface == self.own.index);
        Ok(qdiscs)
    }
}

/// Returns whether a counter of [`InterfaceReader::read`] is the interface's own of lost packets. Some contain others.
/// Retries of Wi-Fi are among them, as they are shown with these.
pub fn is_loss(counter: &str) -> bool {
    link::is_loss(counter) || way(None, counter).is_some() || counter == WIFI_TX_RETRIES
}

/// Returns whether a counter of [`InterfaceReader::read`] is of packets on their way in.
pub fn is_inward(counter: &str) -> bool {
    counter.starts_with("rx_") || counter == "ingress_drops" || way(None, counter) == Some(Way::In)
}
