//! Handling of Ctrl-C and other requests to end: the first one ends the sweep in good order, the second one kills.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::low_level::{self, pipe};
use signal_hook::{SigId, flag};

use super::clock;

/// Request to end the program, and a sleep that it interrupts.
#[derive(Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    woken: UnixStream,
    /// The end of the pair that the signal handlers write to.
    waker: UnixStream,
}

/// Flag that tells if the program was asked to end, for code that cannot sleep by an [`Interrupt`]. The default one is
/// never set.
#[derive(Clone, Debug, Default)]
pub struct StopRequested(Arc<AtomicUsize>);

impl StopRequested {
    /// Returns whether the program was asked to end.
    pub fn to_end(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// Time within which several signals are one request: timeout(1) sends each signal to its child, and then to the whole
/// group, which includes the child.
const ONE_REQUEST: Duration = Duration::from_millis(100);

/// Error: the program was asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

impl Interrupt {
    /// Creates an interrupt that nothing triggers.
    ///
    /// # Errors
    /// Fails if no pair of sockets can be made.
    pub fn never() -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        Ok(Self {
            signal: Arc::default(),
            woken,
            waker,
        })
    }

    /// Creates an interrupt for SIGINT, SIGTERM, SIGHUP (the terminal is gone, for instance because ssh dropped) and
    /// SIGXCPU (`ulimit -S -t`).
    ///
    /// A second SIGINT or SIGTERM, 100 ms later or more, ends the process at once. A second SIGHUP or SIGXCPU does not:
    /// the shell and the kernel may both send SIGHUP, and SIGXCPU comes every second. A SIGHUP that is ignored, as
    /// below `nohup`, stays ignored.
    ///
    /// # Errors
    /// Fails if a handler cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::never()?;
        // SIGINT is caught even if it is ignored: a shell script ignores it for what it starts with `&`, and may send
        // it all the same.
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM] {
            end_at_the_second(signal)?;
        }
        for signal in [SIGINT, SIGTERM, SIGXCPU].into_iter().chain(hangup) {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&interrupt.signal), number)?;
            pipe::register(signal, interrupt.waker.try_clone()?)?;
        }
        Ok(interrupt)
    }

    /// Returns a flag for other threads that is set by the signal.
    pub fn asked(&self) -> StopRequested {
        StopRequested(Arc::clone(&self.signal))
    }

    /// Returns the number of the signal that came, if one has.
    pub fn signal(&self) -> Option<usize> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Returns the exit code by which a shell reports a program that the signal ended.
    pub fn exit_code(&self) -> u8 {
        let signal = u8::try_from(self.signal().unwrap_or_default());
        128_u8.saturating_add(signal.unwrap_or_default())
    }

    /// Returns whether the signal was Ctrl-C at a terminal (SIGINT).
    pub fn is_ctrl_c(&self) -> bool {
        self.signal() == usize::try_from(SIGINT).ok()
    }

    /// Returns a descriptor that can be read once a signal has come, for poll(2).
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    /// Sleeps for `duration`.
    ///
    /// # Errors
    /// Returns [`Interrupted`] at once if the signal comes, or has come.
    pub fn sleep(&self, duration: Duration) -> Result<(), Interrupted> {
        let end = Instant::now() + duration;
        let mut watched = [PollFd::new(self.woken.as_fd(), PollFlags::POLLIN)];
        loop {
            if self.signal().is_some() {
                return Err(Interrupted);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            // Errors (EINTR) and wake-ups only lead to the next turn of the loop.
            let _ = ppoll(&mut watched, Some(TimeSpec::from_duration(left)), None);
        }
    }
}

/// When the first request to end came, in nanoseconds of CLOCK_MONOTONIC. 0: it has not come yet.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);

/// Records a signal. Returns whether the first request came at least [`ONE_REQUEST`] before it.
fn came_before() -> bool {
    let now = clock::monotonic_ns();
    let first = FIRST_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    first.is_err_and(|first| Duration::from_nanos(now.saturating_sub(first)) >= ONE_REQUEST)
}

fn end_at_the_second(signal: i32) -> io::Result<SigId> {
    let handler = move || {
        if came_before() {
            low_level::exit(128 + signal);
        }
    };
    #[expect(unsafe_code, reason = "no wrapper knows of time")]
    // SAFETY: to read a clock, to exchange an atomic and to exit are safe in a handler (signal-safety(7)).
    unsafe {
        low_level::register(signal, handler)
    }
}

/// Makes this process survive requests of a terminal, a shell or a service manager to end. It ends by itself.
///
/// # Errors
/// Fails if a signal cannot be caught.
pub fn outlive_requests() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The signals are caught and not ignored: no safe call ignores them, and child processes would inherit that.
        flag::register(signal, Arc::default())?;
    }
    Ok(())
}

/// Returns whether the parent process had the signal ignored (proc_pid_status(5)).
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
