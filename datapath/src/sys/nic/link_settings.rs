//! Speed and modes of a link (`struct ethtool_link_settings`, linux/ethtool.h), and speeds that it may have, as modes that
//! its interface advertises.

use std::io;

use super::ethtool::Ethtool;
use super::settings::has;

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

/// Returns the modes that an interface advertises, as text: `up to 2500 Mb/s (0x80000000002f)`.
///
/// # Errors
/// Fails if the driver does not tell its modes, or does not negotiate them.
pub(super) fn advertised(driver: &Ethtool) -> io::Result<String> {
    let link = driver.link_settings()?;
    if !link.is_negotiated() {
        return Err(io::Error::other("the link is not negotiated"));
    }
    let [_, advertised, _] = link.modes();
    text(advertised).ok_or_else(|| io::ErrorKind::Unsupported.into())
}

impl Ethtool {
    /// Returns the modes that the interface advertises without those of the link's present speed and above, as text.
    /// `None`: there is no link, no lower speed, or the driver does not tell.
    pub fn slower(&self) -> Option<String> {
        let link = self.link_settings().ok()?;
        let [_, advertised, _] = link.modes();
        text(&below(advertised, link.speed_mbps()?))
    }
}

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
    let mut speeds = MODES_BY_SPEED.iter().rev();
    let (most, _) = speeds.find(|(_, bits)| bits.iter().any(|bit| has(modes, *bit)))?;
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
        advertised(&loopback).expect_err("it has no modes");
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
