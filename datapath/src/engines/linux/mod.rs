//! Linux interfaces used only by engines: calls that move many datagrams, and functions that libraries do not offer.

use std::io;
use std::net::UdpSocket;

use crate::engine::BatchCount;
use crate::engine::payload::Check;

pub mod batch;
pub mod coalesced;
mod fixed_buffer;
pub mod gso;
pub mod message;
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
pub mod uring;
pub mod zero_copy;

/// Receives many datagrams per call.
pub trait ReceiveMany: Send {
    /// Receives datagrams in one call, for the first of which it may wait.
    ///
    /// # Errors
    /// Returns the error of the system call if no datagram was received.
    fn receive<C: Check>(&mut self, socket: &UdpSocket, check: &mut C) -> io::Result<BatchCount>;

    /// Tells whether all control messages are as they were sent: see
    /// [`ReadControls::verdict`](crate::engine::ReadControls::verdict).
    ///
    /// # Errors
    /// Fails if one was missing, cut off or wrong.
    fn check_controls(&self) -> io::Result<()>;
}

/// Binds a socket to loopback, to try something.
///
/// # Errors
/// Fails if there is no loopback.
pub fn loopback_socket() -> io::Result<UdpSocket> {
    UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"))
}
