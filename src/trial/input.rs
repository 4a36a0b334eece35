//! Waits for input with a time limit.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

/// Waits for more input, or its end. Returns `false` if neither came before `until`.
///
/// # Errors
/// Returns the error of the system call.
pub(super) fn wait_for_input(input: &impl AsFd, until: Option<Instant>) -> anyhow::Result<bool> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let mut watched = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut watched, left.map(TimeSpec::from_duration), None) {
            Ok(0) if left == Some(Duration::ZERO) => return Ok(false),
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
