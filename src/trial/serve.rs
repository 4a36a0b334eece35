//! `udpbench agent`: a process that runs trials for a controller, on this host or on another one.
//!
//! One thread reads messages, another one runs trials. The end of the input, or a request to begin anew, therefore ends
//! whatever goes on at once: the process ends or is replaced, and its sockets are closed.

use std::io::{Read, Write};
use std::mem;
use std::os::unix::process::CommandExt;
use std::sync::mpsc::{self, Sender};
use std::thread;

use anyhow::{Context, bail};

use super::conversation::Conversation;
use super::end_steps;
use super::facts::Facts;
use super::keeper::is_as_before;
use super::local::LocalTrials;
use super::message::{self, Answer, Hello, Request};
use super::pulse::{Heard, Output, Pulse};
use super::settings::Settings;
use super::spawned::{self, THIS_PROGRAM};
use crate::host::tuning::Lock;
use crate::sys::files::Root;
use crate::sys::{drops, temperature};

/// First start of an agent's process, or a new beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// First start: the process sends a greeting.
    First,
    /// New beginning: the process has greeted before, and now reports that it is back.
    Again,
}

/// Serves the requests on `input` until it ends, or until nothing was heard from another host for 3 s.
///
/// Only whole messages are read: the bytes after a message are left for the next reader.
///
/// # Errors
/// Fails if the other side does not speak this version of the protocol, or sends something that is no message.
pub fn serve(
    mut input: impl Read,
    output: impl Write + Send + 'static,
    begins: Begins,
    root: &Root,
) -> anyhow::Result<()> {
    let output = Output::new(output);
    let is_across = match begins {
        Begins::First => {
            let hello = message::greeting(&mut input)?;
            // Also sent to another version, which then knows the version of this one.
            output.greet(&Hello::own())?;
            hello.check()?;
            hello.is_across
        }
        // Only an agent on another host is asked to begin anew.
        Begins::Again => {
            output.write(&Answer::<()>::Renewed)?;
            true
        }
    };
    let heard = Heard::now();
    let _pulse = is_across
        .then(|| Pulse::start(output.clone(), heard.clone(), end_process))
        .transpose()?;
    let (send, requests) = mpsc::channel();
    let talk = Conversation {
        requests,
        output: output.clone(),
        heard: heard.clone(),
        owes: false,
    };
    let local = LocalTrials::new(root);
    thread::Builder::new()
        .name("trials".to_owned())
        .spawn(move || obey_all(talk, local))
        .context("cannot start a thread")?;
    if listen(input, &heard, &send)? == Next::BeginAnew {
        // No other thread writes meanwhile, so no message is cut off.
        return output.with(|_| begin_anew(root));
    }
    Ok(())
}

/// Next step once no more requests are forwarded.
#[derive(PartialEq, Eq)]
enum Next {
    End,
    BeginAnew,
}

/// Forwards all requests until the end of the input, or until the request to begin anew.
fn listen(mut input: impl Read, heard: &Heard, send: &Sender<Request>) -> anyhow::Result<Next> {
    while let Some(body) = message::read_body(&mut input, || heard.note())? {
        let request = message::decode(&body)?;
        if matches!(request, Request::Renew) {
            return Ok(Next::BeginAnew);
        }
        // Sending fails if answers cannot be sent any more; the input ends soon then.
        let _ = send.send(request);
    }
    Ok(Next::End)
}

/// Replaces this process by a fresh one: memory, threads, sockets. The streams stay open.
fn begin_anew(root: &Root) -> anyhow::Result<()> {
    let mut command = spawned::agent(THIS_PROGRAM.as_ref(), root);
    command.arg("--again");
    Err(command.exec()).context("cannot begin anew")
}

/// Ends an agent whose controller is on another host and has been silent.
fn end_process() {
    eprintln!("the other end was not heard of for 3 s: the agent ends");
    std::process::exit(1);
}

/// Runs the requests until no more come, or until answers cannot be sent.
fn obey_all(mut talk: Conversation, mut local: LocalTrials) {
    while let Ok(request) = talk.next() {
        let done = obey(request, &mut talk, &mut local);
        let said = done.or_else(|error| talk.fail(&error));
        if said.is_err() {
            return;
        }
    }
}

fn obey(request: Request, talk: &mut Conversation, local: &mut LocalTrials) -> anyhow::Result<()> {
    match request {
        Request::Facts => talk.answer(&Facts::read(local.root())),
        Request::HottestMillic => talk.answer(&temperature::hottest_millic(local.root())),
        Request::Truesizes(payloads) => talk.answer(&drops::truesizes(payloads)),
        Request::Choose(wanted) => {
            talk.answer(&Settings::LocalTrials(local.root()).choose(wanted)?)
        }
        Request::Lock => {
            let lock = Lock::take(local.root());
            // The lock survives when this process begins anew, and is held until it ends.
            talk.answer(&lock.map(mem::forget))
        }
        Request::AreAsBefore(settings) => talk.answer(&is_as_before(&settings, local.root())),
        Request::Change { tuning, trial } => talk.answer(&local.change(&tuning, trial)?),
        Request::PutBack(tuning) => talk.answer(&local.put_back(&tuning)?),
        Request::Run(spec) => {
            talk.expect_silence(spec.runs_for());
            talk.answer(&local.run(&spec)?)
        }
        Request::Course {
            spec,
            slices,
            slice,
        } => talk.answer(&local.course(&spec, slices, slice)?),
        Request::Receive { spec, token } => end_steps::receivers(&spec, token, local, talk),
        Request::Send {
            spec,
            token,
            receivers,
        } => end_steps::senders(&spec, token, &receivers, local, talk),
        Request::Reach {
            spec,
            token,
            receiver,
            most,
        } => talk.answer(&end_steps::reach(&spec, token, receiver, most, local)?),
        other => bail!("{} is out of turn", other.name()),
    }
}
