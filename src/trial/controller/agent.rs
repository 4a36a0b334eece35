//! An agent, seen from the controller: a process on this host, or on another host behind a program such as ssh.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::VERSION;
use crate::data::Sample;
use crate::engines::exec;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupted, StopRequested};
use crate::trial::messages::message::{self, Answer, Hello, NoGreeting, Request, expect_magic};
use crate::trial::messages::spec::TrialSpec;
use crate::trial::messages::stream::{LastHeard, Output, Pulse};
use crate::trial::readings::remote_facts::RemoteFacts;
use crate::trial::spawned::{self, MessageCarrier, start_thread};

/// Error: an agent did not answer within this time.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} s", .0.as_secs())]
pub struct NoAnswer(Duration);

/// Time after which an agent counts as stuck. No request takes longer on any slow board, apart from the trial itself.
const LONGEST_ANSWER: Duration = Duration::from_secs(30);
/// Interval at which a wait for an answer checks for a signal.
const LOOK: Duration = Duration::from_millis(100);

/// Name of the only agent in messages about itself.
const NAMELESS: &str = "the agent";

/// Connection to an agent. Dropping it closes the streams, which ends the agent and whatever it does.
pub struct Agent {
    /// Name in messages. `None`: it is the only agent.
    name: Option<String>,
    pub(crate) version: String,
    /// Stream to the agent. `None` after an error: a late answer would be taken for the answer to the next request.
    output: Option<Output>,
    answers: Receiver<anyhow::Result<Vec<u8>>>,
    /// Thread that reads the answers, until the agent's output ends.
    reader: JoinHandle<()>,
    pub(crate) last_heard: LastHeard,
    /// Heartbeat with an agent on another host.
    pulse: Option<Pulse>,
    asked: StopRequested,
    /// Process of the agent, or of the program that carries its messages. `None`: somebody else has started it.
    process: Option<MessageCarrier>,
}

impl Agent {
    /// Starts `program agent` on this host, which reads sensors below `root`, and if asked has a loopback of its own.
    ///
    /// Once `asked` says that this program is to end, no answer of the agent is waited for.
    ///
    /// # Errors
    /// Fails if the agent cannot be started, or speaks another version of the protocol.
    pub fn start(
        program: &Path,
        root: &Root,
        own_loopback: bool,
        asked: &StopRequested,
    ) -> anyhow::Result<Self> {
        let mut command = spawned::agent_command(program, root, own_loopback);
        // Ctrl-C goes to all processes of a terminal's group. In its own group, the agent leaves it to this process to
        // decide about the trial.
        command.process_group(0);
        Self::start_by(None, &program.display().to_string(), command, true, asked)
    }

    /// Starts an agent by a command: itself, or a program such as ssh that carries its messages from another host.
    ///
    /// In messages, `name` stands for the other host and `shown` for the command. `is_patient`: see [`Agent::connect`].
    ///
    /// # Errors
    /// Fails if the command cannot be started, or no agent of this version answers.
    pub fn start_by(
        name: Option<&str>,
        shown: &str,
        mut command: Command,
        is_patient: bool,
        asked: &StopRequested,
    ) -> anyhow::Result<Self> {
        if name.is_some() {
            command.stderr(Stdio::piped());
        }
        let started = MessageCarrier::start(command);
        let (mut process, input, output) =
            started.with_context(|| format!("cannot start `{shown}`"))?;
        match Self::connect(name, input, output, is_patient, asked) {
            Ok(mut agent) => {
                agent.process = Some(process);
                Ok(agent)
            }
            Err(error) => {
                // Unless interrupted, the carrier is given time to say what is wrong, and to end by itself.
                let status = process.end(error.is::<Interrupted>());
                Err(match name {
                    Some(_) if error.is::<NoGreeting>() => no_agent(&error, shown, status),
                    Some(_) => error,
                    None => error.context(shown.to_owned()),
                })
            }
        }
    }

