//! Questions to a driver (`SIOCETHTOOL`, linux/ethtool.h). What a driver does not answer is an error, and common.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{Ioctl, c_void};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// A socket through which drivers are asked, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
    name: [u8; libc::IFNAMSIZ],
}

/// `struct ifreq`, or somewhat more.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    data: *mut c_void,
    rest: [usize; 3],
}

/// linux/sockios.h; the same on all architectures.
const SIOCETHTOOL: Ioctl = 0x8946;

const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
/// A set of names.
const ETH_SS_STATS: u32 = 1;
const ETH_SS_FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`, in numbers of 32 bits.
const NAME_WORDS: usize = 32 / 4;

/// A question that is answered by a structure of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Query {
    /// `struct ethtool_drvinfo`.
    Driver = 0x03,
    /// `struct ethtool_coalesce`.
    Coalescing = 0x0e,
    /// `struct ethtool_ringparam`.
    Rings = 0x10,
    /// `struct ethtool_pauseparam`.
    Pause = 0x12,
    /// `struct ethtool_value`: generic receive offload.
    Gro = 0x2b,
    /// `struct ethtool_eee`.
    Eee = 0x44,
}

/// More numbers of 32 bits than any of these structures has: the largest, `struct ethtool_drvinfo`, has 49.
pub(super) const MOST_WORDS: usize = 64;

/// `struct ethtool_link_settings` before its three masks, and the most that these take: their size is a number
/// of 8 bits with a sign.
const LINK_WORDS: usize = 12;
const MOST_MASK_WORDS: usize = 127;

impl Ethtool {
    /// Opens one for the driver of an interface. Whether there is one of this name is not checked.
    ///
    /// # Errors
    /// A name that is too long, or what the system said.
    pub fn open(interface: &str) -> io::Result<Self> {
        let mut name = [0; libc::IFNAMSIZ];
        // The last byte stays the NUL that ends it.
        if interface.len() >= name.len() {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        name[..interface.len()].copy_from_slice(interface.as_bytes());
        let flags = SockFlag::SOCK_CLOEXEC;
        Ok(Self {
            socket: socket(AddressFamily::Inet, SockType::Datagram, flags, None)?,
            name,
        })
    }

    /// What the driver counts, by its own names, as `ethtool -S` shows it. It may take milliseconds: some drivers
    /// ask a device on USB.
    ///
    /// # Errors
    /// `EOPNOTSUPP`: the driver counts nothing of its own.
    pub fn statistics(&self) -> io::Result<Vec<(String, u64)>> {
        let names = self.names(ETH_SS_STATS)?;
        let mut answer = vec![0; 2 + 2 * room(names.len())];
        answer[0] = ETHTOOL_GSTATS;
        answer[1] = u32::try_from(names.len()).map_err(io::Error::other)?;
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel writes a number of 64 bits for each name: as many as `names`, and before Linux 6.18
        // as many as the driver has by now, for which `room` is generous.
        unsafe {
            self.call(&mut answer)?;
        };
        let values = answer[2..].chunks_exact(2).map(wide);
        Ok(names.into_iter().zip(values).collect())
    }

    /// The features that the kernel knows, by its own names, and whether each is on here (`ethtool -k`).
    ///
    /// # Errors
    /// What the kernel said.
    pub fn features(&self) -> io::Result<Vec<(String, bool)>> {
        /// Available, requested, active, never changed: 32 features each.
        const BLOCK_WORDS: usize = 4;
        const ACTIVE: usize = 2;
        let names = self.names(ETH_SS_FEATURES)?;
        let blocks = names.len().div_ceil(32);
        let mut answer = vec![0; 2 + BLOCK_WORDS * blocks];
        answer[0] = ETHTOOL_GFEATURES;
        answer[1] = u32::try_from(blocks).map_err(io::Error::other)?;
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel writes at most as many blocks as `answer` says that it has room for.
        unsafe {
            self.call(&mut answer)?;
        };
        let is_on = |(index, name): (usize, String)| {
            let block = 2 + BLOCK_WORDS * (index / 32);
            (name, answer[block + ACTIVE] >> (index % 32) & 1 == 1)
        };
        Ok(names.into_iter().enumerate().map(is_on).collect())
    }

    /// The link modes that the interface supports, advertises, and that its partner advertises: bits of
    /// `enum ethtool_link_mode_bit_indices`, 32 to a number.
    ///
    /// # Errors
    /// The driver does not say, or before Linux 4.6.
    pub(super) fn link_modes(&self) -> io::Result<[Vec<u32>; 3]> {
        /// The last byte of this number, as it is in memory: how many numbers a mask has.
        const SIZE_WORD: usize = 3;
        let mut answer = vec![0; LINK_WORDS + 3 * MOST_MASK_WORDS];
        let mut ask = |size: u8| {
            answer.fill(0);
            answer[0] = ETHTOOL_GLINKSETTINGS;
            answer[SIZE_WORD] = u32::from_ne_bytes([0, 0, 0, size]);
            #[expect(unsafe_code, reason = "no wrapper knows this request")]
            // SAFETY: `answer` has room for the largest masks that their size, a number of 8 bits with a sign, can
            // tell of.
            unsafe {
                self.call(&mut answer)?;
            };
            let [.., size] = answer[SIZE_WORD].to_ne_bytes();
            Ok::<_, io::Error>((i8::from_ne_bytes([size]), answer.clone()))
        };
        // Asked for masks of another size than it has, the kernel answers with the right one below zero.
        let (wanted, _) = ask(0)?;
        let (size, answer) = ask(wanted.unsigned_abs())?;
        let size = usize::try_from(size).map_err(io::Error::other)?;
        let mask = |index: usize| answer[LINK_WORDS + index * size..][..size].to_vec();
        Ok([mask(0), mask(1), mask(2)])
    }

    /// Asks one of the questions whose answers have one size.
    pub(super) fn ask(&self, query: Query) -> io::Result<[u32; MOST_WORDS]> {
        let mut answer = [0; MOST_WORDS];
        answer[0] = query as u32;
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel writes the structure of the query, of which none is longer than `answer`.
        unsafe {
            self.call(&mut answer)?;
        };
        Ok(answer)
    }

    /// Sets what a question asks for: `answer` is what it was answered with, changed. The command is always the one
    /// after the question.
    pub(super) fn tell(&self, query: Query, mut answer: [u32; MOST_WORDS]) -> io::Result<()> {
        answer[0] = query as u32 + 1;
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel reads the structure of the query, and may write it: none is longer than `answer`.
        unsafe {
            self.call(&mut answer)
        }
    }

    /// The names of a set, in the driver's order.
    pub(super) fn names(&self, set: u32) -> io::Result<Vec<String>> {
        let count = self.count(set)?;
        let mut answer = vec![0; 3 + NAME_WORDS * room(count)];
        answer[0] = ETHTOOL_GSTRINGS;
        answer[1] = set;
        answer[2] = u32::try_from(count).map_err(io::Error::other)?;
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel writes 32 bytes for each of the set's names, of which there are as many as it
        // said; for those that come meanwhile `room` is generous.
        unsafe {
            self.call(&mut answer)?;
        };
        let names = answer[3..].chunks_exact(NAME_WORDS).take(count);
        Ok(names.map(name).collect())
    }

    /// How many names a set has.
    fn count(&self, set: u32) -> io::Result<usize> {
        // Command, reserved, a mask of 64 bits of the sets, a count for each set in it.
        let [first, second] = halves(1 << set);
        let mut answer = [ETHTOOL_GSSET_INFO, 0, first, second, 0];
        #[expect(unsafe_code, reason = "no wrapper knows this request")]
        // SAFETY: the kernel writes the head of 16 bytes and one count for each bit in the mask: one.
        unsafe {
            self.call(&mut answer)?;
        };
        // The kernel clears the bits of sets that the driver does not know.
        if answer[2] == 0 && answer[3] == 0 {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        Ok(answer[4] as usize)
    }

    /// Hands `data` to the driver, which answers in it.
    ///
    /// # Safety
    /// `data` has to be as long as whatever the kernel writes for the command in it.
    #[expect(unsafe_code, reason = "no wrapper knows SIOCETHTOOL")]
    unsafe fn call(&self, data: &mut [u32]) -> io::Result<()> {
        let mut request = Request {
            name: self.name,
            data: data.as_mut_ptr().cast::<c_void>(),
            rest: [0; 3],
        };
        // SAFETY: the descriptor is open; `request` is at least a `struct ifreq` (netdevice(7)) with a name that
        // ends in a NUL; its `data` is valid for as long as the call takes, and long enough, as the caller
        // promises; any bits are valid numbers.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
        if done == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// A driver may have more to say by the time that it is asked, where somebody changes its queues.
fn room(count: usize) -> usize {
    2 * count + 1024
}

/// The halves of a number of 64 bits, as they are in memory.
fn halves(number: u64) -> [u32; 2] {
    let bytes = number.to_ne_bytes();
    [0, 4].map(|at| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

/// A number of 64 bits from its halves.
fn wide(halves: &[u32]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.chunks_exact_mut(4).zip(halves) {
        to.copy_from_slice(&from.to_ne_bytes());
    }
    u64::from_ne_bytes(bytes)
}

/// A text that ends in a NUL, or fills its place.
pub(super) fn name(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_of_loopback_does_not_count_is_an_error() {
        let ethtool = Ethtool::open("lo").expect("a socket");
        ethtool.statistics().expect_err("it counts nothing");
        assert!(Ethtool::open("a-name-that-is-far-too-long").is_err());
    }

    #[test]
    fn names_and_numbers_are_read_as_they_are_in_memory() {
        let mut words = [0; NAME_WORDS];
        words[0] = u32::from_ne_bytes(*b"rx_d");
        words[1] = u32::from_ne_bytes(*b"rop\0");
        assert_eq!(name(&words), "rx_drop");
        assert_eq!(wide(&halves(0x1_0000_0002)), 0x1_0000_0002);
    }
}
