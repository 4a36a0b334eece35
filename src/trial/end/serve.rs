//! `udpbench agent`: a process that runs trials for a controller, on this host or on another one.
//!
//! One thread reads messages, another one runs trials. The end of the input, or a request to restart, therefore ends
//! whatever goes on at once: the process ends or is replaced, and its sockets are closed.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, bail};

use crate::engines::exec;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::sys::{power, socket_queues, temperature};
use crate::trial::changes::host_settings::HostSettings;
use crate::trial::end::echo_end::{self, EchoLosses};
use crate::trial::end::end_steps::TrialServer;
use crate::trial::end::local::LocalTrials;
use crate::trial::messages::message::{self, Answer, Hello, Request};
use crate::trial::messages::stream::{Conversation, LastHeard, Output, Pulse};
use crate::trial::readings::remote_facts::RemoteFacts;
use crate::trial::spawned::{self, THIS_PROGRAM, start_thread};

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
            output.with(|to| message::write_hello(to, &Hello::own()))?;
            hello.checked()?.agent_is_remote
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
    let root = local.root.clone();
    let trials = TrialServer {
        conversation: Conversation {
            requests,
            output: output.clone(),
            last_heard: last_heard.clone(),
            awaits_answer: false,
        },
        local,
    };
    start_thread("trials", move || trials.obey_all())?;
    while let Some(body) = message::read_body(&mut input, || last_heard.note())? {
        match message::decode(&body)? {
            // No other thread writes meanwhile, so no message is cut off.
            Request::Restart { own_loopback } => {
                return output.with(|_| restart(&root, own_loopback));
            }
            // Sending fails if answers cannot be sent any more; the input ends soon then.
            request => drop(send.send(request)),
        }
    }
    Ok(())
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

impl TrialServer {
    /// Runs the requests until no more come, or until answers cannot be sent.
    fn obey_all(mut self) {
        while let Ok(request) = self.conversation.next() {
            let done = self.obey(request);
            let said = done.or_else(|error| self.conversation.fail(&error));
            if said.is_err() {
                return;
            }
        }
    }

    fn obey(&mut self, request: Request) -> anyhow::Result<()> {
        let (local, conversation) = (&mut self.local, &mut self.conversation);
        match request {
            Request::Facts(programs) => {
                conversation.answer(&RemoteFacts::read(&local.root, &programs)?)
            }
            Request::HottestMillic => {
                conversation.answer(&temperature::hottest_millic(&local.root))
            }
            Request::IdlePower(length) => {
                conversation.answer(&power::idle_power(&local.root, length, |pause| {
                    thread::sleep(pause);
                    Ok::<(), Infallible>(())
                })?)
            }
            Request::Truesizes(payloads) => {
                conversation.answer(&socket_queues::truesizes(payloads))
            }
            Request::ListTunings(wanted) => {
                conversation.answer(&HostSettings::Local(local).list_tunings(wanted)?)
            }
            Request::Lock => conversation.answer(&HostSettings::Local(local).lock()?),
            Request::Differences(settings) => {
                conversation.answer(&HostSettings::Local(local).differences(&settings)?)
            }
            Request::Change { tuning, trial } => {
                let never = Interrupt::never()?;
                conversation.answer(&HostSettings::Local(local).change(&tuning, trial, &never)?)
            }
            Request::PutBack(tuning) => {
                let never = Interrupt::never()?;
                conversation.answer(&HostSettings::Local(local).put_back(&tuning, &never)?)
            }
            Request::Run(spec) => {
                let length = spec.settings.traffic_time();
                conversation.last_heard.suspend_heartbeat(length);
                conversation.answer(&local.run(&spec)?)
            }
            Request::RateOverTime { spec, slices } => {
                conversation.answer(&local.rate_over_time(&spec, slices)?)
            }
            Request::Receive(spec) => self.receivers(&spec),
            Request::Send { spec, receivers } => self.senders(&spec, &receivers),
            Request::FindLongestPayload {
                spec,
                receiver,
                most,
            } => {
                let longest = self.longest_payload(&spec, receiver, most)?;
                self.conversation.answer(&longest)
            }
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
}
