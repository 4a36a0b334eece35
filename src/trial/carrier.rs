//! The process at the other end of a controller's pipes: an agent, or the program that carries its messages.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

/// How long it may take to end once its streams are closed.
const ENDING: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(1);

/// One that was started. It ends soon after its streams; dropping it waits for that.
pub(super) struct Carrier(Child);

impl Carrier {
    /// Starts it with pipes for its output and its input.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(
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
        Ok((Self(process), output, input))
    }

    /// Waits until it has ended, or ends it: `at_once`, or after a while.
    pub(super) fn end(&mut self, at_once: bool) -> Option<ExitStatus> {
        let end = Instant::now() + if at_once { Duration::ZERO } else { ENDING };
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(GLANCE);
        }
        // One that has ended already is not there to be killed.
        let _ = self.0.kill();
        self.0.wait().ok()
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Says which command has not started an agent, and what to type instead.
pub(super) fn no_agent(
    error: &anyhow::Error,
    shown: &str,
    status: Option<ExitStatus>,
) -> anyhow::Error {
    /// That of ssh when it has not reached the host, of which it says why.
    const OF_SSH: i32 = 255;
    let ended = match status {
        Some(status) => format!("`{shown}` ended with {status}"),
        None => format!("`{shown}` did not end"),
    };
    let fix = match status.and_then(|status| status.code()) {
        Some(OF_SSH) => "what it said is above",
        _ => "where udpbench is missing there, let --deploy copy it, or name it by --agent PATH",
    };
    anyhow!("{error:#}; {ended}: {fix}")
}
