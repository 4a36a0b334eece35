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
const AGAIN: Duration = Duration::from_millis(1);

/// Clock of a socket: tells the time since the arrival of the datagram that was read last.
#[derive(Debug)]
pub struct ArrivalClock(OwnedFd);

impl ArrivalClock {
    /// Makes the kernel stamp the arrival of datagrams at this socket, from now on. `None`: the kernel does not.
    pub fn of(socket: impl AsFd) -> Option<Self> {
        static WORKS: OnceLock<bool> = OnceLock::new();
        let works = || probe().unwrap_or(false);
        if !WORKS.get_or_init(works) {
            return None;
        }
        Self::begin(socket).ok()
    }

    fn begin(socket: impl AsFd) -> io::Result<Self> {
        let clock = Self(socket.as_fd().try_clone_to_owned()?);
        // The first request switches the stamps on.
        let _ = clock.arrived_ns();
        Ok(clock)
    }

    /// Returns the time since the arrival of the datagram that was read last, in nanoseconds. `None`: there was none,
    /// or the clock of the machine was set meanwhile.
    ///
    /// Costs a system call.
    pub fn ns_since_arrival(&self) -> Option<u64> {
        let now = clock::realtime_ns();
        now.checked_sub(self.arrived_ns()?)
    }

    #[expect(unsafe_code, reason = "no wrapper knows SIOCGSTAMPNS")]
    fn arrived_ns(&self) -> Option<u64> {
        let mut stamp: [libc::c_long; 2] = [0; 2];
        // SAFETY: the descriptor is open, and the kernel writes a timespec of old, which is two words.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), SIOCGSTAMPNS, &raw mut stamp) };
        let [seconds, ns] = stamp.map(|field| u64::try_from(field).ok());
        (done == 0).then_some(seconds? * 1_000_000_000 + ns?)
    }
}

/// Returns whether the kernel stamps a datagram that is sent now with a time since then. Acceptance of the request
/// alone proves nothing. The kernel may begin to stamp a moment after the request, so the first datagram may have no
/// stamp.
fn probe() -> io::Result<bool> {
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    receiver.set_read_timeout(Some(TIMEOUT))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.connect(receiver.local_addr()?)?;
    let arrivals = ArrivalClock::begin(&receiver)?;
    let began = Instant::now();
    while began.elapsed() < TIMEOUT {
        let begin = clock::realtime_ns();
        sender.send(&[0])?;
        receiver.recv(&mut [0])?;
        let end = clock::realtime_ns();
        if arrivals
            .arrived_ns()
            .is_some_and(|ns| (begin..=end).contains(&ns))
        {
            return Ok(true);
        }
        thread::sleep(AGAIN);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_that_lay_for_a_while_has_been_there_for_so_long() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let Some(arrivals) = ArrivalClock::of(&receiver) else {
            eprintln!("this kernel does not say when datagrams arrive");
            return;
        };
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let address = receiver.local_addr().expect("it is bound");
        let lay = |ms| {
            sender.send_to(&[0], address).expect("loopback works");
            thread::sleep(Duration::from_millis(ms));
            receiver.recv(&mut [0]).expect("it is there");
            arrivals.ns_since_arrival()
        };
        // The kernel begins to stamp a moment after the request.
        let mut waits = (0..50).map(|_| lay(20));
        assert!(waits.any(|ns| ns >= Some(20_000_000)));
        assert!(lay(0).is_some());
    }
}
