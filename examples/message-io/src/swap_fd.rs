//! Replaces a socket that a library made by one of ours.
//!
//! Some libraries create, register and keep their own sockets. We need our own: with our buffer sizes, in our
//! `SO_REUSEPORT` group, and with a duplicate that reads its drops. Such a library keeps only a descriptor number,
//! and dup2(2) makes that number refer to another socket. An epoll(7) instance, however, watches the socket and not
//! the number, so our socket has to be registered there like the library's own. `/proc/self/fdinfo` shows how that
//! one was registered (proc_pid_fdinfo(5)).
//!
//! Rejected alternatives, for message-io 0.19:
//! - An adapter of our own that holds our socket. The library mounts the adapters of its enum `Transport` and no
//!   others: `DriverLoader` and `PollEvent` cannot be named from outside, `NetworkController::new` and
//!   `NetworkProcessor::new` are private. And the library's own adapter, with its receive loop, is to be measured.
//! - Letting the library bind the address itself. `UdpConnectConfig` and `UdpListenConfig` take no buffer sizes. No
//!   call returns the descriptor, of which we need a duplicate. If several sockets share an address, the library does
//!   not tell which of them is its own, nor which flows end there.
//! - A changed copy of the library.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::str::FromStr;

use nix::errno::Errno;
use nix::sys::socket::{SockaddrStorage, getsockname};

/// Replaces the library's socket, the only one bound to `theirs`, by `ours`: its descriptor and the epoll instance
/// that watches it refer to `ours` from now on. The library's own socket is closed. Returns how `ours` is registered.
///
/// Must be called before the library waits for events.
///
/// # Errors
/// Fails with `NotFound` if there is no such socket, or no epoll instance that watches it. Otherwise returns the
/// error of the system call.
pub(crate) fn replace(theirs: SocketAddr, ours: &impl AsRawFd) -> io::Result<Registration> {
    let number = bound_to(theirs)?;
    let mut registration = take_out(number)?;
    #[expect(unsafe_code, reason = "the descriptor belongs to a library")]
    // SAFETY: dup3(2) takes integers. The number remains an open socket that only the library closes; the library
    // relies on nothing else (io-safety: `OwnedFd`).
    Errno::result(unsafe { libc::dup3(ours.as_raw_fd(), number, libc::O_CLOEXEC) })?;
    control(libc::EPOLL_CTL_ADD, &mut registration)?;
    Ok(registration)
}

/// Registration of a descriptor with an epoll instance.
pub(crate) struct Registration {
    epoll: RawFd,
    watched: RawFd,
    event: libc::epoll_event,
}

impl Registration {
    /// Registers another descriptor with the same instance. The library takes its events for those of the socket.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub(crate) fn add(self, other: &impl AsFd) -> io::Result<()> {
        let mut other = Self {
            watched: other.as_fd().as_raw_fd(),
            ..self
        };
        Ok(control(libc::EPOLL_CTL_ADD, &mut other)?)
    }
}

/// Returns the socket bound to `address`.
fn bound_to(address: SocketAddr) -> io::Result<RawFd> {
    let address = SockaddrStorage::from(address);
    numbers("/proc/self/fd")?
        .into_iter()
        .find(|&fd| getsockname::<SockaddrStorage>(fd).is_ok_and(|bound| bound == address))
        .ok_or_else(|| not_found("no socket is bound to the address that the library reports"))
}

/// Removes a socket from its epoll instance, and returns the registration so that it can be added again.
fn take_out(socket: RawFd) -> io::Result<Registration> {
    for epoll in numbers("/proc/self/fdinfo")? {
        // A descriptor of another thread may have been closed since.
        let Ok(text) = fs::read_to_string(format!("/proc/self/fdinfo/{epoll}")) else {
            continue;
        };
        for (watched, event) in text.lines().filter_map(watch) {
            let mut registration = Registration {
                epoll,
                watched,
                event,
            };
            // Fails if the entry is about another socket that had this number before: epoll identifies an entry by
            // number and socket.
            if watched == socket && control(libc::EPOLL_CTL_DEL, &mut registration).is_ok() {
                return Ok(registration);
            }
        }
    }
    Err(not_found("no epoll instance watches the library's socket"))
}

/// Parses a line of fdinfo, such as `tfd:        5 events: 8000201d data:              101  pos:0 ino:1f sdev:8`.
fn watch(line: &str) -> Option<(RawFd, libc::epoll_event)> {
    let mut words = line.split_whitespace();
    let mut after = |name| (words.next()? == name).then(|| words.next())?;
    let watched = after("tfd:")?.parse().ok()?;
    let events = u32::from_str_radix(after("events:")?, 16).ok()?;
    let u64 = u64::from_str_radix(after("data:")?, 16).ok()?;
    Some((watched, libc::epoll_event { events, u64 }))
}

fn control(operation: libc::c_int, registration: &mut Registration) -> nix::Result<()> {
    let Registration {
        epoll,
        watched,
        event,
    } = registration;
    #[expect(unsafe_code, reason = "the descriptors belong to a library")]
    // SAFETY: epoll_ctl(2) only reads the event, and refuses invalid descriptors.
    Errno::result(unsafe { libc::epoll_ctl(*epoll, operation, *watched, event) }).map(drop)
}

/// Returns the descriptors of this process, from a directory under `/proc/self`.
fn numbers(directory: &str) -> io::Result<Vec<RawFd>> {
    let entries = fs::read_dir(directory)?;
    let number = |entry: fs::DirEntry| RawFd::from_str(entry.file_name().to_str()?).ok();
    Ok(entries.flatten().filter_map(number).collect())
}

fn not_found(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, what)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use mio::{Events, Interest, Poll, Token};

    use super::*;

    #[test]
    fn a_library_receives_from_the_socket_that_took_the_place_of_its_own() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(ours) = UdpSocket::bind(loopback) else {
                continue;
            };
            let mut poll = Poll::new().expect("there is epoll");
            let any = loopback.parse().expect("an address");
            let mut theirs = mio::net::UdpSocket::bind(any).expect("loopback is up");
            poll.registry()
                .register(&mut theirs, Token(7), Interest::READABLE)
                .expect("it can be watched");
            let left = theirs.local_addr().expect("it is bound");
            ours.set_nonblocking(true).expect("it is a socket");
            replace(left, &ours).expect("both are there");

            let address = ours.local_addr().expect("it is bound");
            assert_eq!(theirs.local_addr().expect("it is bound"), address);
            assert!(UdpSocket::bind(left).is_ok(), "its own one is closed");
            let sender = UdpSocket::bind(loopback).expect("loopback is up");
            sender.send_to(b"come", address).expect("loopback works");
            let mut events = Events::with_capacity(8);
            poll.poll(&mut events, Some(Duration::from_secs(3)))
                .expect("no signal");
            let tokens: Vec<Token> = events.iter().map(mio::event::Event::token).collect();
            assert_eq!(tokens, [Token(7)]);
            assert_eq!(theirs.recv(&mut [0; 8]).expect("it came"), 4);
            poll.registry()
                .deregister(&mut theirs)
                .expect("it was watched");
        }
    }

    #[test]
    fn what_is_not_there_is_not_replaced() {
        let ours = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let unwatched = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        for theirs in [
            "127.0.0.1:0".parse().expect("an address"),
            unwatched.local_addr().expect("it is bound"),
        ] {
            let error = replace(theirs, &ours)
                .err()
                .expect("there is no such socket");
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
