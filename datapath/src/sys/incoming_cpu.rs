//! The CPU whose packets a socket prefers, among sockets that share a port (SO_INCOMING_CPU: socket(7)).

use std::ffi::c_int;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::switch::{number_of, set};

/// Option of asm-generic/socket.h, which libc lacks for some C libraries.
const SO_INCOMING_CPU: c_int = 49;

/// Has the kernel give this socket of a SO_REUSEPORT group the packets that a CPU handles.
///
/// # Errors
/// Fails before Linux 4.4, or if the kernel keeps another CPU.
pub fn prefer(socket: &impl AsFd, cpu: usize) -> io::Result<()> {
    let cpu = u32::try_from(cpu).map_err(io::Error::other)?;
    set(socket, libc::SOL_SOCKET, SO_INCOMING_CPU, &cpu)?;
    match number_of(socket, libc::SOL_SOCKET, SO_INCOMING_CPU)? {
        kept if kept == cpu => Ok(()),
        kept => Err(io::Error::other(format!(
            "asked for CPU {cpu}, but the kernel keeps {kept}"
        ))),
    }
}

/// Checks over loopback that this kernel chooses receivers by it: before Linux 6.2 it accepts the option, and hashes
/// nevertheless.
///
/// # Errors
/// Returns the reason why it does not.
pub fn probe() -> Result<(), String> {
    match chooses_by_cpu() {
        Ok(true) => Ok(()),
        Ok(false) => Err(
            "this kernel ignores SO_INCOMING_CPU when it chooses a receiver (before Linux 6.2): use --spread even"
                .to_owned(),
        ),
        Err(error) => Err(format!(
            "no SO_INCOMING_CPU in this kernel ({error}): use --spread even"
        )),
    }
}

/// Sends datagrams from several ports to two sockets that prefer this CPU in turn, and returns whether none of them
/// ended at the other one. A datagram that another CPU may have handled shows nothing, and neither does one that is
/// late.
fn chooses_by_cpu() -> io::Result<bool> {
    /// All end at the right socket by chance in one of 256 kernels that hash.
    const TURNS: u8 = 8;
    let first = in_a_group((Ipv4Addr::LOCALHOST, 0))?;
    let port = first.local_addr()?.port();
    let group = [first, in_a_group((Ipv4Addr::LOCALHOST, port))?];
    for turn in 0..TURNS {
        let chosen = usize::from(turn % 2);
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let cpu = nix::sched::sched_getcpu()?;
        prefer(&group[chosen], cpu)?;
        prefer(&group[1 - chosen], cpu + 1)?;
        sender.send_to(&[turn], (Ipv4Addr::LOCALHOST, port))?;
        let stayed = nix::sched::sched_getcpu()? == cpu;
        if stayed && taken_by(&group, turn) == Some(1 - chosen) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the index of the socket at which the datagram of a turn arrives, after waiting for 20 ms at most.
fn taken_by(group: &[UdpSocket], turn: u8) -> Option<usize> {
    let deadline = Instant::now() + Duration::from_millis(20);
    while Instant::now() < deadline {
        let has_it = |socket: &UdpSocket| {
            let mut datagram = [0];
            socket.recv(&mut datagram).is_ok() && datagram == [turn]
        };
        if let Some(found) = group.iter().position(has_it) {
            return Some(found);
        }
        thread::yield_now();
    }
    None
}

fn in_a_group(address: (Ipv4Addr, u16)) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&std::net::SocketAddr::from(address).into())?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_keeps_the_cpu_that_it_prefers() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback works");
        if prefer(&socket, 3).is_err() {
            assert!(probe().is_err_and(|why| why.contains("--spread even")));
        }
    }
}
