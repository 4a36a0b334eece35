//! io_uring(7): batched sends on a registered file, with or without a copy, and a multishot receive into a ring of
//! provided buffers.
//!
//! A ring is created on the thread that uses it (SINGLE_ISSUER), and completions are processed only when that thread
//! asks (DEFER_TASKRUN, Linux 6.1). So all CPU time of a bench thread counts as its own. No SQPOLL: on the two or
//! four CPUs of a board, its kernel thread takes a CPU away from a bench thread.

mod pool;
mod receive;
mod send;
mod zero_copy;

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::types::CancelBuilder;
use io_uring::{IoUring, Probe, cqueue, opcode};
use nix::sys::resource::{Resource, getrlimit};

pub use self::receive::ReceiveRing;
pub use self::send::SendRing;
pub use self::zero_copy::ZeroCopySendRing;
use crate::engine::payload::Fill;
use crate::engine::{About, BatchOutcome, Endpoint, IoOptions, Remark};

/// A ring that sends.
pub trait Outgoing: Send + Sized + 'static {
    /// Description of the engine that sends with it.
    const ABOUT: About;

    /// Creates a ring over these endpoints.
    ///
    /// # Errors
    /// Fails if the kernel gives no ring, or locks no memory.
    fn open(endpoints: &[Endpoint], options: &IoOptions) -> io::Result<Self>;

    /// Sends a batch and waits until the kernel has taken all of it.
    ///
    /// # Errors
    /// Returns the error of the ring. Fails with `Interrupted` if a signal came before the first datagram was sent.
    fn send(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchOutcome>;

    /// Returns a remark on the run.
    fn remark(&self) -> Remark {
        None
    }

    /// Checks that this machine has such rings.
    ///
    /// # Errors
    /// Returns the reason why it does not.
    fn probe() -> Result<(), String> {
        probe()
    }
}

/// Checks that io_uring works on this machine, with all needed features.
///
/// # Errors
/// Returns the reason why it does not: an old kernel, `kernel.io_uring_disabled`, or a container's seccomp filter.
pub fn probe() -> Result<(), String> {
    let ring = ring(8, 8).map_err(|error| match error.raw_os_error() {
        None => error.to_string(),
        Some(_) => format!(
            "io_uring_setup: {error} (Linux before 6.1, kernel.io_uring_disabled, or seccomp)"
        ),
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
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_clamp()
        .setup_cqsize(size(completions.max(submissions)))
        .build(size(submissions));
    ring.map_err(|error| locked_memory(error, "a ring of io_uring"))
}

/// Replaces ENOMEM by a text that names the limit of locked memory, and what to do.
#[cold]
fn locked_memory(error: io::Error, what: &str) -> io::Error {
    if error.raw_os_error() != Some(libc::ENOMEM) {
        return error;
    }
    let limit = getrlimit(Resource::RLIMIT_MEMLOCK).map_or(0, |(soft, _)| soft);
    io::Error::new(
        error.kind(),
        format!(
            "the kernel refuses to lock {what}, as the limit is {} kB for all threads: use sudo, or sudo setcap \
             cap_ipc_lock=ep PATH-OF-udpbench, or raise memlock in /etc/security/limits.conf (ulimit -l unlimited)",
            limit / 1024
        ),
    )
}

/// Registers the sockets of all endpoints. The socket of endpoint n becomes [`Fixed`](io_uring::types::Fixed) file n.
fn register(ring: &IoUring, endpoints: &[Endpoint]) -> io::Result<()> {
    let files = endpoints.iter().map(|it| it.socket.as_raw_fd());
    ring.submitter()
        .register_files(&files.collect::<Vec<RawFd>>())
}

/// Waits until the kernel has taken all `under_way` sends. `is_result` takes each completion and returns whether it is
/// the result of a send.
///
/// Sends do not block on loopback, unless its queueing discipline holds datagrams back. A signal then ends the
/// wait: sends that are not done by then are canceled, so that every datagram that was sent is counted.
///
/// # Errors
/// Returns the error of the ring; the next call counts the requests that are still in progress. Fails with
/// `Interrupted` if a signal came before the first datagram was sent.
#[inline]
fn complete(
    ring: &mut IoUring,
    under_way: &mut usize,
    mut is_result: impl FnMut(&cqueue::Entry) -> bool,
) -> io::Result<BatchOutcome> {
    let mut outcome = BatchOutcome::default();
    while *under_way > 0 {
        let waited = ring.submit_and_wait(*under_way);
        for completion in ring.completion() {
            if is_result(&completion) {
                *under_way -= 1;
                enter(&mut outcome, completion.result());
            }
        }
        match waited {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => cancel_all(ring),
            Err(error) if outcome == BatchOutcome::default() => return Err(error),
            // The next call meets the same error again.
            Err(_) => return Ok(outcome),
        }
    }
    if outcome == BatchOutcome::default() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    Ok(outcome)
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
