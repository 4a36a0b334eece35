//! Settings of an interface and its driver: rings, coalescing, energy, flow control; speed and modes of its link
//! (`struct ethtool_link_settings`, linux/ethtool.h).

use std::io;

use serde::{Deserialize, Serialize};

use super::ethtool::{Ethtool, Query, name};

/// Descriptors for packets (`ethtool -g`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rings {
    /// Descriptors for packets received.
    pub rx: u32,
    /// Descriptors for packets to be sent.
    pub tx: u32,
    /// Largest possible `rx`.
    pub rx_max: u32,
    /// Largest possible `tx`.
    pub tx_max: u32,
}

/// Interrupt coalescing (`ethtool -c`). 0: interrupts are not held back, or not by this limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coalescing {
    /// Longest time from a received packet to its interrupt, in microseconds.
    pub rx_usecs: u32,
    /// Most packets received before an interrupt.
    pub rx_frames: u32,
    /// Longest time from a sent packet to its interrupt, in microseconds.
    pub tx_usecs: u32,
    /// Most packets sent before an interrupt.
    pub tx_frames: u32,
    /// True if the driver adapts `rx_usecs` to the traffic.
    pub adapts_rx: bool,
}

/// Energy-efficient Ethernet (IEEE 802.3az): the link sleeps between packets (`ethtool --show-eee`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Eee {
    /// True if it was negotiated with the link's partner.
    pub is_active: bool,
    /// True if this side wants it.
    pub is_enabled: bool,
    /// True if this side's transmitter sleeps.
    pub sleeps: bool,
    /// Silence before the transmitter sleeps, in microseconds.
    pub sleeps_after_us: u32,
}

/// Flow control by pause frames (`ethtool -a`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// True if flow control is negotiated. Otherwise it is as set.
    pub is_negotiated: bool,
    /// True if this side heeds pause frames, or wants to.
    pub rx: bool,
    /// True if this side sends pause frames, or wants to.
    pub tx: bool,
}

/// Capabilities of both ends of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkModes {
    /// True if this side supports 1000 Mb/s or more.
    pub supports_gigabit: bool,
    /// True if this side advertises 1000 Mb/s or more.
    pub advertises_gigabit: bool,
    /// True if the partner advertises 1000 Mb/s or more. `None`: the partner advertises nothing, or the driver does not
    /// tell.
    pub partner_gigabit: Option<bool>,
    /// True if the partner advertises flow control. `None`: the partner advertises nothing, or the driver does not
    /// tell.
    pub partner_pause: Option<bool>,
}

impl Eee {
    /// Parses `struct ethtool_eee` (linux/ethtool.h). `None`: no mode is supported. The driver then knows nothing about
    /// it, and `ethtool --show-eee` prints "not supported". It may be active all the same (raspberrypi/linux #6065).
    fn answered(answer: &[u32; 8]) -> Option<Self> {
        let [_, supported, _, _, active, enabled, sleeps, sleeps_after_us] = *answer;
        (supported != 0 || active != 0).then_some(Self {
            is_active: active != 0,
            is_enabled: enabled != 0,
            sleeps: sleeps != 0,
            sleeps_after_us,
        })
    }
}

impl Ethtool {
    /// Reads the name of the driver.
    pub fn driver(&self) -> Option<String> {
        const NAME_WORDS: usize = 8;
        let answer = self.ask(Query::Driver).ok()?;
        Some(name(&answer[1..=NAME_WORDS])).filter(|name| !name.is_empty())
    }

    /// Reads the ring sizes. `None`: the driver does not tell.
    pub fn rings(&self) -> Option<Rings> {
        // Maxima of rx, mini, jumbo and tx; then the values set, in the same order.
        let [_, rx_max, _, _, tx_max, rx, _, _, tx, ..] = self.ask(Query::Rings).ok()?;
        Some(Rings {
            rx,
            tx,
            rx_max,
            tx_max,
        })
    }

