//! An agent, seen from the controller: a process on this host, or on another one behind a program such as ssh.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use serde::de::{DeserializeOwned, IgnoredAny};

use super::carrier::{Carrier, no_agent};
use super::facts::Facts;
use super::message::{self, Answer, Hello, Request};
use super::noise::{NoGreeting, expect_magic};
use super::pulse::{Heard, Output, Pulse};
use super::spawned;
use super::spec::TrialSpec;
use crate::VERSION;
use crate::data::Sample;
use crate::sys::files::Root;
use crate::sys::interrupt::{Asked, Interrupted};

/// Nothing that is asked takes so long, on however slow a board, besides the trial itself: it is stuck.
const LONGEST_ANSWER: Duration = Duration::from_secs(30);
/// How often a wait for an answer looks for a signal.
const LOOK: Duration = Duration::from_millis(100);

/// What stands for the only one in messages about itself.
const NAMELESS: &str = "the agent";

/// Dropping it closes the streams, which ends the agent and whatever it does.
pub struct Agent {
    /// `None`: it is the only one.
    name: Option<String>,
    version: String,
    /// `None` once something went wrong: an answer that comes late would be taken for that to the next
    /// request.
    output: Option<Output>,
    answers: Receiver<anyhow::Result<Vec<u8>>>,
    heard: Heard,
    /// Of an agent on another host.
    pulse: Option<Pulse>,
    asked: Asked,
    /// The agent, or the program that carries its messages. `None`: somebody else has started it.
    process: Option<Carrier>,
}

impl Agent {
    /// Starts `program agent` on this host, which reads sensors below `root`. Once this program is `asked` to end, it is not
    /// waited for.
    ///
    /// # Errors
    /// When it cannot be started, or is no udpbench that speaks as this one does.
    pub fn start(program: &Path, root: &Root, asked: &Asked) -> anyhow::Result<Self> {
        let mut command = spawned::agent(program, root);
        // Ctrl-C goes to all processes of a terminal's group: this one decides what becomes of a trial then.
        command.process_group(0);
        let (process, input, output) = Carrier::start(command)
            .with_context(|| format!("cannot start {}", program.display()))?;
        let agent = Self::connect(None, input, output, asked);
        let mut agent = agent.with_context(|| program.display().to_string())?;
        agent.process = Some(process);
        Ok(agent)
    }

    /// Starts `carrier`, such as ssh, which is to start an agent on another host. In messages, `name` stands for the host,
    /// `shown` for the command. From now on, both ends notice within 3 s when the other one is gone.
    ///
    /// # Errors
    /// When it cannot be started, or no agent of this version answers.
    pub fn reach(name: &str, shown: &str, carrier: Command, asked: &Asked) -> anyhow::Result<Self> {
        let started = Carrier::start(carrier);
        let (mut process, input, output) =
            started.with_context(|| format!("cannot start `{shown}`"))?;
        match Self::connect_across(name, input, output, asked) {
            Ok(mut agent) => {
                agent.process = Some(process);
                Ok(agent)
            }
            Err(error) => {
                // Otherwise it says itself what is wrong, and ends.
                let status = process.end(error.is::<Interrupted>());
                Err(if error.is::<NoGreeting>() {
                    no_agent(&error, shown, status)
                } else {
                    error
                })
            }
        }
    }

    /// Connects to the agent that `name` stands for in messages (`None`: it is the only one), by its standard output and input.
    ///
    /// # Errors
    /// When no agent answers, or one that speaks otherwise.
    pub fn connect(
        name: Option<&str>,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        asked: &Asked,
    ) -> anyhow::Result<Self> {
        let (agent, _) = Self::connect_as(&Hello::here(), name, (input, output), asked)?;
        Ok(agent)
    }

    /// The same to an agent on another host.
    ///
    /// # Errors
    /// As for [`Agent::connect`], and when it is of another version.
    pub fn connect_across(
        name: &str,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        asked: &Asked,
    ) -> anyhow::Result<Self> {
        let hello = Hello {
            is_across: true,
            ..Hello::here()
        };
        let (mut agent, lost) = Self::connect_as(&hello, Some(name), (input, output), asked)?;
        ensure!(
            release(&agent.version) == release(VERSION),
            "{name} has udpbench {}, this is udpbench {VERSION}: install the same on both hosts, or let --deploy do so",
            agent.version
        );
        let output = agent.output.clone().context("it has ended")?;
        let lost = move || {
            // Nobody may wait any more.
            let _ = lost.send(Err(anyhow!("nothing was heard of it for 3 s")));
        };
        agent.pulse = Some(Pulse::start(output, agent.heard.clone(), lost)?);
        Ok(agent)
    }

    fn connect_as(
        hello: &Hello,
        name: Option<&str>,
        (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
        asked: &Asked,
    ) -> anyhow::Result<(Self, Sender<anyhow::Result<Vec<u8>>>)> {
        let (send, answers) = mpsc::channel();
        let heard = Heard::now();
        let reader = {
            let (heard, send) = (heard.clone(), send.clone());
            move || {
                let error = forward(input, &heard, &send);
                // Nobody may wait any more.
                let _ = send.send(Err(error));
            }
        };
        // It ends when the agent does, which nobody waits for.
        thread::Builder::new()
            .name(format!("from {}", name.unwrap_or(NAMELESS)))
            .spawn(reader)
            .context("cannot start a thread")?;
        let mut agent = Self {
            name: name.map(str::to_owned),
            version: String::new(),
            output: Some(Output::new(output)),
            answers,
            heard,
            pulse: None,
            asked: asked.clone(),
            process: None,
        };
        let hello = agent
            .meet(hello)
            .with_context(|| agent.shown_name().to_owned())?;
        agent.version = hello.version;
        Ok((agent, send))
    }

    fn meet(&mut self, own: &Hello) -> anyhow::Result<Hello> {
        let greeted = self.output.as_ref().map_or(Ok(()), |to| to.greet(own));
        // What came says more than that nothing can be sent.
        let hello: Hello = self.receive(Duration::ZERO)?;
        hello.check()?;
        greeted?;
        Ok(hello)
    }

    fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(NAMELESS)
    }

