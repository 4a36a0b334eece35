//! How an interface and its driver are set: rings, coalescing, energy, flow control, link modes.

use serde::{Deserialize, Serialize};

use super::ethtool::{Ethtool, Query, name};

/// Descriptors for packets (`ethtool -g`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rings {
    /// For packets received.
    pub rx: u32,
    /// For packets to be sent.
    pub tx: u32,
    /// The most that `rx` can be.
    pub rx_max: u32,
    /// The most that `tx` can be.
    pub tx_max: u32,
}

/// How long interrupts are held back (`ethtool -c`). 0: not at all, or not by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coalescing {
    /// Microseconds from a packet that was received to its interrupt, at most.
    pub rx_usecs: u32,
    /// Packets received until an interrupt, at most.
    pub rx_frames: u32,
    /// Microseconds from a packet that was sent to its interrupt, at most.
    pub tx_usecs: u32,
    /// Packets sent until an interrupt, at most.
    pub tx_frames: u32,
    /// Whether the driver chooses `rx_usecs` by the traffic.
    pub adapts_rx: bool,
}

/// Energy-efficient Ethernet (IEEE 802.3az): the link sleeps between packets (`ethtool --show-eee`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Eee {
    /// Whether it was negotiated with the link's partner.
    pub is_active: bool,
    /// Whether this side wants it.
    pub is_enabled: bool,
    /// Whether this side's transmitter sleeps.
    pub sleeps: bool,
    /// Microseconds of silence before it does.
    pub sleeps_after_us: u32,
}

/// Flow control by pause frames (`ethtool -a`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Whether it is negotiated; else it is as set.
    pub is_negotiated: bool,
    /// Whether this side heeds pause frames, or wants to.
    pub rx: bool,
    /// Whether this side sends pause frames, or wants to.
    pub tx: bool,
}

/// What a link could be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkModes {
    /// Whether this side supports 1000 Mb/s or more.
    pub supports_gigabit: bool,
    /// Whether this side advertises 1000 Mb/s or more.
    pub advertises_gigabit: bool,
    /// Whether the partner does. `None`: it, or the driver, does not say what it can.
    pub partner_gigabit: Option<bool>,
    /// Whether the partner can do flow control. `None`: as above.
    pub partner_pause: Option<bool>,
}

impl Eee {
    /// Reads `struct ethtool_eee` (linux/ethtool.h). `None`: no mode is supported, so the driver knows nothing of it,
    /// and `ethtool --show-eee` says "not supported"; that it is inactive is not known then (raspberrypi/linux #6065).
    fn answered(answer: &[u32]) -> Option<Self> {
        let [
            _,
            supported,
            _,
            _,
            active,
            enabled,
            sleeps,
            sleeps_after_us,
            ..,
        ] = *answer
        else {
            return None;
        };
        (supported != 0 || active != 0).then_some(Self {
            is_active: active != 0,
            is_enabled: enabled != 0,
            sleeps: sleeps != 0,
            sleeps_after_us,
        })
    }
}

impl Ethtool {
    /// The driver's name.
    pub fn driver(&self) -> Option<String> {
        const NAME_WORDS: usize = 8;
        let answer = self.ask(Query::Driver).ok()?;
        Some(name(&answer[1..=NAME_WORDS])).filter(|name| !name.is_empty())
    }

    /// Its rings. `None`: the driver does not say.
    pub fn rings(&self) -> Option<Rings> {
        // Maxima: rx, mini, jumbo, tx; then what is set, in the same order.
        let [_, rx_max, _, _, tx_max, rx, _, _, tx, ..] = self.ask(Query::Rings).ok()?;
        Some(Rings {
            rx,
            tx,
            rx_max,
            tx_max,
        })
    }

    /// Its coalescing. `None`: the driver does not say.
    pub fn coalescing(&self) -> Option<Coalescing> {
        const ADAPTS_RX: usize = 10;
        let answer = self.ask(Query::Coalescing).ok()?;
        // Each of rx and tx: time, packets, and both while an interrupt is served.
        let [_, rx_usecs, rx_frames, _, _, tx_usecs, tx_frames, ..] = answer;
        Some(Coalescing {
            rx_usecs,
            rx_frames,
            tx_usecs,
            tx_frames,
            adapts_rx: answer[ADAPTS_RX] != 0,
        })
    }

    /// Energy-efficient Ethernet. `None`: the driver does not say, or cannot.
    pub fn eee(&self) -> Option<Eee> {
        Eee::answered(&self.ask(Query::Eee).ok()?)
    }

    /// Flow control. `None`: the driver does not say, or cannot.
    pub fn pause(&self) -> Option<Pause> {
        let [_, negotiated, rx, tx, ..] = self.ask(Query::Pause).ok()?;
        Some(Pause {
            is_negotiated: negotiated != 0,
            rx: rx != 0,
            tx: tx != 0,
        })
    }

    /// What the link could be. `None`: the driver does not say.
    pub fn modes(&self) -> Option<LinkModes> {
        let [supported, advertised, partner] = self.link_modes().ok()?;
        // Some mode of the supported ones is there on every link that has modes at all.
        let has_any = |modes: &[u32]| modes.iter().any(|bits| *bits != 0);
        let says = has_any(&partner);
        has_any(&supported).then(|| LinkModes {
            supports_gigabit: has_gigabit(&supported),
            advertises_gigabit: has_gigabit(&advertised),
            partner_gigabit: says.then(|| has_gigabit(&partner)),
            partner_pause: says.then(|| has(&partner, PAUSE) || has(&partner, ASYMMETRIC_PAUSE)),
        })
    }
}

/// Bits of `enum ethtool_link_mode_bit_indices` (linux/ethtool.h).
const PAUSE: usize = 13;
const ASYMMETRIC_PAUSE: usize = 14;
/// Of 1000 Mb/s and more, up to 10 Gb/s on copper: 1000baseT/Half and /Full, 10000baseT, 2500baseX, 1000baseKX,
/// 1000baseX, 2500baseT, 5000baseT.
const GIGABIT: [usize; 8] = [4, 5, 12, 15, 17, 41, 47, 48];

fn has(modes: &[u32], bit: usize) -> bool {
    modes
        .get(bit / 32)
        .is_some_and(|bits| bits >> (bit % 32) & 1 == 1)
}

fn has_gigabit(modes: &[u32]) -> bool {
    GIGABIT.into_iter().any(|bit| has(modes, bit))
}

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
