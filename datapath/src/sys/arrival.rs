//! Time between the arrival of a datagram and its receipt by the program, by the kernel's own time stamps.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use super::clock;

/// Request for the arrival time of a socket's last datagram (socket(7)). It is the old `SIOCGSTAMPNS`, whose two fields
/// have the size of a machine word. No wrapper has it, and libc lacks its number
/// (`include/uapi/asm-generic/sockios.h`).
const SIOCGSTAMPNS: libc::Ioctl = 0x8907;
/// Time limit of the probe.
const TIMEOUT: Duration = Duration::from_millis(50);
/// Pause between two tries of the probe.
const RETRY_PAUSE: Duration = Duration::from_millis(1);

/// Clock of a socket: tells the time since the arrival of the datagram that was read last.
#[derive(Debug)]
pub struct ArrivalClock(OwnedFd);

impl ArrivalClock {
    /// Makes the kernel stamp the arrival of datagrams at this socket. It may begin a moment later, so the first
    /// datagrams may have no stamp. `None`: the kernel does not.
    pub fn of(socket: impl AsFd) -> Option<Self> {
        static WORKS: OnceLock<bool> = OnceLock::new();
        // A probe that fails proves nothing: the next socket tries again.
        let known = || WORKS.get().copied();
        let works = known().or_else(|| probe().ok().map(|works| *WORKS.get_or_init(|| works)))?;
        if !works {
            return None;
        }
        Self::enable(socket).ok()
    }

    fn enable(socket: impl AsFd) -> io::Result<Self> {
        let clock = Self(socket.as_fd().try_clone_to_owned()?);
        // The first request switches the stamps on.
        let _ = clock.arrived_ns();
        Ok(clock)
    }

    /// Returns the time since the arrival of the datagram that was read last, in nanoseconds. `None`: there was none,
    /// or the clock of the machine was set back since. If it was set forward, the time is too long.
    ///
    /// Costs a system call.
    pub fn ns_since_arrival(&self) -> Option<u64> {
        let now = clock::realtime_ns();
        now.checked_sub(self.arrived_ns()?)
    }

    /// Returns the arrival of the datagram that was read last, since 1970 in nanoseconds. `read_ns` is the time after
    /// its reading, which is returned if the kernel tells no time before it.
    ///
    /// Costs a system call.
    pub fn arrived_before(&self, read_ns: u64) -> u64 {
        let arrived = self.arrived_ns();
        arrived.filter(|ns| *ns <= read_ns).unwrap_or(read_ns)
    }

    #[expect(unsafe_code, reason = "no wrapper knows SIOCGSTAMPNS")]
    fn arrived_ns(&self) -> Option<u64> {
        let mut stamp: [libc::c_long; 2] = [0; 2];
        // SAFETY: the descriptor is open, and the kernel writes the old timespec, which is two words.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), SIOCGSTAMPNS, &raw mut stamp) };
        let [seconds, ns] = stamp.map(|field| u64::try_from(field).ok());
        (done == 0).then_some(seconds? * 1_000_000_000 + ns?)
    }
}

/// Sends datagrams over loopback, and returns whether the kernel stamps one with a time between its sending and its
/// receipt. Acceptance of the request alone proves nothing.
fn probe() -> io::Result<bool> {
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    receiver.set_read_timeout(Some(TIMEOUT))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.connect(receiver.local_addr()?)?;
    let arrival = ArrivalClock::enable(&receiver)?;
    let started = Instant::now();
    while started.elapsed() < TIMEOUT {
        let sent_after = clock::realtime_ns();
        sender.send(&[0])?;
        receiver.recv(&mut [0])?;
        let received_before = clock::realtime_ns();
        let between = sent_after..=received_before;
        if arrival.arrived_ns().is_some_and(|ns| between.contains(&ns)) {
            return Ok(true);
        }
        thread::sleep(RETRY_PAUSE);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_the_receive_queue_is_reported() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let Some(arrival) = ArrivalClock::of(&receiver) else {
            eprintln!("this kernel does not say when datagrams arrive");
            return;
        };
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let address = receiver.local_addr().expect("it is bound");
        let time_in_queue = |ms| {
            sender.send_to(&[0], address).expect("loopback works");
            thread::sleep(Duration::from_millis(ms));
            receiver.recv(&mut [0]).expect("it is there");
            arrival.ns_since_arrival()
        };
        // The kernel begins to stamp a moment after the request.
        let mut waits = (0..50).map(|_| time_in_queue(20));
        assert!(waits.any(|ns| ns >= Some(20_000_000)));
        assert!(time_in_queue(0).is_some());
    }
}