    /// Of the agent.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether nothing more can be asked of it.
    pub fn is_lost(&self) -> bool {
        self.output.is_none()
    }

    /// What its host is.
    ///
    /// # Errors
    /// When it is gone.
    pub fn facts(&mut self) -> anyhow::Result<Facts> {
        self.call(&Request::Facts)
    }

    /// Has it end whatever it does, and begin anew as another process.
    ///
    /// # Errors
    /// When it is gone.
    pub fn renew(&mut self) -> anyhow::Result<()> {
        self.ask(&Request::Renew)?;
        // What it said before is of no use any more.
        while !matches!(self.next::<IgnoredAny>(Duration::ZERO)?, Answer::Renewed) {}
        Ok(())
    }

    /// Asks for something, and waits for the answer.
    ///
    /// # Errors
    /// When it failed, and when the agent is gone.
    pub fn call<T: DeserializeOwned>(&mut self, request: &Request) -> anyhow::Result<T> {
        self.call_for(Duration::ZERO, request)
    }

    /// The same, where it takes so long. Nothing is heard meanwhile.
    ///
    /// # Errors
    /// As for [`Agent::call`].
    pub fn call_for<T: DeserializeOwned>(
        &mut self,
        length: Duration,
        request: &Request,
    ) -> anyhow::Result<T> {
        self.ask(request)?;
        self.expect_silence(length);
        self.answer(length)
    }

    /// Runs a trial whose ends are both on its host.
    ///
    /// # Errors
    /// As for [`Agent::call`].
    pub fn run(&mut self, spec: &TrialSpec) -> anyhow::Result<Sample> {
        let request = Request::Run(Box::new(spec.clone()));
        self.call_for(spec.runs_for(), &request)
    }

    /// Neither is anything heard for so long, nor is it said.
    pub(super) fn expect_silence(&self, length: Duration) {
        self.heard.expect_silence(length);
    }

    /// Asks for something, and does not wait for the answer.
    ///
    /// # Errors
    /// When the agent is gone, or this program was asked to end.
    pub fn ask(&mut self, request: &Request) -> anyhow::Result<()> {
        ensure!(!self.asked.to_end(), Interrupted);
        let name = self.shown_name().to_owned();
        let output = self.output.as_ref();
        let output = output.with_context(|| format!("{name}: the connection is closed"))?;
        if let Err(error) = output.write(request) {
            // What came says more than that nothing can be sent.
            let came = self.receive::<IgnoredAny>(Duration::ZERO).err();
            (self.output, self.pulse) = (None, None);
            return Err(came.unwrap_or(error).context(name));
        }
        Ok(())
    }

    /// The answer to what was asked, which takes so long.
    ///
    /// # Errors
    /// As for [`Agent::call`].
    pub(super) fn answer<T: DeserializeOwned>(&mut self, length: Duration) -> anyhow::Result<T> {
        match self.next(length)? {
            Answer::Done(value) => Ok(value),
            Answer::Failed(reason) => Err(match &self.name {
                Some(name) => anyhow!("{name}: {reason}"),
                None => anyhow!(reason),
            }),
            Answer::Blocked(blocked) => Err(blocked.into()),
            Answer::Renewed => bail!("{} has begun anew", self.shown_name()),
        }
    }

    fn next<T: DeserializeOwned>(&mut self, length: Duration) -> anyhow::Result<Answer<T>> {
        let answer = self.receive(length);
        answer.map_err(|error| {
            (self.output, self.pulse) = (None, None);
            error.context(self.shown_name().to_owned())
        })
    }

    fn receive<T: DeserializeOwned>(&mut self, length: Duration) -> anyhow::Result<T> {
        let since = Instant::now();
        let longest = LONGEST_ANSWER.saturating_add(length);
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(body) => return message::decode(&body?),
                Err(RecvTimeoutError::Disconnected) => bail!("it has ended"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            ensure!(!self.asked.to_end(), Interrupted);
            ensure!(
                since.elapsed() < longest,
                "no answer within {} s",
                longest.as_secs()
            );
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let is_lost = self.is_lost();
        // The end of its input.
        (self.output, self.pulse) = (None, None);
        if let Some(process) = &mut self.process {
            // One that does not answer does not end by itself, either: ssh would wait for a host that is not there any more.
            process.end(is_lost);
        }
    }
}

/// Hands on all that comes. Returns why nothing more will.
fn forward(
    mut input: impl Read,
    heard: &Heard,
    send: &Sender<anyhow::Result<Vec<u8>>>,
) -> anyhow::Error {
    if let Err(error) = expect_magic(&mut input) {
        return error;
    }
    loop {
        match message::read_body(&mut input, || heard.note()) {
            Ok(Some(body)) => {
                if send.send(Ok(body)).is_err() {
                    return anyhow!("nobody waits for it");
                }
            }
            Ok(None) => return anyhow!("it has ended"),
            Err(error) => return error,
        }
    }
}

/// Without how it was built.
fn release(version: &str) -> &str {
    version.split('-').next().unwrap_or_default()
}
