//! Many datagrams per system call: arrays of `mmsghdr` for sendmmsg(2) and recvmmsg(2).
//!
//! nix also has these calls. But its `MultiHeaders` permanently loses its control messages after a message that came
//! without one, cannot be kept with its receive slices over a loop, and costs twice the instructions per datagram.
//! Raw headers are used only here and in [`super::coalesced`].

mod receive;
mod send;

use std::mem;

use libc::{c_uint, mmsghdr};

pub use self::receive::ReceiveBatch;
pub use self::send::{SendBatch, is_full};

/// Returns the number of headers for a system call. [`Batch::MAX`](crate::data::Batch::MAX) limits it.
#[inline]
fn length(headers: &[mmsghdr]) -> c_uint {
    c_uint::try_from(headers.len()).unwrap_or(c_uint::MAX)
}

/// Returns a header of zeros. A literal is not possible, since musl's type has private padding.
pub(super) fn empty_header() -> mmsghdr {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers and pointers, for which zeros are valid.
    unsafe {
        mem::zeroed()
    }
}
