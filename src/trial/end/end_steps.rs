//! One end of a trial between two hosts: its steps from one message of the controller to the next.
//!
//! No message is sent from the start of the threads until the window is over, since it would compete with the
//! datagrams. Each end measures time by its own clock.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context, bail};

use crate::trial::end::local::LocalTrials;
use crate::trial::end::prepared_end::PreparedEnd;
use crate::trial::end::running_end::RunningEnd;
use crate::trial::end::wait::{drain, window};
use crate::trial::messages::conversation::Conversation;
use crate::trial::messages::message::Request;
use crate::trial::messages::scope::{self, Scope};
use crate::trial::messages::spec::{EndRole, TrialSpec};
use crate::trial::messages::token::Token;
use crate::trial::readings::loss_watch::LossWatch;
use crate::trial::sockets::flows;

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
    let bound = opened.sockets.bind()?.into_iter().map(scope::told);
    conversation.answer(&bound.collect::<Vec<SocketAddr>>())?;
    let mut flows = Vec::new();
    let mut losses: Option<LossWatch> = None;
    loop {
        match next_request(&mut opened, conversation)? {
            Request::HasProbeArrived(source) => {
                let probes = opened.sockets.probes().context("nothing is probed")?;
                conversation.answer(&probes.has_heard(scope.local(source)))?;
            }
            Request::LossPlaces => {
                let losses = losses.get_or_insert_with(LossWatch::start_all);
                conversation.answer(&losses.places(BTreeMap::new()))?;
            }
            Request::Accept(accepted) => {
                flows = scope.flows_here(&accepted);
                flows::assign(&spec.case, &flows, &mut *opened.sockets)?;
                conversation.answer(&())?;
            }
            Request::Go => break,
            other => bail!("{} is out of turn", other.name()),
        }
    }
    let mut running = opened.assemble(&flows)?;
    conversation.answer(&())?;
    conversation.suspend_heartbeat(spec.runs_for());
    let window = window(&spec.settings, &mut running)?;
    running.stop();
    drain_across(spec, &mut running, conversation)?;
    conversation.answer(&running.finish(window)?)
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
    let receivers = receivers.iter().map(|peer| scope.local(*peer));
    let receivers: Vec<SocketAddr> = receivers.collect();
    let flows = flows::find(&spec.case, &receivers, &mut *opened.sockets)?;
    conversation.answer(&scope::flows_told(&flows))?;
    conversation.expect_request(&Request::Ready)?;
    flows::confirm(&spec.case, &flows, &mut *opened.sockets)?;
    let mut running = opened.assemble(&flows)?;
    conversation.answer(&())?;
    conversation.expect_request(&Request::Go)?;
    conversation.suspend_heartbeat(spec.runs_for());
    let window = window(&spec.settings, &mut running)?;
    running.stop();
    conversation.answer(&running.counts()?)?;
    drain_across(spec, &mut running, conversation)?;
    conversation.answer(&running.finish(window)?)
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
    let source = opened.sockets.open_sender(scope.local(receiver))?;
    let probes = opened.sockets.probes().context("nothing is probed")?;
    probes.forbid_fragmentation(source)?;
    crate::trial::end::longest_payload::find(probes, source, most)
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
        let probes = opened.sockets.probes().context("nothing is probed")?;
        probes.answer_questions()?;
    }
}

/// Waits until the datagrams that were sent to this end have arrived, if it receives any.
fn drain_across(
    spec: &TrialSpec,
    running: &mut RunningEnd,
    conversation: &mut Conversation,
) -> anyhow::Result<()> {
    let Request::Drain { expected } = conversation.next()? else {
        bail!("the other end's counts were to come");
    };
    let receives = running.part.receives() || spec.case.receives_at_both_ends();
    if receives {
        let (_, receiver) = spec.engines()?;
        drain(
            &spec.case,
            receiver.about.receives_aggregates,
            Some(expected),
            running,
        )?;
    }
    Ok(())
}
