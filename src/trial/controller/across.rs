//! A trial between two hosts, seen from the controller: the requests to each end, and their order.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context, anyhow};

use crate::data::{Case, Counts, Direction, Sample};
use crate::host::placement::Placement;
use crate::plan::{Settings, WireLink};
use crate::trial::controller::agent::Agent;
use crate::trial::messages::end_result::{self, EndResult};
use crate::trial::messages::message::Request;
use crate::trial::messages::spec::{Flow, QUESTION_BYTES, TrialSpec};
use crate::trial::sockets::flows::Blocked;

/// Runs a trial between two hosts; `here` is the agent on the local host.
///
/// # Errors
/// Fails if something cannot be built or breaks, and if an end is gone. Both agents must be restarted then.
pub(crate) fn run(
    spec: &TrialSpec,
    local: &mut Agent,
    remote: &mut Agent,
) -> anyhow::Result<Sample> {
    let (case, length) = (&spec.case, spec.settings.traffic_time());
    let engines = spec.engines()?;
    let spec = spec.clone().with_token()?;
    let (receivers, senders, bound) = begin(&spec, local, remote)?;
    let found = senders.call(&Request::Send {
        spec: Box::new(spec),
        receivers: bound,
    });
    let flows: Vec<Flow> = found.map_err(|error| explained(error, receivers))?;
    receivers.call::<()>(&Request::Accept(flows))?;
    let ready = senders.call::<()>(&Request::Ready);
    ready.map_err(|error| explained(error, receivers))?;

    // The receivers start first: datagrams sent before their window opens are in neither window.
    receivers.call::<()>(&Request::Go)?;
    receivers.last_heard.suspend_heartbeat(length);
    senders.ask(&Request::Go)?;
    senders.last_heard.suspend_heartbeat(length);
    let sent: Counts = senders.answer_beside(length, receivers)?;

    let expected = sent.taken();
    receivers.ask(&Request::Drain { expected })?;
    // Each request has one response. How many other datagrams come back, only the other end knows.
    let expected = if case.is_rr() { expected } else { 0 };
    senders.ask(&Request::Drain { expected })?;
    let ends: [EndResult; 2] = [receivers.answer(length)?, senders.answer(length)?];
    // The clock and the power of the local host count.
    let own = &ends[usize::from(!case.remote_sends())].sample;
    Ok(Sample {
        opened_unix_ms: own.opened_unix_ms,
        power_uw: own.power_uw,
        ..end_result::sample(case, engines, &ends)
    })
}

/// Finds the longest payload, in bytes and up to `most`, that arrives in one piece over a link in this direction, and
/// is answered. If not even short payloads do, returns the packets that the receivers' host lost meanwhile, by place.
///
/// # Errors
/// Fails if an end is gone.
pub(crate) fn longest_payload(
    link: &WireLink,
    direction: Direction,
    most: u32,
    local: &mut Agent,
    remote: &mut Agent,
) -> anyhow::Result<Result<u32, BTreeMap<String, u64>>> {
    let ip = link.ip();
    let key = format!("std:std/2t/{QUESTION_BYTES}B/connected/{ip}/{direction}");
    let case = Case::of_key(&key).context("a case")?;
    let placement = Placement::unpinned(case.threads);
    let spec = TrialSpec {
        between: Some(link.between(&case)),
        ..TrialSpec::new(&case, &placement, &Settings::default()).with_token()?
    };
    let (receivers, senders, bound) = begin(&spec, local, remote)?;
    let find = Request::FindLongestPayload {
        spec: Box::new(spec),
        receiver: *bound.first().context("no receiver is bound")?,
        most,
    };
    let longest: Option<u32> = senders.call(&find)?;
    if let Some(longest) = longest {
        return Ok(Ok(longest));
    }
    // Once more, while the receivers' host looks where it loses them.
    let _: BTreeMap<String, u64> = receivers.call(&Request::LossPlaces)?;
    let longest: Option<u32> = senders.call(&find)?;
    let places = receivers.call(&Request::LossPlaces)?;
    Ok(longest.ok_or(places))
}

/// Has the receiving end bind its sockets. Returns the agents of receivers and senders, and the addresses that the
/// receivers are bound to.
fn begin<'a>(
    spec: &TrialSpec,
    local: &'a mut Agent,
    remote: &'a mut Agent,
) -> anyhow::Result<(&'a mut Agent, &'a mut Agent, Vec<SocketAddr>)> {
    let (receivers, senders) = if spec.case.remote_sends() {
        (local, remote)
    } else {
        (remote, local)
    };
    let bound = receivers.call(&Request::Receive(Box::new(spec.clone())))?;
    Ok((receivers, senders, bound))
}

/// Explains a [`Blocked`] error: asks the receivers whether a probe arrived, and names the direction that is blocked.
///
/// Both hosts still answer the controller. Other errors are returned unchanged.
fn explained(error: anyhow::Error, receivers: &mut Agent) -> anyhow::Error {
    let Some(blocked) = error.downcast_ref::<Blocked>() else {
        return error;
    };
    let (source, peer, tries) = (blocked.sender, blocked.peer, blocked.tries);
    let has_arrived = match receivers.call(&Request::HasProbeArrived(source)) {
        Ok(has_arrived) => has_arrived,
        Err(error) => return error,
    };
    let (what, from, to) = if has_arrived {
        ("no answer came back", peer, source)
    } else {
        ("no datagram came through", source, peer)
    };
    let (ip, port) = (to.ip(), to.port());
    anyhow!(
        "{what}: UDP from {} to {ip} port {port} was tried {tries} times in 3 s, and both hosts answer otherwise: a firewall \
         at either end (nft list ruleset, iptables -S) or between them?",
        from.ip()
    )
}
