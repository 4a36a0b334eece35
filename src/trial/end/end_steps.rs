//! One end of a trial between two hosts: its steps from one message of the controller to the next.
//!
//! No message is sent from the start of the threads until the window is over, since it would compete with the
//! datagrams. Each end measures time by its own clock.

use std::net::SocketAddr;

use anyhow::{Context, bail};

use crate::sys::loss_counters::LossReader;
use crate::trial::end::local::{LocalTrials, PreparedEnd};
use crate::trial::end::running_end::RunningEnd;
use crate::trial::end::wait::{drain, window};
use crate::trial::messages::message::Request;
use crate::trial::messages::spec::{EndRole, TrialSpec};
use crate::trial::messages::stream::Conversation;
use crate::trial::messages::two_hosts::{QUESTION_BYTES, Scope, Token};
use crate::trial::readings::losses::LossWatch;
use crate::trial::sockets::flows;
use crate::trial::sockets::udp_sockets::UdpSockets;

/// Probes of each length before it counts as too long.
const TRIES: usize = 3;

/// Runs the receiving end of a trial.
///
/// # Errors
/// Fails if something cannot be built or breaks, and if a message is out of turn.
pub(crate) fn receivers(
    spec: &TrialSpec,
    token: Token,
    local: &mut LocalTrials,
    conversation: &mut Conversation,
) -> anyhow::Result<()> {
    let (mut opened, scope) = open(spec, EndRole::Receivers, token, local)?;
    let bound = opened
        .sockets
        .bind()?
        .into_iter()
        .map(|it| Scope::OF_MESSAGES.address(it));
    conversation.answer(&bound.collect::<Vec<SocketAddr>>())?;
    let mut flows = Vec::new();
    let mut losses: Option<LossWatch> = None;
    loop {
        match next_request(&mut opened, conversation)? {
            Request::HasProbeArrived(source) => {
                let has_heard = opened.sockets.probes()?.has_heard(scope.address(source));
                conversation.answer(&has_heard)?;
            }
            Request::LossPlaces => {
                let start = || LossWatch::start(LossReader::open("thread-self"));
                let losses = losses.get_or_insert_with(start);
                conversation.answer(&losses.places())?;
            }
            Request::Accept(accepted) => {
                flows = scope.flows(&accepted);
                flows::assign(&spec.case, &flows, &mut *opened.sockets)?;
                conversation.answer(&())?;
            }
            Request::Go => break,
            other => bail!("{} is out of turn", other.name()),
        }
    }
    let running = opened.assemble(&flows)?;
    conversation.answer(&())?;
    run_across(spec, running, conversation)
}

/// Runs the sending end of a trial, towards these receivers.
///
/// # Errors
/// Fails if something cannot be built or breaks, and if a message is out of turn.
pub(crate) fn senders(
    spec: &TrialSpec,
    token: Token,
    receivers: &[SocketAddr],
    local: &mut LocalTrials,
    conversation: &mut Conversation,
) -> anyhow::Result<()> {
    let (mut opened, scope) = open(spec, EndRole::Senders, token, local)?;
    let receivers = receivers.iter().map(|peer| scope.address(*peer));
    let receivers: Vec<SocketAddr> = receivers.collect();
    let flows = flows::find(&spec.case, &receivers, &mut *opened.sockets)?;
    conversation.answer(&Scope::OF_MESSAGES.flows(&flows))?;
    conversation.expect_request(&Request::Ready)?;
    flows::confirm(&spec.case, &flows, &mut *opened.sockets)?;
    let running = opened.assemble(&flows)?;
    conversation.answer(&())?;
    conversation.expect_request(&Request::Go)?;
    run_across(spec, running, conversation)
}

/// Finds the longest payload, in bytes and up to `most`, that arrives in one piece at this receiver and is answered.
/// `None`: not even short payloads arrive.
///
/// # Errors
/// Fails if something cannot be built or breaks.
pub(crate) fn longest_payload(
    spec: &TrialSpec,
    token: Token,
    receiver: SocketAddr,
    most: u32,
    local: &mut LocalTrials,
) -> anyhow::Result<Option<u32>> {
    let (mut opened, scope) = open(spec, EndRole::Senders, token, local)?;
    let source = opened.sockets.open_sender(scope.address(receiver))?;
    let probes = opened.sockets.probes()?;
    probes.forbid_fragmentation(source)?;
    find_longest(probes, source, most)
}

fn open<'a>(
    spec: &'a TrialSpec,
    part: EndRole,
    token: Token,
    local: &'a mut LocalTrials,
) -> anyhow::Result<(PreparedEnd<'a>, Scope)> {
    let (own, _) = spec.across(part).context("a trial has two addresses")?;
    Ok((local.open(spec, part, Some(token))?, Scope::of(Some(own))?))
}

/// Waits for the next request of the controller. Meanwhile, questions with the token are answered.
fn next_request(
    opened: &mut PreparedEnd,
    conversation: &mut Conversation,
) -> anyhow::Result<Request> {
    loop {
        if let Some(request) = conversation.next_if_any()? {
            return Ok(request);
        }
        opened.sockets.probes()?.answer_questions()?;
    }
}

/// Runs the threads of an end, waits until the datagrams that were sent to it have arrived, if it receives any, and tells
/// its result. The senders' end first tells its counts.
fn run_across(
    spec: &TrialSpec,
    mut running: RunningEnd,
    conversation: &mut Conversation,
) -> anyhow::Result<()> {
    conversation.last_heard.suspend_heartbeat(spec.runs_for());
    let window = window(&spec.settings, &mut running)?;
    running.stop();
    if running.part.sends() {
        conversation.answer(&running.counts()?)?;
    }
    let Request::Drain { expected } = conversation.next()? else {
        bail!("the other end's counts were to come");
    };
    if running.part.receives() || spec.case.receives_at_both_ends() {
        drain(Some(expected), &mut running)?;
    }
    conversation.answer(&running.finish(window)?)
}

/// Finds the longest payload, in bytes and up to `most`, that arrives from this sender. `None`: not even short payloads
/// arrive.
///
/// Nearly always that is `most`, and a single probe shows it.
///
/// # Errors
/// Fails if there is no such sender.
fn find_longest(
    probes: &mut UdpSockets,
    source: SocketAddr,
    most: u32,
) -> anyhow::Result<Option<u32>> {
    let mut gets_through = |bytes: u32| -> anyhow::Result<bool> {
        for _ in 0..TRIES {
            // The kernel refuses at once what is longer than the MTU of the interface.
            if probes.probe(source, bytes as usize)?.is_some() {
                return Ok(false);
            }
            if probes.receiver_reached(source)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    if gets_through(most)? {
        return Ok(Some(most));
    }
    // If not even this length arrives, IPv6 would not work at all (RFC 8200), and hardly anything else.
    let (mut least, mut most) = (QUESTION_BYTES.try_into().unwrap_or(u32::MAX), most);
    if !gets_through(least)? {
        return Ok(None);
    }
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        if gets_through(middle)? {
            least = middle;
        } else {
            most = middle;
        }
    }
    Ok(Some(least))
}
