//! A site that is another process.

use std::io::{BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use serde::de::DeserializeOwned;

use super::facts::Facts;
use super::message::{self, Answer, Hello, Request};
use super::noise;
use super::pulse::{Heard, Output, Pulse};
use super::readings::{Finished, Idle, Reading};
use super::site::{Edge, Edges, Flow, Site, SiteBrief};
use crate::VERSION;
use crate::data::Counts;
use crate::sys::host_id::HostId;
use crate::sys::interrupt::{Asked, Interrupted};

/// No verb takes so long, on however slow a board: it is stuck.
const LONGEST_ANSWER: Duration = Duration::from_secs(30);

/// How often a wait for an answer looks for a signal.
const LOOK: Duration = Duration::from_millis(100);
/// Once the program was asked to end, an answer may still take so long.
const AFTER_REQUEST: Duration = Duration::from_millis(500);

/// What stands for the only one in messages about itself.
const NAMELESS: &str = "the agent";

/// The same verbs as messages to `udpbench agent`. Dropping it closes the stream to the agent, which ends
/// that.
pub struct Remote {
    /// `None`: it is the only one.
    name: Option<String>,
    host: HostId,
    version: String,
    /// `None` once something went wrong: an answer that comes late would be taken for that to the next
    /// request.
    output: Option<Output>,
    answers: Receiver<anyhow::Result<Vec<u8>>>,
    lost: Sender<anyhow::Result<Vec<u8>>>,
    /// Can be read once nothing more will come.
    ended: Arc<EventFd>,
    /// Of an agent on another host.
    pulse: Option<Pulse>,
    heard: Heard,
    asked: Asked,
    /// Of a trial whose window it opens and closes by its own clock.
    edges: Option<Edges>,
}

impl Remote {
    /// Connects to the agent that `name` stands for in messages (`None`: it is the only one), by its standard output and input.
    /// Once this program is `asked` to end, an agent that says nothing is given up.
    ///
    /// # Errors
    /// When no agent answers, or one that speaks otherwise.
    pub fn connect(
        name: Option<&str>,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        asked: &Asked,
    ) -> anyhow::Result<Self> {
        Self::connect_as(&Hello::here(), name, (input, output), asked)
    }

    /// The same to an agent on another host: from now on, both ends notice within 3 s when the other one is gone.
    ///
    /// # Errors
    /// As for [`Remote::connect`], and when it is of another version.
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
        let mut remote = Self::connect_as(&hello, Some(name), (input, output), asked)?;
        ensure!(
            release(&remote.version) == release(VERSION),
            "{name} has udpbench {}, this is udpbench {VERSION}: install the same on both hosts, or let --deploy do so",
            remote.version
        );
        let output = remote.output.clone().context("it has ended")?;
        let (lost, ended) = (remote.lost.clone(), Arc::clone(&remote.ended));
        let lost = move || {
            // Nobody may wait any more.
            let _ = lost.send(Err(anyhow!("nothing was heard of it for 3 s")));
            let _ = ended.write(1);
        };
        remote.pulse = Some(Pulse::start(output, remote.heard.clone(), lost)?);
        Ok(remote)
    }

    fn connect_as(
        hello: &Hello,
        name: Option<&str>,
        (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
        asked: &Asked,
    ) -> anyhow::Result<Self> {
        let ended = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let ended = Arc::new(ended.context("cannot make an eventfd")?);
        let (send, answers) = mpsc::channel();
        let heard = Heard::now();
        let reader = {
            let (ended, heard, send) = (Arc::clone(&ended), heard.clone(), send.clone());
            move || {
                let error = forward(BufReader::new(input), &heard, &send);
                // Nobody may wait any more.
                let _ = send.send(Err(error));
                let _ = ended.write(1);
            }
        };
        // It ends when the agent does, which nobody waits for.
        thread::Builder::new()
            .name(format!("from {}", name.unwrap_or(NAMELESS)))
            .spawn(reader)
            .context("cannot start a thread")?;
        let mut remote = Self {
            name: name.map(str::to_owned),
            host: HostId::default(),
            version: String::new(),
            output: Some(Output::new(output)),
            answers,
            lost: send,
            ended,
            pulse: None,
            heard,
            asked: asked.clone(),
            edges: None,
        };
        let hello = remote
            .meet(hello)
            .with_context(|| name.unwrap_or(NAMELESS).to_owned())?;
        remote.host = hello.host;
        remote.version = hello.version;
        Ok(remote)
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

    /// Has the next trial run in another process there.
    ///
    /// # Errors
    /// When it is gone.
    pub fn renew(&mut self) -> anyhow::Result<()> {
        self.call(&Request::Renew)
    }

    fn meet(&mut self, own: &Hello) -> anyhow::Result<Hello> {
        let greeted = self.output.as_ref().map_or(Ok(()), |to| to.greet(own));
        // What came says more than that nothing can be sent.
        let hello: Hello = self.receive()?;
        hello.check()?;
        greeted?;
        Ok(hello)
    }

    fn has_ended(&self) -> bool {
        let mut ended = [PollFd::new(self.ended.as_fd(), PollFlags::POLLIN)];
        poll(&mut ended, PollTimeout::ZERO) != Ok(0)
    }

    fn receive<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let since = Instant::now();
        let mut asked_at = None;
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(body) => return message::decode(&body?),
                Err(RecvTimeoutError::Disconnected) => bail!("it has ended"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.asked.to_end() {
                let asked_at = asked_at.get_or_insert_with(Instant::now);
                ensure!(asked_at.elapsed() < AFTER_REQUEST, Interrupted);
            }
            let longest = LONGEST_ANSWER.as_secs();
            ensure!(
                since.elapsed() < LONGEST_ANSWER,
                "no answer within {longest} s"
            );
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> anyhow::Result<Answer<T>> {
        let output = self.output.as_ref().context("the connection is closed")?;
        let sent = output.write(request);
        let answer = self.receive();
        // Where both fail, what came says more.
        let answer = answer.and_then(|answer| sent.map(|()| answer));
        if answer.is_err() {
            (self.output, self.pulse) = (None, None);
        }
        answer
    }

    fn call<T: DeserializeOwned>(&mut self, request: &Request) -> anyhow::Result<T> {
        match self.ask(request) {
            Ok(Answer::Done(value)) => Ok(value),
            Ok(Answer::Failed(reason)) => Err(match &self.name {
                Some(name) => anyhow!("{name}: {reason}"),
                None => anyhow!(reason),
            }),
            Err(error) => {
                let name = self.name.as_deref().unwrap_or(NAMELESS);
                Err(error.context(name.to_owned()))
            }
        }
    }
}

/// Without how it was built.
fn release(version: &str) -> &str {
    version.split('-').next().unwrap_or_default()
}

/// Hands on all that comes. Returns why nothing more will.
fn forward(
    mut input: BufReader<impl Read>,
    heard: &Heard,
    send: &Sender<anyhow::Result<Vec<u8>>>,
) -> anyhow::Error {
    if let Err(error) = noise::expect_magic(&mut input) {
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

impl Site for Remote {
    fn host(&self) -> HostId {
        self.host.clone()
    }

    fn ended(&self) -> Option<BorrowedFd<'_>> {
        Some(self.ended.as_fd())
    }

    fn open(&mut self, brief: &SiteBrief) -> anyhow::Result<()> {
        self.edges = None;
        self.call(&Request::Open(Box::new(brief.clone())))
    }

    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>> {
        self.call(&Request::Bind)
    }

    fn aim(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        self.call(&Request::Aim(peer))
    }

    fn close_sender(&mut self, source: SocketAddr) -> anyhow::Result<()> {
        self.call(&Request::CloseSender(source))
    }

    fn probe(&mut self, source: SocketAddr) -> anyhow::Result<Option<String>> {
        self.call(&Request::Probe(source))
    }

    fn arrived(&mut self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        self.call(&Request::Arrived(source))
    }

    fn is_proven(&mut self, source: SocketAddr) -> anyhow::Result<bool> {
        self.call(&Request::IsProven(source))
    }

    fn pair(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        self.call(&Request::Pair(flows.to_vec()))
    }

    fn assemble(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        self.call(&Request::Assemble(flows.to_vec()))
    }

    fn keep_time(&mut self, edges: Edges) -> anyhow::Result<()> {
        // Messages within a host are not held up by datagrams.
        if self.pulse.is_some() {
            self.call::<()>(&Request::KeepTime(edges))?;
            self.edges = Some(edges);
        }
        Ok(())
    }

    fn keeps_time(&self) -> bool {
        self.edges.is_some()
    }

    fn start(&mut self) -> anyhow::Result<()> {
        self.call::<()>(&Request::Start)?;
        if let Some(edges) = self.edges {
            self.heard.expect_silence(edges);
        }
        Ok(())
    }

    fn wake_stalled(&mut self) -> anyhow::Result<()> {
        if self.edges.is_some() {
            return Ok(());
        }
        self.call(&Request::WakeStalled)
    }

    fn look(&mut self) -> anyhow::Result<()> {
        // But for why it ended.
        if self.edges.is_some() && !self.has_ended() {
            return Ok(());
        }
        self.call(&Request::Look)
    }

    fn snapshot(&mut self, edge: Edge) -> anyhow::Result<Reading> {
        self.call(&Request::Snapshot(edge))
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        self.call(&Request::Stop)
    }

    fn counts(&mut self) -> anyhow::Result<Counts> {
        self.call(&Request::Counts)
    }

    fn idle(&mut self) -> anyhow::Result<Idle> {
        self.call(&Request::Idle)
    }

    fn finish(&mut self) -> anyhow::Result<Finished> {
        self.call(&Request::Finish)
    }

    fn abandon(&mut self) {
        // An agent that is gone has abandoned it, too.
        let _ = self.call::<()>(&Request::Abandon);
    }
}
