//! The agent on another host: it has a process of its own run each round, and ends with whoever drives it.

use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc;
use std::thread;

use anyhow::Context;

use super::facts::Facts;
use super::message::{self, Answer, Hello, Request};
use super::pulse::{Heard, Output, Pulse};
use super::site::Edges;
use super::spawned::{self, THIS_PROGRAM};
use crate::sys::files::Root;

/// Does what the messages on `input` say until that ends, or until nothing was heard for 3 s: then the process ends, as
/// it could be in the middle of a message.
///
/// # Errors
/// When the other side sends what is no message.
pub(super) fn serve(
    input: BufReader<impl Read + Send + 'static>,
    output: impl Write + Send + 'static,
    root: &Root,
) -> anyhow::Result<()> {
    let (output, heard) = (Output::new(output), Heard::now());
    let (send, requests) = mpsc::channel();
    let reader = {
        let heard = heard.clone();
        move || message::hand_on(input, || heard.note(), &send)
    };
    thread::Builder::new()
        .name("requests".to_owned())
        .spawn(reader)
        .context("cannot start a thread")?;
    let _pulse = Pulse::start(output.clone(), heard.clone(), end_process)?;
    let mut relay = Relay {
        root,
        worker: None,
        heard,
        silence: None,
    };
    for request in requests {
        match request? {
            Some(body) => relay.obey(&body, &output)?,
            None => break,
        }
    }
    Ok(())
}

struct Relay<'a> {
    root: &'a Root,
    /// Started when it is needed.
    worker: Option<Worker>,
    heard: Heard,
    /// How long nothing will be said once it starts.
    silence: Option<Edges>,
}

impl Relay<'_> {
    fn obey(&mut self, body: &[u8], output: &Output) -> anyhow::Result<()> {
        match message::decode::<Request>(body)? {
            Request::Facts => return output.write(&Answer::Done(Facts::read(self.root))),
            Request::Renew => {
                self.worker = None;
                return output.write(&Answer::Done(()));
            }
            Request::Open(_) => self.silence = None,
            Request::KeepTime(edges) => self.silence = Some(edges),
            Request::Start => {
                if let Some(edges) = self.silence.take() {
                    self.heard.expect_silence(edges);
                }
            }
            _ => {}
        }
        match self.answer(body) {
            Ok(body) => output.write_body(&body),
            Err(error) => {
                self.worker = None;
                output.write(&Answer::<()>::Failed(format!("{error:#}")))
            }
        }
    }

    fn answer(&mut self, request: &[u8]) -> anyhow::Result<Vec<u8>> {
        let worker = match &mut self.worker {
            Some(worker) => worker,
            None => self.worker.insert(Worker::start(self.root)?),
        };
        worker.ask(request)
    }
}

/// A worker notices the end of its input, and its sockets are closed when it ends.
fn end_process() {
    eprintln!("the other end was not heard of for 3 s: the agent ends");
    std::process::exit(1);
}

/// The process that runs the trials of a round.
struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start(root: &Root) -> anyhow::Result<Self> {
        let mut command = spawned::agent(Path::new(THIS_PROGRAM), root);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start a process")?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.context("a process has no pipes")?;
        let mut worker = Self {
            child,
            requests,
            answers: BufReader::new(answers),
        };
        message::greet(&mut worker.requests, &Hello::here())?;
        message::greeting(&mut worker.answers)?.check()?;
        Ok(worker)
    }

    fn ask(&mut self, request: &[u8]) -> anyhow::Result<Vec<u8>> {
        message::write_body(&mut self.requests, request)?;
        let answer = message::read_body(&mut self.answers, || ())?;
        answer.context("the process that ran the trial has ended")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // At once: nobody waits for what it does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
