//! Settings of an interface and its driver: rings, coalescing, energy, flow control; speed and modes of its link (`struct
//! ethtool_link_settings`, linux/ethtool.h).

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
const ETHTOOL_SLINKSETTINGS: u32 = 0x4d;

/// Size of the structure before its three masks.
const LINK_WORDS: usize = 12;
/// Index of the number with the speed in Mb/s.
const SPEED_WORD: usize = 1;
/// Index of the number whose first byte in memory is the duplex mode, and whose last byte says whether the link is
/// negotiated.
const NEGOTIATED_WORD: usize = 2;
/// Index of the number whose last byte in memory is the size of a mask, in numbers of 32 bits.
const SIZE_WORD: usize = 3;
/// Index of the number whose second and third bytes in memory are of 1000BASE-T alone, and have to be 0 in this request.
const MASTER_WORD: usize = 4;

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
        let [duplex, ..] = self.answer[NEGOTIATED_WORD].to_ne_bytes();
        ["half", "full"].get(usize::from(duplex)).copied()
    }

    /// Returns whether both ends negotiate the modes.
    pub(super) fn is_negotiated(&self) -> bool {
        let [.., negotiated] = self.answer[NEGOTIATED_WORD].to_ne_bytes();
        negotiated != 0
    }

    /// Returns the modes that the interface supports, those that it advertises, and those that the partner advertises, as
    /// bits of `enum ethtool_link_mode_bit_indices`, 32 per number.
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

    /// Has the interface advertise the modes of a text, and negotiate again.
    ///
    /// # Errors
    /// Returns the error of the driver, or an error if `value` names no modes.
    pub(super) fn advertise(&self, value: &str) -> io::Result<()> {
        let no_modes = || io::Error::other(format!("{value:?} names no modes of a link"));
        let modes = modes(value).ok_or_else(no_modes)?;
        let LinkSettings { mut answer, size } = self.link_settings()?;
        answer[0] = ETHTOOL_SLINKSETTINGS;
        let [first, _, _, last] = answer[MASTER_WORD].to_ne_bytes();
        answer[MASTER_WORD] = u32::from_ne_bytes([first, 0, 0, last]);
        let [before @ .., _] = answer[NEGOTIATED_WORD].to_ne_bytes();
        answer[NEGOTIATED_WORD] = u32::from_ne_bytes([before[0], before[1], before[2], 1]);
        let advertised = &mut answer[LINK_WORDS + size..][..size];
        for (index, word) in advertised.iter_mut().enumerate() {
            *word = modes.get(index).copied().unwrap_or(0);
        }
        self.call(&answer, 0).map(drop)
    }

    /// Returns the modes that the interface advertises, as text: `up to 2500 Mb/s (0x80000000002f)`.
    ///
    /// # Errors
    /// Fails if the driver does not tell its modes, or does not negotiate them.
    pub(super) fn advertised(&self) -> io::Result<String> {
        let link = self.link_settings()?;
        if !link.is_negotiated() {
            return Err(io::Error::other("the link is not negotiated"));
        }
        let [_, advertised, _] = link.modes();
        text(advertised).ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// Returns the modes that the interface advertises without those of the link's present speed and above, as text.
    /// `None`: there is no link, no lower speed, or the driver does not tell.
    pub fn slower(&self) -> Option<String> {
        let link = self.link_settings().ok()?;
        let [_, advertised, _] = link.modes();
        text(&below(advertised, link.speed_mbps()?))
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

/// Returns these modes without those of a speed and above. Autonegotiation and pause stay.
fn below(modes: &[u32], speed_mbps: u32) -> Vec<u32> {
    let mut modes = modes.to_vec();
    let faster = MODES_BY_SPEED.iter();
    let faster = faster.filter(|(speed, _)| *speed >= speed_mbps);
    for bit in faster.flat_map(|(_, bits)| *bits) {
        if let Some(word) = modes.get_mut(bit / 32) {
            *word &= !(1 << (bit % 32));
        }
    }
    modes
}

/// Returns modes as text. `None`: no speed is among them.
fn text(modes: &[u32]) -> Option<String> {
    let most = fastest(modes)?;
    let words = modes.iter().rev().skip_while(|word| **word == 0);
    let digits = words.fold(String::new(), |digits, word| format!("{digits}{word:08x}"));
    let digits = digits.trim_start_matches('0');
    Some(format!("up to {most} Mb/s (0x{digits})"))
}

/// Returns the modes of a text.
fn modes(text: &str) -> Option<Vec<u32>> {
    let (_, digits) = text.strip_suffix(')')?.split_once("(0x")?;
    let bytes = digits.as_bytes().rchunks(8);
    let word = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    bytes.map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::nic::Changeable;
    use crate::sys::nic::tests::in_namespace;

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

    #[test]
    fn a_slower_link_keeps_all_modes_but_the_fast_ones() {
        // All of 10, 100, 1000 and 2500baseT, autonegotiation, pause.
        let all = [0x206f, 1 << (47 - 32), 0];
        assert_eq!(
            text(&all).as_deref(),
            Some("up to 2500 Mb/s (0x80000000206f)")
        );
        assert_eq!(modes(&text(&all).expect("some")), Some(all[..2].to_vec()));
        let slower = below(&all, 2500);
        assert_eq!(text(&slower).as_deref(), Some("up to 1000 Mb/s (0x206f)"));
        assert_eq!(modes("up to 1000 Mb/s (0x206f)"), Some(vec![0x206f]));
        // The link runs at 1000 Mb/s with a partner that cannot do more.
        assert_eq!(
            text(&below(&all, 1000)).as_deref(),
            Some("up to 100 Mb/s (0x204f)")
        );
        assert_eq!(text(&below(&all, 10)), None);
    }

    #[test]
    fn a_text_without_modes_is_refused() {
        for wrong in ["", "up to 1000 Mb/s", "(0x", "(0x)x", "up to 5 Mb/s (0xzz)"] {
            assert_eq!(modes(wrong), None, "{wrong}");
        }
        let loopback = Ethtool::open("lo").expect("a socket");
        loopback.advertised().expect_err("it has no modes");
        assert_eq!(loopback.slower(), None);
    }

    #[test]
    fn a_slower_link_is_asked_for_and_put_back() {
        // A tap keeps what it is told of its link, as a driver does.
        in_namespace("ip tuntap add tap9 mode tap", || {
            let driver = Ethtool::open("tap9").expect("a socket");
            let fixed = Changeable::Speed.read(&driver);
            assert!(fixed.is_err(), "its link is not negotiated: {fixed:?}");
            let before = "up to 2500 Mb/s (0x80000000206f)";
            if let Err(error) = Changeable::Speed.write(&driver, before) {
                eprintln!("SKIPPED: this kernel's tap cannot be told its link: {error}");
                return;
            }
            assert_eq!(Changeable::Speed.read(&driver).expect("told"), before);
            let slower = "up to 1000 Mb/s (0x206f)";
            Changeable::Speed.write(&driver, slower).expect("told");
            assert_eq!(Changeable::Speed.read(&driver).expect("told"), slower);
            Changeable::Speed.write(&driver, before).expect("told");
            assert_eq!(Changeable::Speed.read(&driver).expect("told"), before);
            // A tap says that it runs at 10 Gb/s: all that it advertises is slower.
            assert_eq!(driver.slower().as_deref(), Some(before));
        });
    }
}
