//! TAP devices: an interface whose cable ends in a file descriptor
//! (<https://docs.kernel.org/networking/tuntap.html>).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use nix::libc;
use nix::sched::{CloneFlags, setns};
use serde_json::{Map, Value, json};
use udpbench::error::UsageError;

/// Frames that may wait in the kernel to be read: enough for a burst of a tenth of a second. The kernel drops further
/// ones and counts them as `tx_dropped`.
const QUEUE_FRAMES: i32 = 16_384;

/// Name of a TAP device, with its network namespace: `NAME`, or `NETNS:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    netns: PathBuf,
    name: String,
}

impl FromStr for Location {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (netns, name) = text.rsplit_once(':').unwrap_or(("", text));
        if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains('/') {
            let most = libc::IFNAMSIZ - 1;
            return Err(format!(
                "{name:?} is no name of an interface: write 1 to {most} bytes without /"
            ));
        }
        let is_pid = !netns.is_empty() && netns.bytes().all(|byte| byte.is_ascii_digit());
        let netns = match netns {
            "" => PathBuf::from("/proc/self/ns/net"),
            pid if is_pid => PathBuf::from(format!("/proc/{pid}/ns/net")),
            path if path.contains('/') => PathBuf::from(path),
            // The directory of ip-netns(8).
            name => Path::new("/var/run/netns").join(name),
        };
        Ok(Self {
            netns,
            name: name.to_owned(),
        })
    }
}

/// A TAP device. Dropping it removes the device.
#[derive(Debug)]
pub(crate) struct Tap {
    file: File,
    location: Location,
    netns: File,
}

impl Tap {
    /// Creates a device that is up. This thread's network namespace stays the same.
    ///
    /// # Errors
    /// Fails if there is no such namespace, or if no TAP device is available.
    pub(crate) fn new(location: Location) -> anyhow::Result<Self> {
        let netns = File::open(&location.netns).map_err(|error| {
            let path = location.netns.display().to_string();
            UsageError::flag(
                "--end",
                &path,
                format!("no network namespace can be opened there: {error}"),
            )
        })?;
        let name = location.name.clone();
        let file = within(&netns, || {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(libc::O_NONBLOCK)
                .open("/dev/net/tun")
                .context("cannot open /dev/net/tun")?;
            request::attach(&file, &name)
                .with_context(|| format!("cannot make the TAP device {name}"))?;
            request::bring_up(&name, QUEUE_FRAMES)
                .with_context(|| format!("cannot bring up {name}"))?;
            anyhow::Ok(file)
        })??;
        Ok(Self {
            file,
            location,
            netns,
        })
    }

    /// Reads the next frame that the kernel sends over the device, and returns its length. `None`: there is none.
    ///
    /// # Errors
    /// Returns the error of read(2).
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a frame, which the kernel receives over the device.
    ///
    /// # Errors
    /// Returns the error of write(2). The frame is then lost.
    pub(crate) fn write(&self, frame: &[u8]) -> io::Result<()> {
        (&self.file).write(frame).map(drop)
    }

    /// Reports the name of the device and the kernel's counters of it.
    ///
    /// # Errors
    /// Fails if its namespace cannot be entered.
    pub(crate) fn report(&self) -> anyhow::Result<Value> {
        let name = &self.location.name;
        let table = within(&self.netns, || {
            fs::read_to_string("/proc/thread-self/net/dev")
        })?;
        let table = table.context("cannot read /proc/thread-self/net/dev")?;
        Ok(json!({ "interface": name, "kernel": counters(&table, name) }))
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Runs a closure in a network namespace, and returns to the thread's own.
fn within<T>(netns: &File, run: impl FnOnce() -> T) -> anyhow::Result<T> {
    let home =
        File::open("/proc/thread-self/ns/net").context("cannot open the own network namespace")?;
    setns(netns, CloneFlags::CLONE_NEWNET).context("cannot enter the network namespace")?;
    let result = run();
    setns(&home, CloneFlags::CLONE_NEWNET)
        .context("cannot come back to the own network namespace")?;
    Ok(result)
}

/// Returns the counters of an interface, with the names of `ip -s -j link` (columns: net/core/net-procfs.c).
fn counters(table: &str, name: &str) -> Map<String, Value> {
    const COLUMNS: [(&str, usize); 8] = [
        ("rx_bytes", 0),
        ("rx_packets", 1),
        ("rx_errors", 2),
        ("rx_dropped", 3),
        ("tx_bytes", 8),
        ("tx_packets", 9),
        ("tx_errors", 10),
        ("tx_dropped", 11),
    ];
    let row = table.lines().find_map(|line| {
        let (found, row) = line.split_once(':')?;
        (found.trim() == name).then_some(row)
    });
    let values: Vec<u64> = row
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|value| value.parse().ok())
        .collect();
    let column =
        |(name, place): &(&str, usize)| Some(((*name).to_owned(), (*values.get(*place)?).into()));
    COLUMNS.iter().filter_map(column).collect()
}

/// System calls without a safe form in std and nix.
#[expect(unsafe_code, reason = "ioctl has no safe form")]
mod request {
    use super::{AsRawFd, File, UdpSocket, io, libc};

    nix::ioctl_write_ptr_bad!(
        tunsetiff,
        nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()),
        libc::ifreq
    );
    nix::ioctl_write_ptr_bad!(set_queue, libc::SIOCSIFTXQLEN, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_flags, libc::SIOCSIFFLAGS, libc::ifreq);

    /// Makes the file the end of a new TAP device. Its frames come without a header.
    pub(super) fn attach(file: &File, name: &str) -> io::Result<()> {
        let mut request = named(name);
        request.ifr_ifru.ifru_flags = flags(libc::IFF_TAP | libc::IFF_NO_PI)?;
        // SAFETY: TUNSETIFF reads and writes an ifreq (linux/if_tun.h), which `request` is.
        unsafe { tunsetiff(file.as_raw_fd(), &raw const request) }?;
        Ok(())
    }

    /// Gives an interface of this namespace a queue and brings it up.
    pub(super) fn bring_up(name: &str, queue_frames: i32) -> io::Result<()> {
        // Any socket will do (netdevice(7)).
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        let mut request = named(name);
        request.ifr_ifru.ifru_metric = queue_frames;
        // SAFETY: it reads the name and an int at ifr_qlen, which is in the union where ifru_metric is.
        unsafe { set_queue(socket.as_raw_fd(), &raw const request) }?;
        let mut request = named(name);
        request.ifr_ifru.ifru_flags = flags(libc::IFF_UP)?;
        // SAFETY: it reads the name and the flags (netdevice(7)).
        unsafe { set_flags(socket.as_raw_fd(), &raw const request) }?;
        Ok(())
    }

    fn named(name: &str) -> libc::ifreq {
        // SAFETY: an ifreq holds integers, arrays of them and a pointer: zeroes are a value of each.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        request
    }

    fn flags(flags: libc::c_int) -> io::Result<libc::c_short> {
        flags.try_into().map_err(io::Error::other)
    }
}
