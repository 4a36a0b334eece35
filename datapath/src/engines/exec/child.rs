//! One process of a program: its start, its output and its end.

#![expect(unsafe_code, reason = "what happens between fork and exec")]

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{self, Signal};
use nix::sys::time::TimeSpec;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getppid, pipe2};

use crate::engine::lock;
use crate::sys::processes;
use crate::sys::scheduling::{self, Class};

/// Descriptors of the program: its socket and the page.
const SOCKET: i32 = 3;
const PAGE: i32 = 4;

/// Most of the program's last output that a message quotes, in bytes.
const QUOTED_BYTES: usize = 400;

/// Environment variable that all processes of a program inherit, also those that leave its process group. Its value
/// begins with this process's own, and differs between programs.
const MARK: &str = "UDPBENCH_PROGRAM";

/// Lock for the start of a program.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Kills all processes of all programs, and lets no other program start in this process, which is about to end.
pub fn end_all() {
    // Never opened again: a trial may still be starting its programs.
    mem::forget(lock(&ONE_AT_A_TIME));
    kill_marked(&mark_of_this_process());
}

/// Kills the processes whose mark begins like this, until there are none.
fn kill_marked(mark: &str) {
    /// A program that starts others faster than they are killed is not waited for.
    const TRIES: usize = 100;
    for _ in 0..TRIES {
        let mut marked = processes::with_variable(MARK, mark).peekable();
        if marked.peek().is_none() {
            return;
        }
        for pid in marked {
            let _ = signal::kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the beginning of the marks of this process's programs. A number alone could be that of an earlier process.
fn mark_of_this_process() -> String {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| fastrand::u64(..));
    format!("{}-{:x}.", process::id(), *RANDOM)
}

/// A running process. Dropping it kills it, and all processes that it has started.
#[derive(Debug)]
pub(super) struct Child {
    path: PathBuf,
    process: process::Child,
    mark: String,
    /// Its standard output and standard error, until it closes both.
    output: Option<File>,
    /// The end of its output so far.
    said: Vec<u8>,
    status: Option<ExitStatus>,
}

impl Child {
    /// Starts the program in a process group of its own. The kernel kills it when this thread ends. It runs in this
    /// scheduling class, which is never above this thread's.
    ///
    /// # Errors
    /// Fails if the program cannot be executed. The message names it.
    pub(super) fn start(
        path: &Path,
        [socket, page]: [BorrowedFd; 2],
        class: Option<(Class, u8)>,
    ) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}{count}.", mark_of_this_process());
        let wrong = |error: io::Error| {
            let message = format!("cannot start {}: {error}", path.display());
            io::Error::new(error.kind(), message)
        };
        let (output, into) = pipe2(OFlag::O_CLOEXEC).map_err(|errno| wrong(errno.into()))?;
        fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let mut command = Command::new(path);
        command
            .stdin(Stdio::null())
            .stdout(into.try_clone()?)
            .stderr(into)
            .env(MARK, &mark)
            .process_group(0);
        let given = [(socket.as_raw_fd(), SOCKET), (page.as_raw_fd(), PAGE)];
        let parent = Pid::this();
        // SAFETY: the closure makes system calls only, all of them async-signal-safe, and allocates nothing.
        unsafe { command.pre_exec(move || prepare(given, parent, class)) };
        let process = {
            // Otherwise std's own pipe to the child might be one of the descriptors that are replaced there.
            let _one = lock(&ONE_AT_A_TIME);
            let _taken = [reserve(socket)?, reserve(socket)?];
            command.spawn().map_err(wrong)?
        };
        Ok(Self {
            path: path.to_owned(),
            process,
            mark,
            output: Some(output.into()),
            said: Vec::new(),
            status: None,
        })
    }

    /// Returns the process ID.
    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.process.id()).expect("a kernel's process IDs are below 2^22")
    }

    /// Waits for `duration`, or until the program says something, ends, or a signal arrives. Returns whether it has
    /// ended.
    pub(super) fn wait(&mut self, duration: Duration) -> bool {
        let output = self.output.iter();
        let polled = output.map(|output| PollFd::new(output.as_fd(), PollFlags::POLLIN));
        let mut polled: Vec<PollFd> = polled.collect();
        // After an error (EINTR), the caller looks again.
        let _ = ppoll(&mut polled, Some(TimeSpec::from_duration(duration)), None);
        self.listen();
        self.has_ended()
    }

    /// Returns whether the process has ended. Its ID stays taken until [`Child::finish`].
    pub(super) fn has_ended(&self) -> bool {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let state = waitid(Id::Pid(Pid::from_raw(self.pid())), flags);
        self.status.is_some() || !matches!(state, Ok(WaitStatus::StillAlive) | Err(Errno::EINTR))
    }

    /// Returns whether the program has started other processes that run: their CPU time is not that of this one.
    pub(super) fn has_company(&self) -> bool {
        processes::with_variable(MARK, &self.mark).any(|pid| pid != self.pid())
    }

    /// Waits until the process has ended, for `most` at most. Returns whether it has.
    pub(super) fn wait_for_exit(&mut self, most: Duration) -> bool {
        let end = Instant::now() + most;
        while !self.has_ended() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.wait(left.min(Duration::from_millis(1)));
        }
        true
    }

    /// Asks the process to end.
    pub(super) fn terminate(&self) {
        let _ = signal::kill(Pid::from_raw(self.pid()), Signal::SIGTERM);
    }

    /// Kills whatever is left of the program, and returns how its process ended.
    pub(super) fn finish(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        // Before it is waited for: afterwards its ID may be another process's.
        let _ = signal::killpg(Pid::from_raw(self.pid()), Signal::SIGKILL);
        let status = self.process.wait()?;
        kill_marked(&self.mark);
        self.listen();
        self.status = Some(status);
        Ok(status)
    }

    /// Returns an error that says what the program did, how it ended, and what it said last.
    pub(super) fn error(&mut self, did: &str) -> io::Error {
        let ended = self.has_ended().then(|| self.finish());
        // Whoever still runs is ended here, which says nothing about the program.
        let _ = self.finish();
        let how = match ended {
            Some(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        let said = String::from_utf8_lossy(&self.said);
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        let said = lines.collect::<Vec<_>>().join(" / ");
        let colon = if said.is_empty() { "" } else { ": " };
        io::Error::other(format!("{} {did}{how}{colon}{said}", self.path.display()))
    }

    fn listen(&mut self) {
        /// Reads per call: a program that never stops talking must not hold up the thread.
        const READS: usize = 64;
        let Some(output) = &mut self.output else {
            return;
        };
        let mut buffer = [0; 1024];
        for _ in 0..READS {
            match output.read(&mut buffer) {
                Ok(0) => {
                    self.output = None;
                    return;
                }
                Ok(read) => {
                    self.said.extend(&buffer[..read]);
                    let surplus = self.said.len().saturating_sub(QUOTED_BYTES);
                    self.said.drain(..surplus);
                }
                // Nothing more for now.
                Err(_) => return,
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Takes the lowest free descriptor from [`SOCKET`] on.
fn reserve(any: BorrowedFd) -> io::Result<OwnedFd> {
    let fd = fcntl(any, FcntlArg::F_DUPFD_CLOEXEC(SOCKET))?;
    // SAFETY: fcntl has just made it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Runs in the new process, before the program does: puts the descriptors in their places, and ties the process to the
/// life of the thread that starts it.
fn prepare(given: [(i32, i32); 2], parent: Pid, class: Option<(Class, u8)>) -> io::Result<()> {
    if let Some((class, priority)) = class {
        scheduling::set_class(class, priority)?;
    }
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != parent {
        // The parent ended before the line above.
        return Err(io::ErrorKind::Interrupted.into());
    }
    // Above both places first: one of them may be the other's.
    let above = given.map(|(from, to)| {
        // SAFETY: takes and returns integers.
        let copy = unsafe { libc::fcntl(from, libc::F_DUPFD_CLOEXEC, PAGE + 1) };
        (copy, to)
    });
    for (from, to) in above {
        // SAFETY: takes and returns integers. What had this descriptor in this process is not needed any more.
        Errno::result(unsafe { libc::dup2(from, to) })?;
    }
    // Nothing else is inherited. Kernels before 5.11 lack it; what matters is marked by whoever opened it.
    // SAFETY: takes integers and touches no memory of this process.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            PAGE + 1,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    Ok(())
}
