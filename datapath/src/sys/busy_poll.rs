//! Busy polling: the one who waits for a socket asks the interface for packets itself, instead of sleeping until an
//! interrupt (Documentation/networking/napi.rst of Linux).
//!
//! A packet is found by the NAPI that delivered the one before: a queue of an interface. Loopback has none.

use std::ffi::c_int;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::socket_options;

/// Options of asm-generic/socket.h, which libc lacks for some C libraries.
const SO_BUSY_POLL: c_int = 46;
const SO_INCOMING_NAPI_ID: c_int = 56;
const SO_PREFER_BUSY_POLL: c_int = 69;
const SO_BUSY_POLL_BUDGET: c_int = 70;

/// Packets that one look may take: as many as an interrupt takes (NAPI_POLL_WEIGHT), and the most that an epoll
/// instance gets without CAP_NET_ADMIN. An io_uring has a budget of its own, 8.
const BUDGET: u8 = 64;

/// Has a socket poll for `us` microseconds in each call that would wait for a datagram, and once in one that would not.
///
/// # Errors
/// Returns the error of a system call: `PermissionDenied` without CAP_NET_ADMIN.
pub fn of_socket(socket: &impl AsFd, us: u16) -> io::Result<()> {
    let set = |name, number: c_int| socket_options::set(socket, libc::SOL_SOCKET, name, &number);
    set(SO_BUSY_POLL, us.into())?;
    set(SO_PREFER_BUSY_POLL, 1)?;
    set(SO_BUSY_POLL_BUDGET, BUDGET.into())
}

/// State of a socket. The budget cannot be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketState {
    /// Time in microseconds; 0 if it does not poll, or does not prefer that to interrupts.
    pub us: u16,
    /// True if a NAPI delivered its last datagram.
    pub has_napi: bool,
}

/// Reads the state of a socket.
///
/// # Errors
/// Returns the error of getsockopt(2).
pub fn state(socket: &impl AsFd) -> io::Result<SocketState> {
    let number = |name| socket_options::number_of(socket, libc::SOL_SOCKET, name);
    let us = if number(SO_PREFER_BUSY_POLL)? == 1 {
        number(SO_BUSY_POLL)?
    } else {
        0
    };
    Ok(SocketState {
        us: u16::try_from(us).unwrap_or(0),
        has_napi: number(SO_INCOMING_NAPI_ID)? != 0,
    })
}

/// Has an epoll instance poll for `us` microseconds in each wait, for the sockets in it that poll.
///
/// # Errors
/// Fails before Linux 6.9, or if the instance keeps another time.
pub fn of_epoll(instance: &impl AsRawFd, us: u16) -> io::Result<()> {
    /// `struct epoll_params` of include/uapi/linux/eventpoll.h.
    #[repr(C)]
    #[derive(Default, PartialEq)]
    struct Parameters {
        us: u32,
        budget: u16,
        prefer: u8,
        pad: u8,
    }
    let asked = Parameters {
        us: us.into(),
        budget: BUDGET.into(),
        prefer: 1,
        pad: 0,
    };
    let mut kept = Parameters::default();
    let fd = instance.as_raw_fd();
    #[expect(unsafe_code, reason = "no wrapper knows these requests")]
    // SAFETY: the kernel reads 8 bytes for the first request and writes 8 for the second (the size is in their
    // numbers), which is the size of `Parameters`, at valid addresses.
    unsafe {
        Errno::result(libc::ioctl(fd, libc::EPIOCSPARAMS, &raw const asked))?;
        Errno::result(libc::ioctl(fd, libc::EPIOCGPARAMS, &raw mut kept))?;
    };
    if kept == asked {
        Ok(())
    } else {
        Err(io::Error::other("the kernel keeps other EPIOCSPARAMS"))
    }
}

