//! Waking a lane that sleeps in a system call, without a datagram that the books would have to explain.
//!
//! A signal with an empty handler ends any wait (`recv`, `epoll_wait`, `ppoll`, ...) with `EINTR`. It
//! works on connected and unconnected sockets, on full and on empty queues, and leaves no trace.
//! Roads not taken: a sentinel datagram can be dropped, has to be discounted, and cannot be aimed at one
//! receiver of a `SO_REUSEPORT` group; after `shutdown(SHUT_RD)` std's `recv_from` panics or fails, as
//! no address comes back; `SO_RCVTIMEO` arms a timer at every wait, within the measurement.

use std::io;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

const WAKEUP: Signal = Signal::SIGUSR1;

extern "C" fn do_nothing(_signal: libc::c_int) {}

/// Installs the empty handler, once per process.
///
/// # Errors
/// What `sigaction(2)` said.
pub fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), Errno>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        // No SA_RESTART: the point is that the system call ends.
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

/// Keeps wakeups from the calling thread, for a library that starts its wait anew after each of them: with
/// one every 100 us, a wait of any length would never end. Its lane wakes by itself from time to time.
///
/// # Errors
/// What `pthread_sigmask(3)` said.
pub fn block() -> io::Result<()> {
    let mut signals = SigSet::empty();
    signals.add(WAKEUP);
    Ok(signals.thread_block()?)
}

/// Ends the wait of the thread `tid` of this process, if it is in one. A thread that is about to wait
/// may miss it: repeat until the thread shows that it has seen its stop flag.
pub fn interrupt(tid: i32) {
    // Not pthread_kill(3): std and libc do not agree on what a pthread_t is on musl.
    #[expect(unsafe_code, reason = "no wrapper has tgkill")]
    // SAFETY: tgkill(2) takes three integers and touches no memory. A thread that has ended, and whose id
    // may have gone to another one of this process, at worst costs that one an EINTR.
    unsafe {
        libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, WAKEUP as libc::c_int)
    };
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_nudge_ends_a_blocked_receive() {
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
