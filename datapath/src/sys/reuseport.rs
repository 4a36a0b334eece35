//! Sockets that share a port by SO_REUSEPORT (socket(7)): the receiver of a datagram by a BPF program
//! (SO_ATTACH_REUSEPORT_CBPF, Linux 4.5), or by the CPU that handles it (SO_INCOMING_CPU).

use std::ffi::c_int;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use libc::{sock_filter, sock_fprog};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::AttachReusePortCbpf;
use socket2::{Domain, Socket, Type};

use super::socket_options::{number_of, set};

/// Offset of the UDP header from the IP header: loopback adds no options.
const IPV4_HEADER_BYTES: u32 = 20;
const IPV6_HEADER_BYTES: u32 = 40;
/// Base of offsets that count from the IP header (`linux/filter.h`).
#[expect(
    clippy::cast_sign_loss,
    reason = "the kernel's constant is negative, its field is not"
)]
const NETWORK_HEADER: u32 = libc::SKF_NET_OFF as u32;

/// Steers the group of `socket` by source port. A datagram from a port in `flows` goes to the socket with the index
/// beside it, in the order in which the sockets were bound. Any other datagram goes to the first socket.
///
/// # Errors
/// Fails before Linux 4.5, or if the socket is in no group.
pub fn by_source_port(socket: &UdpSocket, flows: &[(u16, usize)]) -> io::Result<()> {
    let header_bytes = if socket.local_addr()?.is_ipv4() {
        IPV4_HEADER_BYTES
    } else {
        IPV6_HEADER_BYTES
    };
    let mut program = program(header_bytes, flows);
    let description = sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // The kernel checks and copies the instructions before it returns (socket(7), BPF_MAXINSNS).
    Ok(setsockopt(socket, AttachReusePortCbpf, &description)?)
}

/// Checks that this kernel accepts such programs.
///
/// # Errors
/// Returns the reason why it does not.
pub fn probe_bpf() -> Result<(), String> {
    let attach = || by_source_port(&in_a_group((Ipv4Addr::LOCALHOST, 0))?, &[]);
    attach().map_err(|error: io::Error| {
        format!("no SO_ATTACH_REUSEPORT_CBPF in this kernel (Linux 4.5): {error}")
    })
}

fn program(header_bytes: u32, flows: &[(u16, usize)]) -> Vec<sock_filter> {
    let mut program = vec![instruction(
        libc::BPF_LD | libc::BPF_H | libc::BPF_ABS,
        NETWORK_HEADER.wrapping_add(header_bytes),
        0,
    )];
    for &(port, index) in flows {
        // If the port differs, the next instruction is skipped.
        program.push(instruction(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            port.into(),
            1,
        ));
        program.push(answer(index));
    }
    program.push(answer(0));
    program
}

fn answer(index: usize) -> sock_filter {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    instruction(libc::BPF_RET | libc::BPF_K, index, 0)
}

fn instruction(code: u32, value: u32, otherwise: u8) -> sock_filter {
    sock_filter {
        code: u16::try_from(code).unwrap_or(u16::MAX),
        jt: 0,
        jf: otherwise,
        k: value,
    }
}

/// Option of asm-generic/socket.h, which libc lacks for some C libraries.
const SO_INCOMING_CPU: c_int = 49;

/// Has the kernel give this socket of a SO_REUSEPORT group the packets that a CPU handles.
///
/// # Errors
/// Fails before Linux 4.4, or if the kernel keeps another CPU.
pub fn prefer_cpu(socket: &impl AsFd, cpu: usize) -> io::Result<()> {
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
pub fn probe_incoming_cpu() -> Result<(), String> {
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
        prefer_cpu(&group[chosen], cpu)?;
        prefer_cpu(&group[1 - chosen], cpu + 1)?;
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
        if prefer_cpu(&socket, 3).is_err() {
            assert!(probe_incoming_cpu().is_err_and(|why| why.contains("--spread even")));
        }
    }
}
