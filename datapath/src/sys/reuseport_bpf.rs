//! Attaches a BPF program that selects the socket of a SO_REUSEPORT group for each datagram (SO_ATTACH_REUSEPORT_CBPF,
//! Linux 4.5: socket(7)).

use std::io;
use std::net::{Ipv4Addr, UdpSocket};

use libc::{sock_filter, sock_fprog};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::AttachReusePortCbpf;

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
pub fn probe() -> Result<(), String> {
    let attach = || {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
        socket.set_reuse_port(true)?;
        socket.bind(&std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        by_source_port(&socket.into(), &[])
    };
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
