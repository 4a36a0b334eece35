//! Socket options that are on or off and that no wrapper knows.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Length of an `int`.
const INT_BYTES: libc::socklen_t = 4;

/// Switches an option of a socket on.
///
/// # Errors
/// Returns the error of setsockopt(2).
pub(crate) fn switch_on(socket: &impl AsFd, level: c_int, name: c_int) -> io::Result<()> {
    let on: c_int = 1;
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel reads an `int` at a valid address.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(&on).cast::<c_void>(),
            INT_BYTES,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
