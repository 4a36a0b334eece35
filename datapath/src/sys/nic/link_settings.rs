//! Speed and modes of a link (`struct ethtool_link_settings`, linux/ethtool.h).

use std::io;

use super::ethtool::Ethtool;

const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
const ETHTOOL_SLINKSETTINGS: u32 = 0x4d;

/// Size of the structure before its three masks, and the largest size of a mask, which is a signed number of 8 bits.
const LINK_WORDS: usize = 12;
const MOST_MASK_WORDS: usize = 127;
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

    /// Returns the modes that the interface supports, as bits of `enum ethtool_link_mode_bit_indices`, 32 per number.
    pub(super) fn supported(&self) -> &[u32] {
        self.mask(0)
    }

    /// Returns the modes that the interface advertises.
    pub(super) fn advertised(&self) -> &[u32] {
        self.mask(1)
    }

    /// Returns the modes that the partner advertises.
    pub(super) fn of_partner(&self) -> &[u32] {
        self.mask(2)
    }

    fn mask(&self, index: usize) -> &[u32] {
        &self.answer[LINK_WORDS + index * self.size..][..self.size]
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
        let mut answer = vec![0; LINK_WORDS + 3 * MOST_MASK_WORDS];
        let mut ask = |size: u8| {
            answer.fill(0);
            answer[0] = ETHTOOL_GLINKSETTINGS;
            answer[SIZE_WORD] = u32::from_ne_bytes([0, 0, 0, size]);
            #[expect(unsafe_code, reason = "no wrapper knows this request")]
            // SAFETY: `answer` has room for the largest masks that their size, a signed number of 8 bits, can express.
            unsafe {
                self.call(&mut answer)?;
            };
            let [.., size] = answer[SIZE_WORD].to_ne_bytes();
            Ok::<_, io::Error>((i8::from_ne_bytes([size]), answer.clone()))
        };
        // If the requested size is wrong, the kernel responds with the negated right one.
        let (wanted, _) = ask(0)?;
        let (size, answer) = ask(wanted.unsigned_abs())?;
        let size = usize::try_from(size).map_err(io::Error::other)?;
        Ok(LinkSettings { answer, size })
    }

    /// Has the interface advertise these modes, and negotiate again.
    ///
    /// # Errors
    /// Returns the error of the driver.
    pub(super) fn advertise(&self, modes: &[u32]) -> io::Result<()> {
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
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel reads the structure and its masks, whose size in `answer` is the one that it gave.
        unsafe {
            self.call(&mut answer)
        }
    }
}
