//! `udpbench agent`: a process that runs trials for a controller, on this host or on another one.
//!
//! One thread reads messages, another one runs trials. The end of the input, or a request to restart, therefore ends
//! whatever goes on at once: the process ends or is replaced, and its sockets are closed.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::sync::mpsc::{self, Sender};
use std::thread;

use anyhow::{Context, bail};

use crate::engines::exec;
use crate::host::tuning::differences;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::sys::{power, socket_queues, temperature};
use crate::trial::changes::host_settings::HostSettings;
use crate::trial::controller::spawned::{self, THIS_PROGRAM};
use crate::trial::end::echo_end::{self, EchoLosses};
use crate::trial::end::end_steps;
use crate::trial::end::local::LocalTrials;
use crate::trial::messages::message::{self, Answer, Hello, Request};
use crate::trial::messages::stream::{Conversation, LastHeard, Output, Pulse};
use crate::trial::readings::remote_facts::RemoteFacts;

/// First start of an agent's process, or a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// First start: the process sends a greeting.
    First,
    /// Restart: the process has greeted before, and now reports that it is back.
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
    local: LocalTrials,
) -> anyhow::Result<()> {
    let output = Output::new(output);
    let controller_is_remote = match begins {
        Begins::First => {
            let hello = message::read_hello(&mut input)?;
            // Also sent to another version, which then knows the version of this one.
            output.write_hello(&Hello::own())?;
            hello.check()?;
            hello.agent_is_remote
        }
        // Only an agent on another host is asked to restart.
        Begins::Again => {
            output.write(&Answer::<()>::Restarted)?;
            true
        }
    };
    let last_heard = LastHeard::now();
    let _pulse = controller_is_remote
        .then(|| Pulse::start(output.clone(), last_heard.clone(), end_process))
        .transpose()?;
    let (send, requests) = mpsc::channel();
    let conversation = Conversation::new(requests, output.clone(), last_heard.clone());
    let root = local.root().clone();
    thread::Builder::new()
        .name("trials".to_owned())
        .spawn(move || obey_all(conversation, local))
        .context("cannot start a thread")?;
    match listen(input, &last_heard, &send)? {
        // No other thread writes meanwhile, so no message is cut off.
        Some(own_loopback) => output.with(|_| restart(&root, own_loopback)),
        None => Ok(()),
    }
}

/// Forwards all requests until the end of the input, or until the request to restart. Returns whether the new process is to
/// have a loopback of its own. `None`: the input has ended.
fn listen(
    mut input: impl Read,
    last_heard: &LastHeard,
    send: &Sender<Request>,
) -> anyhow::Result<Option<bool>> {
    while let Some(body) = message::read_body(&mut input, || last_heard.note())? {
        let request = message::decode(&body)?;
        if let Request::Restart { own_loopback } = request {
            return Ok(Some(own_loopback));
        }
        // Sending fails if answers cannot be sent any more; the input ends soon then.
        let _ = send.send(request);
    }
    Ok(None)
}

/// Replaces this process by a fresh one: memory, threads, sockets. The streams stay open.
fn restart(root: &Root, own_loopback: bool) -> anyhow::Result<()> {
    // The kernel ends the programs of this process's threads, but not what they have started.
    exec::end_all();
    let mut command = spawned::agent_command(THIS_PROGRAM.as_ref(), root, own_loopback);
    command.arg("--again");
    Err(command.exec()).context("cannot restart")
}

/// Ends an agent whose controller is on another host and has been silent.
fn end_process() {
    eprintln!("the other end was not heard of for 3 s: the agent ends");
    exec::end_all();
    std::process::exit(1);
}

/// Runs the requests until no more come, or until answers cannot be sent.
fn obey_all(mut conversation: Conversation, mut local: LocalTrials) {
    while let Ok(request) = conversation.next() {
        let done = obey(request, &mut conversation, &mut local);
        let said = done.or_else(|error| conversation.fail(&error));
        if said.is_err() {
            return;
        }
    }
}

fn obey(
    request: Request,
    conversation: &mut Conversation,
    local: &mut LocalTrials,
) -> anyhow::Result<()> {
    match request {
        Request::Facts { programs } => {
            conversation.answer(&RemoteFacts::read(local.root(), &programs)?)
        }
        Request::HottestMillic => conversation.answer(&temperature::hottest_millic(local.root())),
        Request::IdlePower(length) => {
            conversation.answer(&power::idle_power(local.root(), length, |pause| {
                thread::sleep(pause);
                Ok::<(), Infallible>(())
            })?)
        }
        Request::Truesizes(payloads) => conversation.answer(&socket_queues::truesizes(payloads)),
        Request::ListTunings(wanted) => {
            conversation.answer(&HostSettings::Local(local).list_tunings(wanted)?)
        }
        Request::Lock => conversation.answer(&HostSettings::Local(local).lock()?),
        Request::Differences(settings) => {
            conversation.answer(&differences(&settings, local.root()))
        }
        Request::Change { tuning, trial } => {
            conversation.answer(&local.change(&tuning, trial, &Interrupt::never()?)?)
        }
        Request::PutBack(tuning) => {
            conversation.answer(&local.put_back(&tuning, &Interrupt::never()?)?)
        }
        Request::Run(spec) => {
            conversation.last_heard.suspend_heartbeat(spec.runs_for());
            conversation.answer(&local.run(&spec)?)
        }
        Request::RateOverTime {
            spec,
            slices,
            slice,
        } => conversation.answer(&local.rate_over_time(&spec, slices, slice)?),
        Request::Receive { spec, token } => end_steps::receivers(&spec, token, local, conversation),
        Request::Send {
            spec,
            token,
            receivers,
        } => end_steps::senders(&spec, token, &receivers, local, conversation),
        Request::FindLongestPayload {
            spec,
            token,
            receiver,
            most,
        } => conversation.answer(&end_steps::longest_payload(
            &spec, token, receiver, most, local,
        )?),
        Request::Echo(address) => {
            let (end, losses) = echo_end::start(address)?;
            local.echo = Some(losses);
            conversation.answer(&end)
        }
        Request::LossPlaces => {
            let losses = local.echo.as_mut().map(EchoLosses::places);
            conversation.answer(&losses.unwrap_or_default())
        }
        other => bail!("{} is out of turn", other.name()),
    }
}