/// Has an io_uring poll for `us` microseconds in each wait, for the sockets that its requests wait for.
///
/// # Errors
/// Fails before Linux 6.9, or if the ring keeps another time.
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
pub fn of_ring(ring: &io_uring::IoUring, us: u16) -> io::Result<()> {
    let register = || {
        let napi = io_uring::types::Napi::new().set_prefer_busy_poll(true);
        let mut napi = napi.set_busy_poll_timeout(us.into());
        let registered = ring.submitter().register_napi(&mut napi);
        registered.map(|()| (napi.busy_poll_timeout(), napi.prefer_busy_poll()))
    };
    register()?;
    // A registration returns what was registered before.
    if register()? == (us.into(), true) {
        Ok(())
    } else {
        Err(io::Error::other(
            "the kernel keeps another IORING_REGISTER_NAPI",
        ))
    }
}

/// Reasons why sockets, epoll instances and rings cannot poll on a machine, if they cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// Reason why sockets cannot, without which nothing can.
    pub socket: Option<String>,
    /// Reason why epoll instances cannot.
    pub epoll: Option<String>,
    /// Reason why rings cannot.
    pub ring: Option<String>,
}

impl Refusals {
    /// Finds the reasons of this machine, by trying.
    pub fn read() -> Self {
        let since_6_9 = |what: &str, request: &str, tried: io::Result<()>| {
            let error = tried.err()?;
            Some(format!(
                "{what} polls from Linux 6.9 on ({request}: {error}): use another --engine, such as std"
            ))
        };
        Self {
            socket: try_socket().err().map(|error| why_no_socket(&error)),
            epoll: since_6_9("an epoll instance", "EPIOCSPARAMS", try_epoll()),
            ring: since_6_9("an io_uring", "IORING_REGISTER_NAPI", try_ring()),
        }
    }
}

fn why_no_socket(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) => "--busy-poll needs CAP_NET_ADMIN: use sudo, or sudo setcap cap_net_admin=ep \
                              PATH-OF-udpbench; in a container, grant it (docker run --cap-add NET_ADMIN)"
            .to_owned(),
        _ => format!(
            "this kernel cannot do --busy-poll (SO_BUSY_POLL, SO_PREFER_BUSY_POLL: {error}): it needs Linux 5.11 with \
             CONFIG_NET_RX_BUSY_POLL"
        ),
    }
}

fn try_socket() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    of_socket(&socket, 1)?;
    state(&socket).map(drop)
}

fn try_epoll() -> io::Result<()> {
    use nix::sys::epoll::{Epoll, EpollCreateFlags};
    of_epoll(&Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?.0, 1)
}

#[cfg(all(feature = "uring", target_pointer_width = "64"))]
fn try_ring() -> io::Result<()> {
    of_ring(&io_uring::IoUring::new(1)?, 1)
}

#[cfg(not(all(feature = "uring", target_pointer_width = "64")))]
fn try_ring() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_keeps_what_it_was_told_unless_that_is_refused_in_words() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback works");
        match (of_socket(&socket, 70), Refusals::read().socket) {
            (Ok(()), None) => {
                let expected = SocketState {
                    us: 70,
                    has_napi: false,
                };
                assert_eq!(state(&socket).expect("it can be read"), expected);
            }
            (Err(_), Some(why)) => assert!(why.contains("--busy-poll"), "{why}"),
            (set, refused) => panic!("{set:?}, but {refused:?}"),
        }
    }

    #[test]
    fn a_missing_permission_is_another_reason_than_an_old_kernel() {
        let why = |errno| why_no_socket(&io::Error::from_raw_os_error(errno));
        assert!(why(libc::EPERM).contains("CAP_NET_ADMIN: use sudo"));
        assert!(why(libc::ENOPROTOOPT).contains("Linux 5.11"));
        assert!(!why(libc::ENOPROTOOPT).contains("sudo"));
    }

    #[test]
    fn only_epoll_instances_take_their_time() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback works");
        assert!(of_epoll(&socket, 1).is_err());
    }
}
