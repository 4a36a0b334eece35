//! An agent on another host, reached through a program such as ssh.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::facts::Facts;
use super::noise::NoGreeting;
use super::remote::Remote;
use super::site::{Site, Sites};
use crate::data::Case;
use crate::sys::interrupt::{Asked, Interrupted};

/// How long the program that carries the messages may take to end once the stream is closed.
const ENDING: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(1);

/// The other host of a sweep. It ends, with all that it runs, when this is dropped, when this process ends, and when it
/// is not heard of for 3 s.
pub struct Far {
    /// `None` while it ends.
    remote: Option<Remote>,
    /// The program that carries the messages. `None` once it has ended.
    carrier: Option<Child>,
    facts: Facts,
}

impl Far {
    /// Starts `carrier`, such as ssh, which is to start an agent. In messages, `name` stands for the host, `shown` for the
    /// command.
    ///
    /// # Errors
    /// When it cannot be started, or no agent of this version answers.
    pub fn start(
        name: &str,
        shown: &str,
        mut carrier: Command,
        asked: &Asked,
    ) -> anyhow::Result<Self> {
        carrier.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = carrier.spawn();
        let mut child = started.with_context(|| format!("cannot start `{shown}`"))?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let mut carrier = Carrier(Some(child));
        let (output, input) = pipes.with_context(|| format!("{name}: it has no pipes"))?;
        let remote = Remote::connect_across(name, output, input, asked);
        let mut remote = remote.map_err(|error| {
            // Otherwise it says itself what is wrong, and ends.
            if error.is::<Interrupted>() {
                carrier.kill();
            }
            if error.is::<NoGreeting>() {
                return no_agent(&error, shown, carrier.end());
            }
            error
        })?;
        let facts = remote.facts()?;
        Ok(Self {
            remote: Some(remote),
            carrier: carrier.0.take(),
            facts,
        })
    }

    /// What it is.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether it is gone.
    pub fn is_lost(&self) -> bool {
        self.remote.as_ref().is_none_or(Remote::is_lost)
    }

    /// Has the next trial run in another process there.
    ///
    /// # Errors
    /// When it is gone.
    pub fn renew(&mut self) -> anyhow::Result<()> {
        self.remote.as_mut().context("it has ended")?.renew()
    }

    /// The sites of a case: it, and the one that is here.
    ///
    /// # Errors
    /// Once it is ending.
    pub fn beside<'a>(
        &'a mut self,
        here: &'a mut dyn Site,
        case: &Case,
    ) -> anyhow::Result<Sites<'a>> {
        let there = self.remote.as_mut().context("it has ended")?;
        Ok(if case.sends_from_there() {
            Sites::Two {
                receivers: here,
                senders: there,
            }
        } else {
            Sites::Two {
                receivers: there,
                senders: here,
            }
        })
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let is_lost = self.is_lost();
        // ssh would wait for a host that is not there any more.
        if let Some(carrier) = self.carrier.as_mut().filter(|_| is_lost) {
            let _ = carrier.kill();
        }
        // The end of its input.
        self.remote = None;
        drop(Carrier(self.carrier.take()));
    }
}

/// A program that ends soon after its streams.
struct Carrier(Option<Child>);

impl Carrier {
    fn kill(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
        }
    }

    /// Waits until it has ended, or ends it.
    fn end(&mut self) -> Option<ExitStatus> {
        let mut child = self.0.take()?;
        let end = Instant::now() + ENDING;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(GLANCE);
        }
        // One that has ended already is not there to be killed.
        let _ = child.kill();
        child.wait().ok()
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.end();
    }
}

/// Says which command has not started an agent, and what to type instead.
fn no_agent(error: &anyhow::Error, shown: &str, status: Option<ExitStatus>) -> anyhow::Error {
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
