//! Wakes a bench thread that sleeps in a system call, without a datagram that the accounting would have to explain.
//!
//! A signal with an empty handler ends any wait (`recv`, `epoll_wait`, `ppoll`, ...) with `EINTR`. It works on
//! connected and unconnected sockets, on full and on empty queues, and leaves no trace.
//!
//! Alternatives and their problems:
//! - A sentinel datagram can be dropped, has to be discounted, and cannot be aimed at one receiver of a `SO_REUSEPORT`
//!   group.
//! - After `shutdown(SHUT_RD)`, std's `recv_from` panics or fails, as no address comes back.
//! - `SO_RCVTIMEO` arms a timer at every wait, within the measurement.

use std::io;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

const WAKEUP: Signal = Signal::SIGUSR1;

extern "C" fn do_nothing(_signal: libc::c_int) {}

/// Installs the empty handler, once per process.
///
/// # Errors
/// Returns the error of `sigaction(2)`.
pub fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), Errno>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        // No SA_RESTART: the system call has to end.
        let action = SigAction::new(
            SigHandler::Handler(do_nothing),
            SaFlags::empty(),
            SigSet::empty(),
        );
        #[expect(unsafe_code, reason = "sigaction has no safe form")]
        // SAFETY: the handler does nothing, so it is async-signal-safe (signal-safety(7)).
        unsafe { sigaction(WAKEUP, &action) }.map(drop)
    });
    (*installed).map_err(io::Error::from)
}

/// Blocks wakeups for the calling thread. Meant for a library that restarts its wait after each of them: with one
/// wakeup every 100 us, while the coordinator repeats it, its wait would never end. The thread has to wake by itself
/// from time to time.
///
/// # Errors
/// Returns the error of `pthread_sigmask(3)`.
pub fn block() -> io::Result<()> {
    let mut signals = SigSet::empty();
    signals.add(WAKEUP);
    Ok(signals.thread_block()?)
}

/// Ends the wait of the thread `tid` of this process, if it waits. A thread that is about to wait may miss it: repeat
/// the call until the thread has seen its stop flag.
pub fn interrupt(tid: i32) {
    // Not pthread_kill(3): std and libc disagree about the type pthread_t on musl.
    #[expect(unsafe_code, reason = "no wrapper has tgkill")]
    // SAFETY: tgkill(2) takes three integers and touches no memory. If the thread has ended and another thread of this
    // process has its id by now, that thread gets an EINTR at worst.
    unsafe {
        libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, WAKEUP as libc::c_int)
    };
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_wakeup_ends_a_blocked_receive() {
        install().expect("sigaction works");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            sender
                .send(nix::unistd::gettid().as_raw())
                .expect("the receiver exists");
            socket.recv_from(&mut [0; 1]).map(drop)
        });
        let tid = receiver.recv().expect("it says its id");
        while !thread.is_finished() {
            interrupt(tid);
            std::thread::yield_now();
        }
        let outcome = thread.join().expect("no panic");
        assert_eq!(
            outcome.expect_err("nothing was sent").kind(),
            io::ErrorKind::Interrupted
        );
    }
}
