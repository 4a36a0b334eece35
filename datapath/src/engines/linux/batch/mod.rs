//! Many datagrams per system call: arrays of `mmsghdr` for sendmmsg(2) and recvmmsg(2).
//!
//! nix also has these calls. But its `MultiHeaders` permanently loses its control messages after a message that came
//! without one, cannot be kept with its receive slices over a loop, costs twice the instructions per datagram, and calls
//! the C library, which [does something else](crate::sys::messages). Raw headers are used only here and in
//! [`super::coalesced`].

mod receive;
mod send;

pub use self::receive::ReceiveBatch;
pub use self::send::{SendBatch, is_full};