    /// Connects to an agent by its standard output (`input`) and its standard input (`output`).
    ///
    /// In messages, `name` stands for the agent's host. `None`: it is the only agent, on this host, and may be of
    /// another version. Without `is_patient`, a heartbeat starts: both ends notice within 3 s if the other one is gone.
    /// With it, the agent outlives a broken path, and ends with its carrier.
    ///
    /// # Errors
    /// Fails if no agent answers, if it speaks another version of the protocol, or if an agent of another host is of
    /// another version.
    pub fn connect(
        name: Option<&str>,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        is_patient: bool,
        asked: &StopRequested,
    ) -> anyhow::Result<Self> {
        let (send, answers) = mpsc::channel();
        let last_heard = LastHeard::now();
        let reader = {
            let (last_heard, send) = (last_heard.clone(), send.clone());
            move || {
                let Err(error) = forward(input, &last_heard, &send);
                // Sending fails if nobody waits for messages any more.
                let _ = send.send(Err(error));
            }
        };
        // The thread is never joined: it ends when the agent ends.
        let reader = start_thread(&format!("from {}", name.unwrap_or(NAMELESS)), reader)?;
        let output = Output::new(output);
        let mut agent = Self {
            name: name.map(str::to_owned),
            version: String::new(),
            output: Some(output.clone()),
            answers,
            reader,
            last_heard: last_heard.clone(),
            pulse: None,
            asked: asked.clone(),
            process: None,
        };
        let hello = Hello {
            agent_is_remote: !is_patient,
            ..Hello::own()
        };
        // What is received says more than an error of sending, which the first request has again.
        let _ = output.with(|to| message::write_hello(to, &hello));
        let met = agent.receive::<Hello>(Duration::ZERO, || false);
        let met = met.and_then(|hello| hello.context("it has ended")?.checked());
        agent.version = met.with_context(|| agent.shown_name().to_owned())?.version;
        if let Some(name) = name {
            ensure!(
                release(&agent.version) == release(VERSION),
                "{name} has udpbench {}, this is udpbench {VERSION}: install the same on both hosts, or let --deploy do so",
                agent.version
            );
        }
        if !is_patient {
            let lost = move || {
                let _ = send.send(Err(anyhow!("nothing was heard of it for 3 s")));
            };
            agent.pulse = Some(Pulse::start(output, last_heard, lost)?);
        }
        Ok(agent)
    }

    fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(NAMELESS)
    }

    /// Returns whether the connection is closed, so that no request can be sent any more.
    pub fn is_lost(&self) -> bool {
        self.output.is_none()
    }

    /// Returns whether the agent's output has ended, as when its process or its host is gone.
    pub fn has_ended(&self) -> bool {
        self.reader.is_finished()
    }

    /// Returns the facts about the agent's host, also about the programs that this process knows as engines.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn facts(&mut self) -> anyhow::Result<RemoteFacts> {
        let programs = exec::all().into_iter();
        let programs = programs.filter_map(|it| Some((it.name(), it.executable?.to_owned())));
        self.call(&Request::Facts(programs.collect()))
    }

    /// Measures the time of a short request and its answer: the shortest of three.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn request_time(&mut self) -> anyhow::Result<Duration> {
        let mut shortest = Duration::MAX;
        for _ in 0..3 {
            let begun = Instant::now();
            self.call::<Option<i32>>(&Request::HottestMillic)?;
            shortest = shortest.min(begun.elapsed());
        }
        Ok(shortest)
    }

    /// Has the agent end whatever it does, and restart as a new process, if asked with a loopback of its own.
    ///
    /// # Errors
    /// Fails if the agent is gone.
    pub fn restart(&mut self, own_loopback: bool) -> anyhow::Result<()> {
        self.ask(&Request::Restart { own_loopback })?;
        // Answers to earlier requests are discarded.
        while !matches!(self.next::<IgnoredAny>(Duration::ZERO)?, Answer::Restarted) {}
        Ok(())
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// Fails if the request failed, or if the agent is gone.
    pub fn call<T: DeserializeOwned>(&mut self, request: &Request) -> anyhow::Result<T> {
        self.call_for(Duration::ZERO, request)
    }

    /// Sends a request that takes `length`, and waits for the answer. The heartbeat is suspended for `length`.
    ///
    /// # Errors
    /// Fails if the request failed, or if the agent is gone.
    pub fn call_for<T: DeserializeOwned>(
        &mut self,
        length: Duration,
        request: &Request,
    ) -> anyhow::Result<T> {
        self.ask(request)?;
        self.last_heard.suspend_heartbeat(length);
        self.answer(length)
    }

    /// Runs a trial whose two ends are both on the agent's host.
    ///
    /// # Errors
    /// Fails if the trial failed, or if the agent is gone.
    pub fn run(&mut self, spec: &TrialSpec) -> anyhow::Result<Sample> {
        let request = Request::Run(Box::new(spec.clone()));
        self.call_for(spec.settings.traffic_time(), &request)
    }

    /// Sends a request without waiting for the answer.
    ///
    /// # Errors
    /// Fails if the agent is gone, or if this program was asked to end.
    pub fn ask(&mut self, request: &Request) -> anyhow::Result<()> {
        ensure!(!self.asked.to_end(), Interrupted);
        let name = self.shown_name().to_owned();
        let output = self.output.as_ref();
        let output = output.with_context(|| format!("{name}: the connection is closed"))?;
        if let Err(error) = output.write(request) {
            // A received message says more than the error of sending.
            let came = self.receive::<IgnoredAny>(Duration::ZERO, || false).err();
            (self.output, self.pulse) = (None, None);
            return Err(came.unwrap_or(error).context(name));
        }
        Ok(())
    }

    /// Returns the answer to the last request, if it has come.
    ///
    /// # Errors
    /// Fails if the request failed, or if the agent is gone.
    pub fn look_for_answer<T: DeserializeOwned>(&mut self) -> anyhow::Result<Option<T>> {
        match self.answers.try_recv() {
            Ok(body) => self.value(message::decode(&body?)?).map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => bail!("it has ended"),
        }
    }

    /// Waits for the answer to the last request, which takes `length`.
    ///
    /// # Errors
    /// Fails if the request failed, or if the agent is gone.
    pub(crate) fn answer<T: DeserializeOwned>(&mut self, length: Duration) -> anyhow::Result<T> {
        let answer = self.next(length)?;
        self.value(answer)
    }

    /// Waits for the answer to the last request, which takes `length`, for as long as `other` is there.
    ///
    /// # Errors
    /// Fails if the request failed, or if one of the agents is gone.
    pub(crate) fn answer_beside<T: DeserializeOwned>(
        &mut self,
        length: Duration,
        other: &mut Self,
    ) -> anyhow::Result<T> {
        let answer = self.receive(length, || other.has_ended());
        if let Some(answer) = answer.map_err(|error| self.lose(error))? {
            return self.value(answer);
        }
        let error = other.next::<IgnoredAny>(Duration::ZERO).err();
        Err(error.unwrap_or_else(|| anyhow!("the other end has ended")))
    }

    fn value<T>(&self, answer: Answer<T>) -> anyhow::Result<T> {
        match answer {
            Answer::Done(value) => Ok(value),
            Answer::Failed(reason) => Err(match &self.name {
                Some(name) => anyhow!("{name}: {reason}"),
                None => anyhow!(reason),
            }),
            Answer::Blocked(blocked) => Err(blocked.into()),
            Answer::Restarted => bail!("{} has restarted", self.shown_name()),
        }
    }

    fn next<T: DeserializeOwned>(&mut self, length: Duration) -> anyhow::Result<Answer<T>> {
        let answer = self.receive(length, || false);
        let answer = answer.and_then(|answer| answer.context("it has ended"));
        answer.map_err(|error| self.lose(error))
    }

    /// Closes the connection, since an answer that comes late would be taken for that to the next request.
    fn lose(&mut self, error: anyhow::Error) -> anyhow::Error {
        (self.output, self.pulse) = (None, None);
        error.context(self.shown_name().to_owned())
    }

    /// Waits for a message. Returns `None` once `is_over` returns true.
    fn receive<T: DeserializeOwned>(
        &mut self,
        length: Duration,
        is_over: impl Fn() -> bool,
    ) -> anyhow::Result<Option<T>> {
        let since = Instant::now();
        let longest = LONGEST_ANSWER.saturating_add(length);
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(body) => return message::decode(&body?).map(Some),
                Err(RecvTimeoutError::Disconnected) => bail!("it has ended"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            ensure!(!self.asked.to_end(), Interrupted);
            if is_over() {
                return Ok(None);
            }
            ensure!(since.elapsed() < longest, NoAnswer(longest));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let is_lost = self.is_lost();
        // Closes the agent's input.
        (self.output, self.pulse) = (None, None);
        if let Some(process) = &mut self.process {
            // An agent that does not answer is killed: ssh, for example, would go on waiting for a host that is gone.
            process.end(is_lost);
        }
    }
}

/// Forwards every message to `send`. Returns the reason why no more will come.
fn forward(
    mut input: impl Read,
    last_heard: &LastHeard,
    send: &Sender<anyhow::Result<Vec<u8>>>,
) -> anyhow::Result<Infallible> {
    expect_magic(&mut input)?;
    while let Some(body) = message::read_body(&mut input, || last_heard.note())? {
        send.send(Ok(body)).ok().context("nobody waits for it")?;
    }
    bail!("it has ended")
}

/// Returns a version without the part that says how it was built.
fn release(version: &str) -> &str {
    version.split('-').next().unwrap_or_default()
}

/// Returns an error that names the command which started no agent, and what to type instead.
fn no_agent(error: &anyhow::Error, shown: &str, status: Option<ExitStatus>) -> anyhow::Error {
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
