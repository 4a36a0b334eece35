//! Socket options that are numbers and that no wrapper knows.

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
    set_number(socket, level, name, 1)
}

/// Sets an option of a socket to a number.
///
/// # Errors
/// Returns the error of setsockopt(2).
pub(crate) fn set_number(
    socket: &impl AsFd,
    level: c_int,
    name: c_int,
    number: c_int,
) -> io::Result<()> {
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel reads an `int` at a valid address.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(&number).cast::<c_void>(),
            INT_BYTES,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns the number that an option of a socket has.
///
/// # Errors
/// Returns the error of getsockopt(2).
pub(crate) fn number_of(socket: &impl AsFd, level: c_int, name: c_int) -> io::Result<c_int> {
    let (mut number, mut bytes): (c_int, _) = (0, INT_BYTES);
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel writes at most `bytes` bytes, an `int`, to a valid address.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw mut number).cast::<c_void>(),
            &raw mut bytes,
        )
    };
    if outcome == 0 {
        Ok(number)
    } else {
        Err(io::Error::last_os_error())
    }
}
