//! Creates the command of an agent, and waits for child processes to end.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

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
