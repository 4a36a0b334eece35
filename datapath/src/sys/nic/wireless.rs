//! Wi-Fi, as the kernel describes it (nl80211, linux/nl80211.h).

use std::io;

use nix::sys::socket::SockProtocol;
use serde::{Deserialize, Serialize};

use super::link;
use crate::sys::netlink::{Netlink, Scope, attribute, attributes, read_u16, read_u32};

/// State of a Wi-Fi interface. A field is `None` if the driver does not tell, or without a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wireless {
    /// True if the radio sleeps while nothing is sent, until a beacon of the access point wakes it.
    pub power_save: Option<bool>,
    /// Frequency of the channel in MHz.
    pub frequency_mhz: Option<u32>,
    /// Signal of the access point, in dBm.
    pub signal_dbm: Option<i8>,
    /// Bit rate of the last frame sent, in kb/s.
    pub tx_kbps: Option<u32>,
    /// Bit rate of the last frame received, in kb/s.
    pub rx_kbps: Option<u32>,
    /// Frames sent to the access point.
    pub tx_packets: Option<u32>,
    /// Times that a frame was sent again, as nobody acknowledged it.
    pub tx_retries: Option<u32>,
    /// Frames given up after all retries.
    pub tx_failed: Option<u32>,
}

// Commands and attributes.
const GET_INTERFACE: u8 = 5;
const GET_STATION: u8 = 17;
const SET_POWER_SAVE: u8 = 61;
const GET_POWER_SAVE: u8 = 62;
const ATTR_IFINDEX: u16 = 3;
const ATTR_STA_INFO: u16 = 21;
const ATTR_WIPHY_FREQ: u16 = 38;
const ATTR_PS_STATE: u16 = 93;
// Within `ATTR_STA_INFO`.
const STA_SIGNAL: u16 = 7;
const STA_TX_BITRATE: u16 = 8;
const STA_TX_PACKETS: u16 = 10;
const STA_TX_RETRIES: u16 = 11;
const STA_TX_FAILED: u16 = 12;
const STA_SIGNAL_AVERAGE: u16 = 13;
const STA_RX_BITRATE: u16 = 14;
// Within a bit rate, in 100 kb/s.
const RATE_BITRATE: u16 = 1;
const RATE_BITRATE32: u16 = 5;
// The family of nl80211, which the controller of generic netlink names (linux/genetlink.h).
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// `struct genlmsghdr`.
const HEADER_BYTES: usize = 4;

/// Connection to the kernel's Wi-Fi, for one interface.
struct Nl80211 {
    netlink: Netlink,
    family: u16,
    index: u32,
}

impl Nl80211 {
    fn open(interface: &str) -> io::Result<Self> {
        let index = link::index(interface)?;
        let mut netlink = Netlink::open(SockProtocol::NetlinkGeneric)?;
        let mut family = None;
        let body = [
            &header(GET_FAMILY)[..],
            &attribute(FAMILY_NAME, b"nl80211\0"),
        ]
        .concat();
        netlink.ask(CONTROLLER, Scope::One, &body, |answer| {
            let mut parts = attributes(answer.get(HEADER_BYTES..).unwrap_or_default());
            let id = parts.find(|(kind, _)| *kind == FAMILY_ID);
            family = id.and_then(|(_, id)| read_u16(id, 0));
        })?;
        Ok(Self {
            netlink,
            family: family.ok_or(io::ErrorKind::Unsupported)?,
            index,
        })
    }

    /// Sends a command for the interface, with more attributes, and hands the attributes of each answer to `each`.
    fn ask(
        &mut self,
        command: u8,
        scope: Scope,
        more: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let index = attribute(ATTR_IFINDEX, &self.index.to_ne_bytes());
        let body = [&header(command)[..], &index, more].concat();
        self.netlink.ask(self.family, scope, &body, |answer| {
            each(answer.get(HEADER_BYTES..).unwrap_or_default());
        })
    }
}

fn header(command: u8) -> [u8; HEADER_BYTES] {
    [command, 0, 0, 0]
}

