//! The error queue of a socket, which also holds transmit time stamps and completions of sends without a copy (ip(7),
//! MSG_ERRQUEUE in recv(2)).

use std::os::fd::AsRawFd;

use libc::sock_extended_err;
use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, Timestamps, recvmsg};

/// Memory for the control messages of a message of the queue.
#[derive(Debug)]
pub struct ErrorQueueMemory(Vec<u8>);

/// A message of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueuedMessage {
    /// What it says. `ee_origin` tells errors, stamps and completions apart.
    pub error: Option<sock_extended_err>,
    /// Time stamps.
    pub stamps: Option<Timestamps>,
}

impl Default for ErrorQueueMemory {
    fn default() -> Self {
        // A message includes the address of an error: room for either family.
        Self(cmsg_space!(
            Timestamps,
            sock_extended_err,
            libc::sockaddr_in6
        ))
    }
}

impl ErrorQueueMemory {
    /// Reads a message without waiting.
    ///
    /// # Errors
    /// Returns the error of recvmsg(2): `EAGAIN` if there is none.
    pub fn read(&mut self, socket: &impl AsRawFd) -> nix::Result<QueuedMessage> {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let controls = Some(&mut self.0[..]);
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut [], controls, flags)?;
        let mut read = QueuedMessage::default();
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::ScmTimestampsns(stamps) => read.stamps = Some(stamps),
                ControlMessageOwned::Ipv4RecvErr(error, _)
                | ControlMessageOwned::Ipv6RecvErr(error, _) => read.error = Some(error),
                _ => {}
            }
        }
        Ok(read)
    }
}
