//! Determines which flow ends at which receiver.
//!
//! `SO_REUSEPORT` spreads flows by a hash of addresses and ports (socket(7)). With two senders and two receivers, half
//! of all runs would put both flows on one receiver, and the result would be a coin toss.
//!
//! The sending end finds out, on one host and between two: `find` first, then `assign` at the receivers, then
//! `confirm`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::data::{Case, Connection, Sharing, Spread};
use crate::trial::messages::spec::Flow;
use crate::trial::sockets::EndSockets;

/// Time after which a probe counts as lost; enough for loopback on any busy machine.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Time after which a probe is repeated, since a firewall or a queueing discipline may have dropped it.
const PROBE_AGAIN: Duration = Duration::from_millis(500);

/// Makes the senders, and finds out where the datagrams of each one end. The flows are in the order of the senders.
///
/// # Errors
/// Returns [`Blocked`] if nothing comes through. Returns another error if no even spread is found.
pub(crate) fn find(
    case: &Case,
    receivers: &[SocketAddr],
    sockets: &mut dyn EndSockets,
) -> anyhow::Result<Vec<Flow>> {
    ensure!(
        receivers.len() == case.receiver_sockets(),
        "{} receivers are bound, not those of the case",
        receivers.len()
    );
    if has_flows_of_its_own(case) || is_steered(case) {
        let flows = (0..case.flow_count()).map(|n| {
            let receiver = if has_flows_of_its_own(case) {
                case.socket_of_flow(n)
            } else {
                n % receivers.len()
            };
            // Receivers that share one address all have that address.
            let peer = receivers[receiver];
            let source = sockets.open_sender(peer)?;
            Ok(Flow {
                source,
                peer,
                receiver,
            })
        });
        return flows.collect();
    }
    let mut flows = spread(case, receivers, sockets)?;
    // A case pairs sender n with receiver n if it can: placements rely on it.
    if is_one_to_one(case, &flows) {
        flows.sort_unstable_by_key(|flow| flow.receiver);
    }
    Ok(flows)
}

/// Assigns each flow to its receiver, which then takes no other, if the case asks for it and each receiver has exactly
/// one flow.
///
/// # Errors
/// Fails if a system call fails.
pub(crate) fn assign(
    case: &Case,
    flows: &[Flow],
    sockets: &mut dyn EndSockets,
) -> anyhow::Result<()> {
    if is_assigned(case, flows) {
        sockets.assign_flows(flows)?;
    }
    Ok(())
}

/// Checks that datagrams still end at the same receivers, which [`assign`] may have changed.
///
/// # Errors
/// Returns [`Blocked`] if nothing comes through. Returns another error if datagrams end elsewhere.
pub(crate) fn confirm(
    case: &Case,
    flows: &[Flow],
    sockets: &mut dyn EndSockets,
) -> anyhow::Result<()> {
    if case.transport.is_some() {
        // A connection can only be made if nothing is in the way.
        return Ok(());
    }
    if has_flows_of_its_own(case) {
        // If the first flow comes through, nothing is in the way. The counts of the other flows show how they do.
        let first = flows.first().context("a case has a flow")?;
        return probe(first.source, first.peer, sockets).map(drop);
    }
    for flow in flows.iter().filter(|_| is_assigned(case, flows)) {
        let reached = probe(flow.source, flow.peer, sockets)?;
        ensure!(
            reached == flow.receiver || !is_steered(case),
            "this kernel ignores the BPF program of --spread bpf; use --spread even"
        );
        // Kernels before 5.4 have this bug.
        ensure!(
            reached == flow.receiver,
            "this kernel delivers a connected flow to another socket of its SO_REUSEPORT group; use \
             --connection unconnected or --threads 2"
        );
    }
    Ok(())
}

/// Returns whether each flow ends at its own socket, or at the socket of its server.
fn has_flows_of_its_own(case: &Case) -> bool {
    case.flows.is_some() || case.transport.is_some()
}

/// Returns whether the kernel is told which receiver each source port belongs to.
fn is_steered(case: &Case) -> bool {
    case.sharing == Some(Sharing::Reuseport(Spread::Bpf))
}

fn is_one_to_one(case: &Case, flows: &[Flow]) -> bool {
    let sharing = case.sharing.unwrap_or(Sharing::Separate);
    flows.len() == case.receiver_sockets() && sharing.is_even()
}

fn is_assigned(case: &Case, flows: &[Flow]) -> bool {
    let can_be = has_flows_of_its_own(case) || is_one_to_one(case, flows);
    is_steered(case) || (can_be && case.connection == Connection::Connected)
}