    /// Reads the interrupt coalescing. `None`: the driver does not tell.
    pub fn coalescing(&self) -> Option<Coalescing> {
        const ADAPTS_RX: usize = 10;
        let answer = self.ask(Query::Coalescing).ok()?;
        // For rx and for tx: time, packets, and both while an interrupt is served.
        let [_, rx_usecs, rx_frames, _, _, tx_usecs, tx_frames, ..] = answer;
        Some(Coalescing {
            rx_usecs,
            rx_frames,
            tx_usecs,
            tx_frames,
            adapts_rx: answer[ADAPTS_RX] != 0,
        })
    }

    /// Reads the state of Energy-efficient Ethernet. `None`: the driver does not tell, or cannot do it.
    pub fn eee(&self) -> Option<Eee> {
        Eee::answered(self.ask(Query::Eee).ok()?.first_chunk()?)
    }

    /// Reads the state of flow control. `None`: the driver does not tell, or cannot do it.
    pub fn pause(&self) -> Option<Pause> {
        let [_, negotiated, rx, tx, ..] = self.ask(Query::Pause).ok()?;
        Some(Pause {
            is_negotiated: negotiated != 0,
            rx: rx != 0,
            tx: tx != 0,
        })
    }

    /// Reads the capabilities of both ends of the link. `None`: the driver does not tell.
    pub fn modes(&self) -> Option<LinkModes> {
        let link = self.link_settings().ok()?;
        let [supported, advertised, partner] = link.modes();
        // Each link with modes at all supports at least one.
        let has_any = |modes: &[u32]| modes.iter().any(|bits| *bits != 0);
        let says = has_any(partner);
        has_any(supported).then(|| LinkModes {
            supports_gigabit: has_gigabit(supported),
            advertises_gigabit: has_gigabit(advertised),
            partner_gigabit: says.then(|| has_gigabit(partner)),
            partner_pause: says.then(|| has(partner, PAUSE) || has(partner, ASYMMETRIC_PAUSE)),
        })
    }
}

/// Bits of `enum ethtool_link_mode_bit_indices` (linux/ethtool.h).
const PAUSE: usize = 13;
const ASYMMETRIC_PAUSE: usize = 14;

fn has(modes: &[u32], bit: usize) -> bool {
    modes
        .get(bit / 32)
        .is_some_and(|bits| bits >> (bit % 32) & 1 == 1)
}

fn has_gigabit(modes: &[u32]) -> bool {
    fastest(modes) >= Some(1000)
}

/// Returns the highest speed of some modes in Mb/s. `None`: there is none.
fn fastest(modes: &[u32]) -> Option<u32> {
    let mut speeds = MODES_BY_SPEED.iter().rev();
    let fastest = speeds.find(|(_, bits)| bits.iter().any(|bit| has(modes, *bit)));
    fastest.map(|(speed, _)| *speed)
}

const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;

/// Size of the structure before its three masks.
const LINK_WORDS: usize = 12;
/// Index of the number with the speed in Mb/s.
const SPEED_WORD: usize = 1;
/// Index of the number whose first byte in memory is the duplex mode.
const DUPLEX_WORD: usize = 2;
/// Index of the number whose last byte in memory is the size of a mask, in numbers of 32 bits.
const SIZE_WORD: usize = 3;

/// Settings of a link.
pub(super) struct LinkSettings {
    answer: Vec<u32>,
    size: usize,
}

impl LinkSettings {
    /// Returns the speed in Mb/s. `None`: there is no link.
    pub(super) fn speed_mbps(&self) -> Option<u32> {
        // SPEED_UNKNOWN is -1.
        Some(self.answer[SPEED_WORD]).filter(|&speed| speed > 0 && speed < u32::MAX)
    }

