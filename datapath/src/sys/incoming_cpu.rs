//! The CPU whose packets a socket prefers, among sockets that share a port (SO_INCOMING_CPU: socket(7)).

use std::ffi::c_int;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::switch::{number_of, set_number};

/// Option of asm-generic/socket.h, which libc lacks for some C libraries.
const SO_INCOMING_CPU: c_int = 49;

/// Has the kernel give this socket of a SO_REUSEPORT group the packets that a CPU handles.
///
/// # Errors
/// Fails before Linux 4.4, or if the kernel keeps another CPU.
pub fn prefer(socket: &impl AsFd, cpu: usize) -> io::Result<()> {
    let cpu = c_int::try_from(cpu).map_err(io::Error::other)?;
    set_number(socket, libc::SOL_SOCKET, SO_INCOMING_CPU, cpu)?;
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

/// Sends datagrams from several ports to either of two sockets, and returns whether all arrived there. A datagram that
/// another CPU may have handled shows nothing.
fn chooses_by_cpu() -> io::Result<bool> {
    /// Ports of the senders for each socket: all of them end there by chance in one of 256 kernels that hash.
    const SENDERS: usize = 4;
    const SOCKETS: usize = 2;
    let first = in_a_group((Ipv4Addr::LOCALHOST, 0))?;
    let port = first.local_addr()?.port();
    let group: [UdpSocket; SOCKETS] = [first, in_a_group((Ipv4Addr::LOCALHOST, port))?];
    for chosen in 0..SOCKETS {
        for _ in 0..SENDERS {
            let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            let cpu = nix::sched::sched_getcpu()?;
            for (n, socket) in group.iter().enumerate() {
                // The other socket prefers a CPU that is not this one.
                prefer(socket, if n == chosen { cpu } else { cpu + 1 })?;
            }
            sender.send_to(&[0], (Ipv4Addr::LOCALHOST, port))?;
            let stayed = nix::sched::sched_getcpu()? == cpu;
            let arrived = group[chosen].recv(&mut [0]).is_ok();
            if stayed && !arrived {
                return Ok(false);
            }
        }
        // Emptied for the next turn.
        group.iter().for_each(|socket| {
            let _ = socket.set_nonblocking(true);
            while socket.recv(&mut [0]).is_ok() {}
            let _ = socket.set_nonblocking(false);
        });
    }
    Ok(true)
}

fn in_a_group(address: (Ipv4Addr, u16)) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    socket.set_reuse_port(true)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
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
