//! Which flow ends at which receiver.
//!
//! `SO_REUSEPORT` spreads flows by a hash of addresses and ports (socket(7)). With two senders and two
//! receivers, half of all runs would put both flows on one receiver, and the result would be a coin toss.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};

use super::site::{Flow, Sites};
use crate::data::{Case, Connection, Sharing, Spread};
use crate::sys::interrupt::{Interrupt, Interrupted};

/// How long a probe may take on loopback, on however busy a machine, before it counts as lost.
const PROBE_PATIENCE: Duration = Duration::from_secs(3);

/// After so long a probe is sent once more, as a firewall or a queueing discipline may have dropped it.
const PROBE_AGAIN: Duration = Duration::from_millis(500);

/// Makes all sockets, finds out where each sender's datagrams end, and connects the receivers where every one
/// of them has exactly one sender of its own. The flows are in the order of the senders.
///
/// # Errors
/// When a probe gets lost, or no even spread is found.
pub(super) fn make(
    case: &Case,
    sites: &mut Sites,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Flow>> {
    let receivers = sites.receivers().bind()?;
    ensure!(
        receivers.len() == case.receiver_sockets(),
        "{} receivers are bound, not those of the case",
        receivers.len()
    );
    let mut discovery = Discovery {
        is_across: case.direction.is_some(),
        senders: case.threads.senders(),
        sharing: case.sharing.unwrap_or(Sharing::Separate),
        receivers: &receivers,
        sites,
        interrupt,
    };
    if case.flows.is_some() || case.transport.is_some() {
        return discovery.apart(case);
    }
    let is_steered = discovery.sharing == Sharing::Reuseport(Spread::Bpf);
    let mut flows = if is_steered {
        discovery.steered()?
    } else {
        discovery.found()?
    };
    // A case pairs sender n with receiver n where it can: placements rely on it.
    if flows.len() == receivers.len() && discovery.sharing.is_even() {
        flows.sort_unstable_by_key(|flow| flow.receiver);
        // A connected receiver is found without the group's program, which is what is to be measured.
        if case.connection == Connection::Connected && !is_steered {
            discovery.connect(&flows)?;
        }
    }
    Ok(flows)
}

struct Discovery<'a, 'b> {
    /// Whether the parts are on two hosts.
    is_across: bool,
    senders: usize,
    sharing: Sharing,
    /// Their addresses.
    receivers: &'a [SocketAddr],
    sites: &'a mut Sites<'b>,
    interrupt: &'a Interrupt,
}

impl Discovery<'_, '_> {
    /// Tries source ports until each receiver has as many flows as `sharing` wants.
    fn found(&mut self) -> anyhow::Result<Vec<Flow>> {
        let (senders, receivers) = (self.senders, self.receivers.len());
        let mut room = if self.sharing.is_even() {
            Room::shared_evenly(senders, receivers)
        } else {
            Room::unlimited(receivers)
        };
        // The last sender has one free receiver to hit: that takes as many tries as there are receivers,
        // on average, and hardly ever (e^-50) fifty times as many.
        let mut tries = 50 * receivers * senders;
        let mut flows = Vec::with_capacity(senders);
        while flows.len() < senders {
            ensure!(
                tries > 0,
                "no source ports found that spread {senders} flows evenly over the receivers"
            );
            tries -= 1;
            // Where they share one address, it is that of any of them.
            let peer = self.receivers[flows.len() % receivers];
            let source = self.sites.senders().aim(peer)?;
            let receiver = self.probe(source, peer)?;
            if room.take(receiver) {
                flows.push(Flow {
                    source,
                    peer,
                    receiver,
                });
            } else {
                self.sites.senders().close_sender(source)?;
            }
        }
        Ok(flows)
    }

    /// Tells the kernel which receiver each source port belongs to, and verifies it.
    fn steered(&mut self) -> anyhow::Result<Vec<Flow>> {
        let &peer = self.receivers.first().context("a case has a receiver")?;
        let mut flows = Vec::with_capacity(self.senders);
        for n in 0..self.senders {
            flows.push(Flow {
                source: self.sites.senders().aim(peer)?,
                peer,
                receiver: n % self.receivers.len(),
            });
        }
        self.sites.receivers().pair(&flows)?;
        for flow in &flows {
            ensure!(
                self.ends_where_it_should(flow)?,
                "this kernel ignores the BPF program of --spread bpf; use --spread even"
            );
        }
        Ok(flows)
    }

    /// Each flow ends at a socket of its own, or at that of its server. That the first one gets there shows that
    /// nothing between them is in the way; how the others fare is in their counts.
    fn apart(&mut self, case: &Case) -> anyhow::Result<Vec<Flow>> {
        let mut flows = Vec::with_capacity(case.flow_count());
        for n in 0..case.flow_count() {
            ensure!(self.interrupt.signal().is_none(), Interrupted);
            let receiver = case.socket_of_flow(n);
            let peer = self.receivers[receiver];
            flows.push(Flow {
                source: self.sites.senders().aim(peer)?,
                peer,
                receiver,
            });
        }
        if case.connection == Connection::Connected {
            self.sites.receivers().pair(&flows)?;
        }
        // A connection is made only where nothing is.
        if let Some(first) = flows.first().filter(|_| case.transport.is_none()) {
            self.probe(first.source, first.peer)?;
        }
        Ok(flows)
    }

    fn connect(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        self.sites.receivers().pair(flows)?;
        // Connecting changes how the kernel looks receivers up, and kernels before 5.4 had it wrong.
        for flow in flows {
            ensure!(
                self.ends_where_it_should(flow)?,
                "this kernel delivers a connected flow to another socket of its SO_REUSEPORT group; use \
                 --connection unconnected or --threads 2"
            );
        }
        Ok(())
    }

    fn ends_where_it_should(&mut self, flow: &Flow) -> anyhow::Result<bool> {
        Ok(self.probe(flow.source, flow.peer)? == flow.receiver)
    }

    /// Sends a datagram, several times if it must be, and returns the receiver that it reached.
    fn probe(&mut self, source: SocketAddr, peer: SocketAddr) -> anyhow::Result<usize> {
        let deadline = Instant::now() + PROBE_PATIENCE;
        let (mut refusal, mut tries, mut has_arrived) = (None, 0, false);
        while Instant::now() < deadline {
            tries += 1;
            refusal = self.sites.senders().probe(source)?;
            let next = Instant::now() + PROBE_AGAIN;
            while Instant::now() < next {
                if let Some(receiver) = self.sites.receivers().arrived(source)? {
                    let known = receiver < self.receivers.len();
                    ensure!(known, "a probe datagram arrived at no receiver of the case");
                    has_arrived = true;
                    if !self.is_across || self.sites.senders().is_proven(source)? {
                        return Ok(receiver);
                    }
                }
                if self.interrupt.signal().is_some() {
                    bail!(Interrupted);
                }
            }
        }
        match refusal {
            Some(refusal) => {
                bail!("cannot send a probe datagram from {source} to {peer}: {refusal}")
            }
            None if self.is_across => Err(blocked(source, peer, tries, has_arrived)),
            None => bail!(
                "no probe datagram from {source} to {peer} arrived within 3 s: check for a firewall on \
                 loopback (nft list ruleset)"
            ),
        }
    }
}

/// Says what was tried between two hosts that both answer their controller.
fn blocked(source: SocketAddr, peer: SocketAddr, tries: u32, has_arrived: bool) -> anyhow::Error {
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

/// How many more flows each receiver may have.
struct Room {
    taken: Vec<usize>,
    each: usize,
    /// How many receivers may have one more than `each`.
    larger: usize,
}

impl Room {
    fn shared_evenly(flows: usize, receivers: usize) -> Self {
        Self {
            taken: vec![0; receivers],
            each: flows / receivers,
            larger: flows % receivers,
        }
    }

    fn unlimited(receivers: usize) -> Self {
        Self {
            taken: vec![0; receivers],
            each: usize::MAX,
            larger: 0,
        }
    }

    fn take(&mut self, receiver: usize) -> bool {
        let taken = &mut self.taken[receiver];
        if *taken == self.each && self.larger > 0 {
            self.larger -= 1;
        } else if *taken >= self.each {
            return false;
        }
        *taken += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::local::Local;
    use crate::measure::site::{Part, Site, SiteBrief};
    use crate::sys::files::Root;
    use crate::sys::reuseport_bpf;

    #[test]
    fn room_is_shared_as_evenly_as_it_can_be() {
        let mut room = Room::shared_evenly(5, 3);
        let wishes = [0, 0, 0, 1, 1, 2, 1, 2];
        let taken: Vec<usize> = wishes.into_iter().filter(|&n| room.take(n)).collect();
        assert_eq!(taken, [0, 0, 1, 1, 2]);
        assert_eq!(room.taken, [2, 2, 1]);
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
            if sharing == Sharing::Reuseport(Spread::Bpf) && reuseport_bpf::probe().is_err() {
                continue;
            }
            let case = Case {
                connection,
                threads: 8.try_into().expect("in range"),
                sharing: Some(sharing),
                ..crate::row::tests::case()
            };
            let root = Root::default();
            let mut local = Local::new(&root);
            let brief = SiteBrief::of(case, Part::Both);
            local.open(&brief).expect("std is in every build");
            let mut sites = Sites::One(&mut local);
            let interrupt = Interrupt::never().expect("a pair of sockets");
            let flows = make(&case, &mut sites, &interrupt).expect("loopback works");
            assert_eq!(flows.len(), 4);
            let receivers: Vec<SocketAddr> = flows.iter().map(|flow| flow.peer).collect();
            let mut discovery = Discovery {
                is_across: false,
                senders: 4,
                sharing,
                receivers: &receivers,
                sites: &mut sites,
                interrupt: &interrupt,
            };
            for (n, flow) in flows.iter().enumerate() {
                assert_eq!(flow.receiver, n);
                let reached = discovery.probe(flow.source, flow.peer);
                assert_eq!(reached.expect("arrives"), n);
            }
        }
    }
}
