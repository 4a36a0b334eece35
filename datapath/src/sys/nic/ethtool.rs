//! Requests to a driver (`SIOCETHTOOL`, linux/ethtool.h). A driver may refuse any of them with an error, and many do.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{Ioctl, c_void};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// Socket for requests to the driver of one interface, in the network namespace of the thread that opened it.
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

/// Number of the request (linux/sockios.h), the same on all architectures.
const SIOCETHTOOL: Ioctl = 0x8946;

const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
/// Sets of names.
const ETH_SS_STATS: u32 = 1;
const ETH_SS_FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`, in numbers of 32 bits.
const NAME_WORDS: usize = 32 / 4;

/// A request whose response is a structure of fixed size.
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

/// Size of the response buffer, in numbers of 32 bits: more than any of these structures has. The largest,
/// `struct ethtool_drvinfo`, has 49.
pub(super) const MOST_WORDS: usize = 64;
/// More words than any request and its response have, without names and counters: `struct ethtool_link_settings` has
/// 12, and three masks whose size is a signed number of 8 bits.
const MOST_FIXED_WORDS: usize = 512;

impl Ethtool {
    /// Opens a socket for the driver of an interface. Does not check that the interface exists.
    ///
    /// # Errors
    /// Fails if the name is too long, or with the error of the system call.
    pub fn open(interface: &str) -> io::Result<Self> {
        let mut name = [0; libc::IFNAMSIZ];
        // The last byte stays NUL, which ends the name.
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

    /// Returns the name of the interface.
    pub(super) fn interface(&self) -> &str {
        let name = self.name.split(|&byte| byte == 0).next();
        std::str::from_utf8(name.unwrap_or_default()).unwrap_or_default()
    }

    /// Reads the driver's own counters, with its names for them, as `ethtool -S` does. May take milliseconds: some
    /// drivers ask a device on USB.
    ///
    /// # Errors
    /// Fails with `EOPNOTSUPP` if the driver has no counters of its own.
    pub fn statistics(&self) -> io::Result<Vec<(String, u64)>> {
        let names = self.names(ETH_SS_STATS)?;
        let count = u32::try_from(names.len()).map_err(io::Error::other)?;
        let answer = self.call(&[ETHTOOL_GSTATS, count], names.len())?;
        let values = answer[2..].chunks_exact(2).map(wide);
        Ok(names.into_iter().zip(values).collect())
    }

    /// Reads the features that the kernel knows, by its names, and whether each is on for this interface
    /// (`ethtool -k`).
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn features(&self) -> io::Result<Vec<(String, bool)>> {
        /// Words of a block: available, requested, active, never changed, of 32 features each.
        const BLOCK_WORDS: usize = 4;
        const ACTIVE: usize = 2;
        let names = self.names(ETH_SS_FEATURES)?;
        let blocks = u32::try_from(names.len().div_ceil(32)).map_err(io::Error::other)?;
        let answer = self.call(&[ETHTOOL_GFEATURES, blocks], names.len())?;
        let is_on = |(index, name): (usize, String)| {
            let block = 2 + BLOCK_WORDS * (index / 32);
            (name, answer[block + ACTIVE] >> (index % 32) & 1 == 1)
        };
        Ok(names.into_iter().enumerate().map(is_on).collect())
    }

    /// Sends a request whose response has a fixed size, and returns the response.
    pub(super) fn ask(&self, query: Query) -> io::Result<[u32; MOST_WORDS]> {
        let answer = self.call(&[query as u32], 0)?;
        let words = answer.first_chunk().ok_or(io::ErrorKind::InvalidData)?;
        Ok(*words)
    }

    /// Changes a setting. `answer` is the response to `query`, with changed values. The command is always the number
    /// after that of the query.
    pub(super) fn tell(&self, query: Query, mut answer: [u32; MOST_WORDS]) -> io::Result<()> {
        answer[0] = query as u32 + 1;
        self.call(&answer, 0).map(drop)
    }

    /// Reads the names of a set, in the driver's order.
    pub(super) fn names(&self, set: u32) -> io::Result<Vec<String>> {
        // Words: command, reserved, a mask of the sets in 64 bits, a count for each set in the mask.
        let [first, second] = halves(1 << set);
        let answer = self.call(&[ETHTOOL_GSSET_INFO, 0, first, second], 1)?;
        // The kernel clears the bits of sets that the driver does not know.
        if answer[2] == 0 && answer[3] == 0 {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let count = answer[4];
        let answer = self.call(&[ETHTOOL_GSTRINGS, set, count], count as usize)?;
        let names = answer[3..].chunks_exact(NAME_WORDS).take(count as usize);
        Ok(names.map(name).collect())
    }

    /// Sends a request of these words to the driver, and returns them with its response, and words of 0 after it.
    /// `entries` is the number of names or counters that the response has, as the kernel counted them.
    pub(super) fn call(&self, request: &[u32], entries: usize) -> io::Result<Vec<u32>> {
        let mut data = request.to_vec();
        // A driver may have more entries by now, if somebody changes its queues.
        data.resize(MOST_FIXED_WORDS + NAME_WORDS * (2 * entries + 1024), 0);
        let mut request = Request {
            name: self.name,
            data: data.as_mut_ptr().cast::<c_void>(),
            rest: [0; 3],
        };
        #[expect(unsafe_code, reason = "no wrapper knows SIOCETHTOOL")]
        // SAFETY: the descriptor is open. `request` is at least a `struct ifreq` (netdevice(7)) with a name that ends
        // in a NUL. Its `data` is valid during the call, and longer than the longest structure of fixed size with the
        // longest name of each entry, which is longer than its number or bit. Any bits are valid numbers.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
        Errno::result(done)?;
        Ok(data)
    }
}

/// Returns the halves of a number of 64 bits, in their order in memory.
fn halves(number: u64) -> [u32; 2] {
    let bytes = number.to_ne_bytes();
    [0, 4].map(|at| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

/// Returns the number of 64 bits with these halves.
fn wide(halves: &[u32]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.chunks_exact_mut(4).zip(halves) {
        to.copy_from_slice(&from.to_ne_bytes());
    }
    u64::from_ne_bytes(bytes)
}

/// Returns a text that ends in a NUL, or fills its field.
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
