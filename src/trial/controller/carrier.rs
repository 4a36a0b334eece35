//! The process at the other end of a controller's pipes: an agent, or the program that carries its messages.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::trial::controller::spawned::EscapedStderr;

/// Time that the process has to end after its streams are closed.
const ENDING: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A started process. It ends soon after its streams are closed; dropping it waits for that.
pub(crate) struct Carrier(Child, Option<EscapedStderr>);

impl Carrier {
    /// Starts a command with pipes for its output and its input. If it has a pipe for its standard error, that is escaped.
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
        let end = Instant::now() + if at_once { Duration::ZERO } else { ENDING };
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(POLL_INTERVAL);
        }
        // Killing fails if the process has already ended.
        let _ = self.0.kill();
        let status = self.0.wait().ok();
        if let Some(stderr) = self.1.take() {
            stderr.finish();
        }
        status
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Returns an error that names the command which started no agent, and what to type instead.
pub(crate) fn no_agent(
    error: &anyhow::Error,
    shown: &str,
    status: Option<ExitStatus>,
) -> anyhow::Error {
    /// Exit code of ssh when it has not reached the host. It has said why.
    const OF_SSH: i32 = 255;
    let ended = match status {
        Some(status) => format!("`{shown}` ended with {status}"),
        None => format!("`{shown}` did not end"),
    };
    match status.and_then(|status| status.code()) {
        Some(OF_SSH) => {
            anyhow!("the host cannot be resolved or reached: {ended}, and says why above")
        }
        _ => anyhow!(
            "{error:#}; {ended}: where udpbench is missing there, let --deploy copy it, or name it by --agent PATH"
        ),
    }
}
