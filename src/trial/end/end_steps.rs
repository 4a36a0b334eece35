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
use crate::trial::messages::spec::{EndRole, QUESTION_BYTES, Scope, TrialSpec};
use crate::trial::messages::stream::Conversation;
use crate::trial::readings::losses::LossWatch;
use crate::trial::sockets::flows;

/// Probes of each length before it counts as too long.
const TRIES: usize = 3;

/// The requests of a controller, and the trials that they run.
pub(crate) struct TrialServer {
    pub(crate) conversation: Conversation,
    pub(crate) local: LocalTrials,
}

impl TrialServer {
    /// Runs the receiving end of a trial. Meanwhile, questions with the token are answered.
    ///
    /// # Errors
    /// Fails if something cannot be built or breaks, and if a message is out of turn.
    pub(crate) fn receivers(&mut self, spec: &TrialSpec) -> anyhow::Result<()> {
        let (mut opened, scope) = open(spec, EndRole::Receivers, &mut self.local)?;
        let bound = opened.sockets.bind()?.into_iter();
        let bound = bound.map(|it| Scope::OF_MESSAGES.address(it));
        let conversation = &mut self.conversation;
        conversation.answer(&bound.collect::<Vec<SocketAddr>>())?;
        let mut flows = Vec::new();
        let mut losses: Option<LossWatch> = None;
        loop {
            match conversation.next_if_any()? {
                None => opened.sockets.probes()?.answer_questions()?,
                Some(Request::HasProbeArrived(source)) => {
                    let has_heard = opened.sockets.probes()?.has_heard(scope.address(source));
                    conversation.answer(&has_heard)?;
                }
                Some(Request::LossPlaces) => {
                    let start = || LossWatch::start(LossReader::open("thread-self"));
                    let losses = losses.get_or_insert_with(start);
                    conversation.answer(&losses.places())?;
                }
                Some(Request::Accept(accepted)) => {
                    flows = scope.flows(&accepted);
                    flows::assign(&spec.case, &flows, &mut *opened.sockets)?;
                    conversation.answer(&())?;
                }
                Some(Request::Go) => break,
                Some(other) => bail!("{} is out of turn", other.name()),
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
        &mut self,
        spec: &TrialSpec,
        receivers: &[SocketAddr],
    ) -> anyhow::Result<()> {
        let (mut opened, scope) = open(spec, EndRole::Senders, &mut self.local)?;
        let receivers = receivers.iter().map(|peer| scope.address(*peer));
        let receivers: Vec<SocketAddr> = receivers.collect();
        let flows = flows::find(&spec.case, &receivers, &mut *opened.sockets)?;
        let conversation = &mut self.conversation;
        conversation.answer(&Scope::OF_MESSAGES.flows(&flows))?;
        conversation.expect_request(&Request::Ready)?;
        flows::confirm(&spec.case, &flows, &mut *opened.sockets)?;
        let running = opened.assemble(&flows)?;
        conversation.answer(&())?;
        conversation.expect_request(&Request::Go)?;
        run_across(spec, running, conversation)
    }

    /// Finds the longest payload, in bytes and up to `most`, that arrives in one piece at this receiver and is
    /// answered. `None`: not even short payloads arrive.
    ///
    /// Nearly always that is `most`, and a single probe shows it.
    ///
    /// # Errors
    /// Fails if something cannot be built or breaks.
    pub(crate) fn longest_payload(
        &mut self,
        spec: &TrialSpec,
        receiver: SocketAddr,
        most: u32,
    ) -> anyhow::Result<Option<u32>> {
        let (mut opened, scope) = open(spec, EndRole::Senders, &mut self.local)?;
        let source = opened.sockets.open_sender(scope.address(receiver))?;
        let probes = opened.sockets.probes()?;
        probes.forbid_fragmentation(source)?;
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
}

fn open<'a>(
    spec: &'a TrialSpec,
    role: EndRole,
    local: &'a mut LocalTrials,
) -> anyhow::Result<(PreparedEnd<'a>, Scope)> {
    let peer = spec.peer_of(role).context("a trial has two addresses")?;
    let scope = Scope::of(Some(peer.local_address))?;
    Ok((local.open(spec, role)?, scope))
}

/// Runs the threads of an end, waits until the datagrams that were sent to it have arrived, if it receives any, and
/// tells its result. The senders' end first tells its counts.
fn run_across(
    spec: &TrialSpec,
    mut running: RunningEnd,
    conversation: &mut Conversation,
) -> anyhow::Result<()> {
    let length = spec.settings.traffic_time();
    conversation.last_heard.suspend_heartbeat(length);
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
