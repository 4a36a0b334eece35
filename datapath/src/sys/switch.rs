//! Socket options that no wrapper knows.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use libc::socklen_t;
use nix::errno::Errno;

/// Sets an option of a socket.
///
/// # Errors
/// Returns the error of setsockopt(2).
pub(crate) fn set<T>(socket: &impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let bytes = socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    let (fd, value) = (socket.as_fd().as_raw_fd(), ptr::from_ref(value));
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel copies `bytes` bytes from a valid address.
    let outcome = unsafe { libc::setsockopt(fd, level, name, value.cast::<c_void>(), bytes) };
    Ok(Errno::result(outcome).map(drop)?)
}

/// Returns the number that an option of a socket has.
///
/// # Errors
/// Returns the error of getsockopt(2).
pub(crate) fn number_of(socket: &impl AsFd, level: c_int, name: c_int) -> io::Result<u32> {
    let [number] = numbers_of(socket, level, name)?;
    Ok(number)
}

/// Returns the numbers that an option of a socket has.
///
/// # Errors
/// Returns the error of getsockopt(2), or `Unsupported` if the kernel has fewer numbers.
pub(crate) fn numbers_of<const N: usize>(
    socket: &impl AsFd,
    level: c_int,
    name: c_int,
) -> io::Result<[u32; N]> {
    let mut numbers = [0; N];
    let most = socklen_t::try_from(size_of_val(&numbers)).map_err(io::Error::other)?;
    let mut bytes = most;
    let (fd, memory) = (socket.as_fd().as_raw_fd(), numbers.as_mut_ptr());
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel writes at most `bytes` bytes, which `numbers` has (getsockopt(2)).
    let outcome =
        unsafe { libc::getsockopt(fd, level, name, memory.cast::<c_void>(), &raw mut bytes) };
    Errno::result(outcome)?;
    if bytes < most {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(numbers)
}
