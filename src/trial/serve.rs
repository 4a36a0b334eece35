//! `udpbench agent`: a process that runs trials for a controller, on this host or on another one.
//!
//! One thread reads what comes, another one runs trials. So the end of the input, and a request to begin anew, end whatever
//! goes on at once: the process ends, or is another one, and its sockets are closed.

use std::io::{Read, Write};
use std::mem;
use std::os::unix::process::CommandExt;
use std::sync::mpsc::{self, Sender};
use std::thread;

use anyhow::{Context, bail};

use super::conversation::Conversation;
use super::facts::Facts;
use super::halves;
use super::here::Here;
use super::keeper::is_as_before;
use super::message::{self, Answer, Hello, Request};
use super::pulse::{Heard, Output, Pulse};
use super::settings::Settings;
use super::spawned::{self, THIS_PROGRAM};
use crate::host::knob::Lock;
use crate::sys::files::Root;
use crate::sys::{drops, temperature};

/// Whether the process has just begun anew: then it has greeted already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// It greets.
    First,
    /// It says that it is there.
    Again,
}

/// Does what the messages on `input` say until that ends, or until nothing was heard from another host for 3 s. Reads
/// nothing but whole messages: what comes after one is there for whoever reads next.
///
/// # Errors
/// When the other side is no udpbench of this version, or sends what is no message.
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
            // Also to one of another version, which then knows this one.
            output.greet(&Hello::here())?;
            hello.check()?;
            hello.is_across
        }
        // Only an agent on another host is asked to.
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
    let here = Here::new(root);
    thread::Builder::new()
        .name("trials".to_owned())
        .spawn(move || obey_all(talk, here))
        .context("cannot start a thread")?;
    if listen(input, &heard, &send)? == Next::BeginAnew {
        // Nothing of what is said is cut off.
        return output.with(|_| begin_anew(root));
    }
    Ok(())
}

/// What is to be done once no more requests are handed on.
#[derive(PartialEq, Eq)]
enum Next {
    End,
    BeginAnew,
}

/// Hands on all requests, up to the end of the input or to the one to begin anew.
fn listen(mut input: impl Read, heard: &Heard, send: &Sender<Request>) -> anyhow::Result<Next> {
    while let Some(body) = message::read_body(&mut input, || heard.note())? {
        let request = message::decode(&body)?;
        if matches!(request, Request::Renew) {
            return Ok(Next::BeginAnew);
        }
        // Nobody obeys any more once nobody listens to answers, and then the input ends soon.
        let _ = send.send(request);
    }
    Ok(Next::End)
}

/// Has this process be as one that was just started: memory, threads, sockets. It keeps its streams.
fn begin_anew(root: &Root) -> anyhow::Result<()> {
    let mut command = spawned::agent(THIS_PROGRAM.as_ref(), root);
    command.arg("--again");
    Err(command.exec()).context("cannot begin anew")
}

/// Of one that was asked from another host.
fn end_process() {
    eprintln!("the other end was not heard of for 3 s: the agent ends");
    std::process::exit(1);
}

/// Runs what is asked for, until nobody asks or listens.
fn obey_all(mut talk: Conversation, mut here: Here) {
    while let Ok(request) = talk.next() {
        let done = obey(request, &mut talk, &mut here);
        let said = done.or_else(|error| talk.fail(&error));
        if said.is_err() {
            return;
        }
    }
}

fn obey(request: Request, talk: &mut Conversation, here: &mut Here) -> anyhow::Result<()> {
    match request {
        Request::Facts => talk.answer(&Facts::read(here.root())),
        Request::HottestMillic => talk.answer(&temperature::hottest_millic(here.root())),
        Request::Truesizes(payloads) => talk.answer(&drops::truesizes(payloads)),
        Request::Choose(wanted) => talk.answer(&Settings::Here(here.root()).choose(wanted)?),
        Request::Lock => {
            let lock = Lock::take(here.root());
            // It outlives this process's beginning anew, and is held until its end.
            talk.answer(&lock.map(mem::forget))
        }
        Request::AreAsBefore(settings) => talk.answer(&is_as_before(&settings, here.root())),
        Request::Change { knob, trial } => talk.answer(&here.change(&knob, trial)?),
        Request::PutBack(knob) => talk.answer(&here.put_back(&knob)?),
        Request::Run(spec) => {
            talk.expect_silence(spec.runs_for());
            talk.answer(&here.run(&spec)?)
        }
        Request::Course {
            spec,
            slices,
            slice,
        } => talk.answer(&here.course(&spec, slices, slice)?),
        Request::Receive { spec, token } => halves::receivers(&spec, token, here, talk),
        Request::Send {
            spec,
            token,
            receivers,
        } => halves::senders(&spec, token, &receivers, here, talk),
        Request::Reach {
            spec,
            token,
            receiver,
            most,
        } => talk.answer(&halves::reach(&spec, token, receiver, most, here)?),
        other => bail!("{} is out of turn", other.name()),
    }
}
