//! Processes and threads that are started, and waits for them: agents, the programs that carry their messages, and
//! others.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::escape;

/// Path of this program, even after its file was replaced.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// Returns the command `program agent`, which reads sensors below `root`, and if asked has a loopback of its own.
pub(crate) fn agent_command(program: &Path, root: &Root, own_loopback: bool) -> Command {
    let mut command = Command::new(program);
    // Name in lists of processes.
    command.arg0("udpbench").arg("agent");
    if !root.is_real() {
        command.arg("--root").arg(root.path(""));
    }
    if own_loopback {
        command.arg("--own-loopback");
    }
    command
}

/// Starts a thread with this name.
///
/// # Errors
/// Fails if the system refuses it.
pub(crate) fn start_thread<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).context("cannot start a thread")
}

/// Waits for more input, or its end. Returns `false` if neither came before `until`.
///
/// # Errors
/// Returns the error of the system call.
pub(crate) fn wait_for_input(input: &impl AsFd, until: Option<Instant>) -> anyhow::Result<bool> {
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

/// Passes on what a program of another host says to standard error, escaped: it must not steer the terminal here.
#[derive(Debug)]
pub struct EscapedStderr {
    /// Closed once all is passed on.
    ended: Receiver<()>,
}

impl EscapedStderr {
    /// Begins to pass on what a child process writes to the pipe of its standard error. `None`: it has no such pipe.
    pub fn of(child: &mut Child) -> Option<Self> {
        let mut pipe = child.stderr.take()?;
        let (is_open, ended) = mpsc::channel();
        thread::spawn(move || {
            let _is_open: mpsc::Sender<()> = is_open;
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                let said = String::from_utf8_lossy(&buffer[..length]).replace("\r\n", "\n");
                // Nobody else can be told.
                let _ = io::stderr().write_all(escape::text(&said).as_bytes());
            }
        });
        Some(Self { ended })
    }

    /// Waits until all is passed on after the process has ended. A child of it may hold the pipe open.
    pub fn finish(&self) {
        const MOST: Duration = Duration::from_millis(500);
        let _ = self.ended.recv_timeout(MOST);
    }
}

/// Waits until a child process has ended, for this time at most. Returns whether it has.
pub(crate) fn ends_within(child: &mut Child, time: Duration) -> bool {
    let end = Instant::now() + time;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(1)),
            ended => return !matches!(ended, Ok(None)),
        }
    }
}

/// Waits until a child process has ended, and returns its status. If this program is asked to end meanwhile, kills the
/// child after half a second.
///
/// # Errors
/// Fails if this program is asked to end, or if the child cannot be waited for.
pub fn wait_or_kill(mut child: Child, interrupt: &Interrupt) -> anyhow::Result<ExitStatus> {
    /// Time that the child has to end by itself: it also received Ctrl-C.
    const AFTER_REQUEST: Duration = Duration::from_millis(500);
    const LOOK: Duration = Duration::from_millis(10);
    let mut end = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt.sleep(LOOK).is_ok() {
            continue;
        }
        let end = *end.get_or_insert_with(|| Instant::now() + AFTER_REQUEST);
        if Instant::now() >= end {
            let _ = child.kill();
            let _ = child.wait();
            bail!(Interrupted);
        }
        thread::sleep(LOOK);
    }
}

/// Time that the process has to end after its streams are closed.
const ENDING: Duration = Duration::from_secs(3);

/// A started process. It ends soon after its streams are closed; dropping it waits for that.
pub(crate) struct MessageCarrier(Child, Option<EscapedStderr>);

impl MessageCarrier {
    /// Starts a command with pipes for its output and its input. If it has a pipe for its standard error, that is
    /// escaped.
    ///
    /// # Errors
    /// Fails if the command cannot be started.
    pub(crate) fn start(
        mut command: Command,
    ) -> anyhow::Result<(
        Self,
        impl Read + Send + 'static,
        impl Write + Send + 'static,
    )> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let pipes = process.stdout.take().zip(process.stdin.take());
        let (output, input) = pipes.context("it has no pipes")?;
        let stderr = EscapedStderr::of(&mut process);
        Ok((Self(process, stderr), output, input))
    }

    /// Waits until the process has ended; kills it if it has not ended in time, or `at_once`.
    pub(crate) fn end(&mut self, at_once: bool) -> Option<ExitStatus> {
        ends_within(&mut self.0, if at_once { Duration::ZERO } else { ENDING });
        // Killing fails if the process has already ended.
        let _ = self.0.kill();
        let status = self.0.wait().ok();
        if let Some(stderr) = self.1.take() {
            stderr.finish();
        }
        status
    }
}

impl Drop for MessageCarrier {
    fn drop(&mut self) {
        self.end(false);
    }
}
