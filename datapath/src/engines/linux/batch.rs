//! Many datagrams per system call: arrays of `mmsghdr` for sendmmsg(2) and recvmmsg(2).
//!
//! nix has these calls, too, but its `MultiHeaders` loses its control messages for ever after a message
//! that came without one, cannot be kept with its receive slices over a loop, and costs twice as many
//! instructions per datagram. Only here and in [`super::coalesced`] are raw headers kept.

mod receive;
mod send;

use std::mem;

use libc::{c_uint, mmsghdr};

pub use self::receive::ReceiveBatch;
pub use self::send::{SendBatch, is_full};

/// The kernel takes no more than 1024 anyway (UIO_MAXIOV).
#[inline]
fn length(headers: &[mmsghdr]) -> c_uint {
    c_uint::try_from(headers.len()).unwrap_or(c_uint::MAX)
}

/// musl's has fields of padding that no literal can name.
pub(super) fn empty_header() -> mmsghdr {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers and pointers, for which zeros are valid.
    unsafe {
        mem::zeroed()
    }
}