    /// Returns the duplex mode, `full` or `half`. `None`: it is unknown.
    fn duplex(&self) -> Option<&'static str> {
        let [duplex, ..] = self.answer[DUPLEX_WORD].to_ne_bytes();
        ["half", "full"].get(usize::from(duplex)).copied()
    }

    /// Returns the modes that the interface supports, those that it advertises, and those that the partner advertises,
    /// as bits of `enum ethtool_link_mode_bit_indices`, 32 per number.
    pub(super) fn modes(&self) -> [&[u32]; 3] {
        [0, 1, 2].map(|index| &self.answer[LINK_WORDS + index * self.size..][..self.size])
    }
}

impl Ethtool {
    /// Reads speed in Mb/s and duplex mode. `None`: there is no link, or the driver does not tell.
    pub fn speed(&self) -> (Option<u32>, Option<String>) {
        let link = self.link_settings().ok();
        let duplex = link.as_ref().and_then(LinkSettings::duplex);
        let speed = link.as_ref().and_then(LinkSettings::speed_mbps);
        (speed, duplex.map(str::to_owned))
    }

    /// Reads the settings of the link.
    ///
    /// # Errors
    /// Fails if the driver does not tell, or before Linux 4.6.
    pub(super) fn link_settings(&self) -> io::Result<LinkSettings> {
        let ask = |size: u8| {
            let size = u32::from_ne_bytes([0, 0, 0, size]);
            let answer = self.call(&[ETHTOOL_GLINKSETTINGS, 0, 0, size], 0)?;
            let [.., size] = answer[SIZE_WORD].to_ne_bytes();
            Ok::<_, io::Error>((i8::from_ne_bytes([size]), answer))
        };
        // If the requested size is wrong, the kernel responds with the negated right one.
        let (wanted, _) = ask(0)?;
        let (size, answer) = ask(wanted.unsigned_abs())?;
        let size = usize::try_from(size).map_err(io::Error::other)?;
        Ok(LinkSettings { answer, size })
    }
}

/// Speeds in Mb/s, each with its modes: bits of `enum ethtool_link_mode_bit_indices` (linux/ethtool.h), up to 10 Gb/s.
const MODES_BY_SPEED: [(u32, &[usize]); 6] = [
    (10, &[0, 1]),
    (100, &[2, 3, 67]),
    (1000, &[4, 5, 17, 41, 68]),
    (2500, &[15, 47]),
    (5000, &[48]),
    (10_000, &[12, 18, 19]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_bits_of_numbers_of_32_bits() {
        // 10baseT/Half and /Full, 100baseT/Half and /Full, autonegotiation.
        assert!(!has_gigabit(&[0x4f, 0]));
        assert!(has_gigabit(&[0x2f, 0]));
        assert!(has_gigabit(&[0, 1 << (47 - 32)]));
        assert!(has(&[1 << PAUSE], PAUSE) && !has(&[], PAUSE));
    }

    #[test]
    fn eee_of_a_driver_that_supports_none_is_unknown() {
        const GIGABIT_FULL: u32 = 1 << 5;
        let active = |answer: [u32; 8]| Eee::answered(&answer).map(|eee| eee.is_active);
        assert_eq!(active([0x44, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(active([0x44, 0, 0, 0, 0, 1, 1, 34]), None);
        assert_eq!(active([0x44, GIGABIT_FULL, 0, 0, 0, 0, 0, 0]), Some(false));
        assert_eq!(
            active([0x44, GIGABIT_FULL, GIGABIT_FULL, GIGABIT_FULL, 1, 1, 1, 34]),
            Some(true)
        );
        assert_eq!(active([0x44, 0, 0, 0, 1, 1, 1, 34]), Some(true));
    }

    #[test]
    fn loopback_has_features_and_no_rings() {
        let loopback = Ethtool::open("lo").expect("a socket");
        let Ok(features) = loopback.features() else {
            eprintln!("SKIPPED: this kernel does not answer ethtool, as emulators do not");
            return;
        };
        assert!(
            features.contains(&("loopback".to_owned(), true)),
            "{features:?}"
        );
        assert_eq!(loopback.rings(), None);
        assert_eq!(loopback.eee(), None);
        assert_eq!(loopback.modes(), None);
    }
}