impl Wireless {
    /// Reads the state of an interface. `None`: it is not wireless, or the kernel does not tell.
    pub fn read(interface: &str) -> Option<Self> {
        let mut kernel = Nl80211::open(interface).ok()?;
        let mut state = Self::default();
        let of_interface = kernel.ask(GET_INTERFACE, Scope::One, &[], |answer| state.take(answer));
        of_interface.ok()?;
        // Drivers that lack one of these keep the others.
        let _ = kernel.ask(GET_POWER_SAVE, Scope::One, &[], |answer| state.take(answer));
        let _ = kernel.ask(GET_STATION, Scope::All, &[], |answer| state.take(answer));
        Some(state)
    }

    /// Returns the number of the channel: IEEE 802.11, annex E.
    pub fn channel(&self) -> Option<u32> {
        match self.frequency_mhz? {
            2484 => Some(14),
            mhz @ 2412..=2472 => Some((mhz - 2407) / 5),
            mhz @ 5000..=5925 => Some((mhz - 5000) / 5),
            mhz @ 5926..=7125 => Some((mhz - 5950) / 5),
            _ => None,
        }
    }

    /// Enters the attributes of an answer.
    fn take(&mut self, answer: &[u8]) {
        for (kind, value) in attributes(answer) {
            match kind {
                ATTR_WIPHY_FREQ => self.frequency_mhz = read_u32(value, 0),
                ATTR_PS_STATE => self.power_save = read_u32(value, 0).map(|state| state != 0),
                ATTR_STA_INFO => self.take_station(value),
                _ => {}
            }
        }
    }

    /// Enters what the kernel says of the access point.
    fn take_station(&mut self, station: &[u8]) {
        let signal = |value: &[u8]| value.first().map(|byte| i8::from_ne_bytes([*byte]));
        for (kind, value) in attributes(station) {
            match kind {
                // The average, where there is one, is in the second attribute.
                STA_SIGNAL => self.signal_dbm = self.signal_dbm.or(signal(value)),
                STA_SIGNAL_AVERAGE => self.signal_dbm = signal(value).or(self.signal_dbm),
                STA_TX_BITRATE => self.tx_kbps = bit_rate(value),
                STA_RX_BITRATE => self.rx_kbps = bit_rate(value),
                STA_TX_PACKETS => self.tx_packets = read_u32(value, 0),
                STA_TX_RETRIES => self.tx_retries = read_u32(value, 0),
                STA_TX_FAILED => self.tx_failed = read_u32(value, 0),
                _ => {}
            }
        }
    }
}

/// Returns a bit rate in kb/s. The attribute of 16 bits lacks the fastest.
fn bit_rate(rate: &[u8]) -> Option<u32> {
    let (mut of_16, mut of_32) = (None, None);
    for (kind, value) in attributes(rate) {
        match kind {
            RATE_BITRATE => of_16 = read_u16(value, 0).map(u32::from),
            RATE_BITRATE32 => of_32 = read_u32(value, 0),
            _ => {}
        }
    }
    of_32.or(of_16).map(|rate| rate.saturating_mul(100))
}

/// Reads whether an interface saves power: `on` or `off`.
///
/// # Errors
/// Returns the error of the kernel. `Unsupported`: the interface is not wireless.
pub(super) fn power_save(interface: &str) -> io::Result<bool> {
    let mut state = Wireless::default();
    let mut kernel = Nl80211::open(interface).map_err(not_wireless)?;
    let asked = kernel.ask(GET_POWER_SAVE, Scope::One, &[], |answer| state.take(answer));
    asked.map_err(not_wireless)?;
    state
        .power_save
        .ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Sets whether an interface saves power. Needs CAP_NET_ADMIN.
///
/// # Errors
/// Returns the error of the kernel.
pub(super) fn set_power_save(interface: &str, is_on: bool) -> io::Result<()> {
    let state = attribute(ATTR_PS_STATE, &u32::from(is_on).to_ne_bytes());
    Nl80211::open(interface)?.ask(SET_POWER_SAVE, Scope::Change, &state, |_| ())
}

/// Replaces the errors by which the kernel says that an interface is not wireless: no such family, no such device.
fn not_wireless(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => io::ErrorKind::Unsupported.into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests;
