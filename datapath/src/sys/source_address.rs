//! Source address of a datagram, in the bytes that the kernel writes.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Memory for any socket address (struct sockaddr_storage, sockaddr(3type)).
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct Source([u8; Source::BYTES as usize]);

impl Source {
    /// Size in bytes.
    pub const BYTES: u32 = 128;
    /// Memory into which nothing has been written yet.
    pub const EMPTY: Self = Self([0; Self::BYTES as usize]);

    /// Returns the address that the kernel wrote. `None`: it is neither IPv4 nor IPv6.
    pub fn address(&self) -> Option<SocketAddr> {
        address(&self.0)
    }
}

/// Returns the address in a `sockaddr_in` (ip(7)) or a `sockaddr_in6` (ipv6(7)).
pub fn address(name: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(field(name, 0)?);
    let port = u16::from_be_bytes(field(name, 2)?);
    match i32::from(family) {
        libc::AF_INET => Some((Ipv4Addr::from(field::<4>(name, 4)?), port).into()),
        libc::AF_INET6 => {
            let flow = u32::from_ne_bytes(field(name, 4)?);
            let scope = u32::from_ne_bytes(field(name, 24)?);
            let ip = Ipv6Addr::from(field::<16>(name, 8)?);
            Some(SocketAddrV6::new(ip, port, flow, scope).into())
        }
        _ => None,
    }
}

fn field<const N: usize>(name: &[u8], at: usize) -> Option<[u8; N]> {
    name.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use socket2::{SockAddr, SockAddrStorage};

    use super::*;

    #[test]
    fn an_address_is_read_as_the_kernel_writes_it() {
        for text in ["127.0.0.1:7", "[::1]:7", "[fe80::1%3]:65535"] {
            let address: SocketAddr = text.parse().expect("an address");
            let storage = SockAddr::from(address).as_storage();
            let mut source = Source::EMPTY;
            #[expect(unsafe_code, reason = "the kernel's part")]
            // SAFETY: both types have the same size, and any bytes are valid.
            unsafe {
                let room = std::ptr::from_mut(&mut source).cast::<SockAddrStorage>();
                room.write(storage);
            }
            assert_eq!(source.address(), Some(address));
        }
        assert_eq!(Source::EMPTY.address(), None);
        assert_eq!(address(&[2, 0, 0, 7, 127]), None, "cut off");
    }
}
