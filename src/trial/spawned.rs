//! Programs that this one starts.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// This program, also once its file was replaced.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// `program agent`, which reads sensors below `root`.
pub(super) fn agent(program: &Path, root: &Root) -> Command {
    let mut command = Command::new(program);
    // As it is to be seen among processes.
    command.arg0("udpbench").arg("agent");
    if !root.is_real() {
        command.arg("--root").arg(root.path(""));
    }
    command
}

/// Waits until a program has ended. It is ended when this one is asked to.
///
/// # Errors
/// That, or when it cannot be waited for.
pub fn ended(mut child: Child, interrupt: &Interrupt) -> anyhow::Result<ExitStatus> {
    /// Ctrl-C has come to the program, too, which may end by itself.
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