/// Tries source ports until each receiver has as many flows as it should.
fn spread(
    case: &Case,
    receivers: &[SocketAddr],
    sockets: &mut dyn EndSockets,
) -> anyhow::Result<Vec<Flow>> {
    let senders = case.threads.senders();
    let is_even = case.sharing.is_none_or(Sharing::is_even);
    // The last sender has to hit the one receiver that is still free. On average that takes one try per receiver; fifty
    // times as many are hardly ever needed (e^-50).
    let mut tries = 50 * receivers.len() * senders;
    let mut flows: Vec<Flow> = Vec::with_capacity(senders);
    while flows.len() < senders {
        ensure!(
            tries > 0,
            "no source ports found that spread {senders} flows evenly over the receivers"
        );
        tries -= 1;
        // Receivers that share one address all have that address.
        let peer = receivers[flows.len() % receivers.len()];
        let source = sockets.open_sender(peer)?;
        let receiver = probe(source, peer, sockets)?;
        ensure!(
            receiver < receivers.len(),
            "a probe datagram arrived at no receiver of the case"
        );
        if !is_even || has_room(&flows, receiver, senders, receivers.len()) {
            flows.push(Flow {
                source,
                peer,
                receiver,
            });
        } else {
            sockets.take_sender(source)?;
        }
    }
    Ok(flows)
}

/// Returns whether a receiver may have one more flow, if all are spread evenly. Some have one flow more than others
/// then.
fn has_room(flows: &[Flow], receiver: usize, senders: usize, receivers: usize) -> bool {
    let count = |of: usize| flows.iter().filter(|flow| flow.receiver == of).count();
    let (each, more) = (senders / receivers, senders % receivers);
    let larger = (0..receivers).filter(|&of| count(of) > each).count();
    count(receiver) < each + usize::from(larger < more)
}

/// Sends a datagram, repeatedly if necessary, and returns the receiver that it reached.
fn probe(
    source: SocketAddr,
    peer: SocketAddr,
    sockets: &mut dyn EndSockets,
) -> anyhow::Result<usize> {
    let probes = sockets.probes()?;
    let deadline = Instant::now() + PROBE_TIMEOUT;
    let (mut refusal, mut tries) = (None, 0);
    while Instant::now() < deadline {
        tries += 1;
        refusal = probes.probe(source, 0)?;
        let next = Instant::now() + PROBE_AGAIN;
        while Instant::now() < next {
            if let Some(receiver) = probes.receiver_reached(source)? {
                return Ok(receiver);
            }
        }
    }
    match refusal {
        Some(refusal) => bail!("cannot send a probe datagram from {source} to {peer}: {refusal}"),
        None => bail!(Blocked {
            sender: source,
            peer,
            tries
        }),
    }
}

/// Error: no probe came through, although the kernel took all of them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, thiserror::Error)]
#[error(
    "no probe datagram from {sender} to {peer} arrived within {} s: check for a firewall on loopback (nft list ruleset)",
    PROBE_TIMEOUT.as_secs()
)]
pub struct Blocked {
    /// Address of the sender.
    pub sender: SocketAddr,
    /// Address that it sends to.
    pub peer: SocketAddr,
    /// Number of probes that were sent.
    pub tries: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::placement::Placement;
    use crate::plan::Settings;
    use crate::sys::files::Root;
    use crate::sys::reuseport;
    use crate::trial::end::local::LocalTrials;
    use crate::trial::messages::spec::{EndRole, TrialSpec};

    #[test]
    fn room_is_shared_as_evenly_as_it_can_be() {
        let nowhere: SocketAddr = ([0; 4], 0).into();
        let mut flows = Vec::new();
        for receiver in [0, 0, 0, 1, 1, 2, 1, 2] {
            if has_room(&flows, receiver, 5, 3) {
                flows.push(Flow {
                    source: nowhere,
                    peer: nowhere,
                    receiver,
                });
            }
        }
        let taken: Vec<usize> = flows.iter().map(|flow| flow.receiver).collect();
        assert_eq!(taken, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn every_receiver_of_an_even_spread_is_reached_by_its_own_sender() {
        let ways = [
            Sharing::DEFAULT,
            Sharing::Reuseport(Spread::Bpf),
            Sharing::Separate,
        ];
        let connections = [Connection::Connected, Connection::Unconnected];
        for (sharing, connection) in ways
            .into_iter()
            .flat_map(|way| connections.map(|c| (way, c)))
        {
            if sharing == Sharing::Reuseport(Spread::Bpf) && reuseport::probe_bpf().is_err() {
                continue;
            }
            let case = Case {
                connection,
                threads: 8.try_into().expect("in range"),
                sharing: Some(sharing),
                ..crate::results::row::tests::case()
            };
            let placement = Placement::unpinned(case.threads);
            let spec = TrialSpec::new(&case, &placement, &Settings::default());
            let mut trials = LocalTrials::new(&Root::default(), None);
            let opened = trials.open(&spec, EndRole::Both);
            let mut sockets = opened.expect("std is in every build").sockets;
            let receivers = sockets.bind().expect("loopback works");
            let flows = find(&case, &receivers, &mut *sockets).expect("loopback works");
            assign(&case, &flows, &mut *sockets).expect("loopback works");
            confirm(&case, &flows, &mut *sockets).expect("they end where they should");
            assert_eq!(flows.len(), 4);
            for (n, flow) in flows.iter().enumerate() {
                assert_eq!(flow.receiver, n);
                let reached = probe(flow.source, flow.peer, &mut *sockets);
                assert_eq!(reached.expect("arrives"), n);
            }
        }
    }
}
