//! An agent that this process has started, on this host.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::remote::Remote;
use super::site::Site;
use crate::sys::files::Root;
use crate::sys::interrupt::{Asked, Interrupt, Interrupted};

/// How long an agent may take to end once nobody speaks to it any more: its threads stop within milliseconds.
const ENDING: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(1);

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
    // Ctrl-C goes to all processes of a terminal's group: this one decides what becomes of a window then.
    command.process_group(0);
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

/// A process of its own, with memory of its own. It ends when this is dropped, or when this process does.
pub struct Spawned {
    child: Child,
    /// `None` while it ends.
    remote: Option<Remote>,
}

impl Spawned {
    /// Starts `program agent`, which reads sensors below `root`; `name` stands for it in messages.
    /// `None`: it is the only one. Once this program is `asked` to end, it is not waited for.
    ///
    /// # Errors
    /// When it cannot be started, or is no udpbench that speaks as this one does.
    pub fn start(
        name: Option<&str>,
        program: &Path,
        root: &Root,
        asked: &Asked,
    ) -> anyhow::Result<Self> {
        let mut command = agent(program, root);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let who = name.map_or(String::new(), |name| format!("{name}: "));
        let mut child =
            started.with_context(|| format!("{who}cannot start {}", program.display()))?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let mut spawned = Self {
            child,
            remote: None,
        };
        let (output, input) = pipes.with_context(|| format!("{who}it has no pipes"))?;
        let remote = Remote::connect(name, output, input, asked);
        spawned.remote = Some(remote.with_context(|| program.display().to_string())?);
        Ok(spawned)
    }

    /// What version it is of.
    pub fn version(&self) -> &str {
        self.remote.as_ref().map_or("", Remote::version)
    }

    /// The site that it is.
    ///
    /// # Errors
    /// Once it is ending.
    pub fn site(&mut self) -> anyhow::Result<&mut dyn Site> {
        Ok(self.remote.as_mut().context("the agent has ended")?)
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // One that does not answer does not end by itself, either.
        let answers = self.remote.as_ref().is_some_and(|remote| !remote.is_lost());
        // The end of its input.
        self.remote = None;
        let end = Instant::now() + if answers { ENDING } else { Duration::ZERO };
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(GLANCE);
        }
        // One that has ended already is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
