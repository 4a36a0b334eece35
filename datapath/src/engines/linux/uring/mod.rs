//! io_uring(7): batched sends on a registered file, and a multishot receive into a ring of provided buffers.
//!
//! A ring is created on the thread that uses it (SINGLE_ISSUER), and completions are processed only when that thread
//! asks (DEFER_TASKRUN, Linux 6.1). So all CPU time of a bench thread counts as its own. No SQPOLL: on the two or
//! four CPUs of a board, its kernel thread takes a CPU away from a bench thread. No SEND_ZC: it is slower on
//! loopback.

mod pool;
mod receive;
mod send;

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::types::CancelBuilder;
use io_uring::{IoUring, Probe, opcode};

pub use self::receive::ReceiveRing;
pub use self::send::SendRing;
use crate::engine::BatchOutcome;

/// Checks that io_uring works on this machine, with all needed features.
///
/// # Errors
/// Returns the reason why it does not: an old kernel, `kernel.io_uring_disabled`, or a container's seccomp filter.
pub fn probe() -> Result<(), String> {
    let ring = ring(8, 8).map_err(|error| {
        format!("io_uring_setup: {error} (Linux before 6.1, kernel.io_uring_disabled, or seccomp)")
    })?;
    let mut probe = Probe::new();
    let asked = ring.submitter().register_probe(&mut probe);
    asked.map_err(|error| format!("io_uring_register: {error}"))?;
    // SendZc came with Linux 6.0. So did multishot receives, which have no opcode of their own.
    let needed = [
        opcode::Send::CODE,
        opcode::SendMsg::CODE,
        opcode::SendZc::CODE,
    ];
    if needed.into_iter().all(|code| probe.is_supported(code)) {
        Ok(())
    } else {
        Err("no multishot receive (Linux 6.0)".to_owned())
    }
}

fn ring(submissions: usize, completions: usize) -> io::Result<IoUring> {
    let size = |count: usize| u32::try_from(count.next_power_of_two()).unwrap_or(u32::MAX);
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_clamp()
        .setup_cqsize(size(completions.max(submissions)))
        .build(size(submissions))
}

/// Registers the sockets of all endpoints. The socket of endpoint n becomes [`Fixed`](io_uring::types::Fixed) file n.
fn register(ring: &IoUring, sockets: &[UdpSocket]) -> io::Result<()> {
    let files: Vec<RawFd> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
    ring.submitter().register_files(&files)
}

/// Counts one completion.
#[inline]
fn enter(outcome: &mut BatchOutcome, result: i32) {
    if let Ok(length) = u64::try_from(result) {
        outcome.moved.packets += 1;
        outcome.moved.bytes += length;
        return;
    }
    match -result {
        // Found no room, or ended by a signal: the next call repeats these.
        libc::ECANCELED | libc::EAGAIN | libc::EINTR => {}
        errno => {
            outcome.failed += 1;
            outcome.errno = errno;
        }
    }
}

/// Cancels all requests in progress. Each completes once more, with ECANCELED unless it was done.
#[cold]
fn cancel_all(ring: &IoUring) {
    let _ = (ring.submitter()).register_sync_cancel(None, CancelBuilder::any());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::BatchCount;

    #[test]
    fn completions_are_counted_as_what_they_say() {
        let mut outcome = BatchOutcome::default();
        let failures = [libc::ECONNREFUSED, libc::ECANCELED, libc::EPERM];
        let to_be_made_again = [libc::EAGAIN, libc::EINTR];
        let errors = failures.into_iter().chain(to_be_made_again);
        for result in [300, 0].into_iter().chain(errors.map(|errno| -errno)) {
            enter(&mut outcome, result);
        }
        let expected = BatchOutcome {
            moved: BatchCount::of(2, 300),
            failed: 2,
            errno: libc::EPERM,
        };
        assert_eq!(outcome, expected);
    }
}
