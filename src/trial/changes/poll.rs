//! Waits for input with a time limit.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Waits for more input, or its end. Returns `false` if neither came before `until`.
///
/// # Errors
/// Returns the error of the system call.
pub(super) fn wait_for_input(input: &impl AsFd, until: Option<Instant>) -> anyhow::Result<bool> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // One more millisecond: a wait that is rounded down would spin.
        let timeout = left.map(|left| PollTimeout::try_from(left + Duration::from_millis(1)));
        let timeout = timeout.map_or(PollTimeout::NONE, |it| it.unwrap_or(PollTimeout::MAX));
        let mut watched = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        match poll(&mut watched, timeout) {
            Ok(0) if left == Some(Duration::ZERO) => return Ok(false),
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
