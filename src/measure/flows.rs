//! Which flow ends at which receiver.
//!
//! `SO_REUSEPORT` spreads flows by a hash of addresses and ports (socket(7)). With two senders and two
//! receivers, half of all runs would put both flows on one receiver, and the result would be a coin toss.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::bind;
use crate::data::{Case, Connection, Sharing, Spread};
use crate::sys::interrupt::Interrupt;
use crate::sys::reuseport_bpf;

/// A sender's socket and where its datagrams end.
pub(super) struct Flow {
    pub(super) sender: UdpSocket,
    pub(super) peer: SocketAddr,
    pub(super) receiver: usize,
}

/// How long a probe may take on loopback, on however busy a machine, before it counts as lost.
const PROBE_PATIENCE: Duration = Duration::from_secs(3);

/// After so long a probe is sent once more, as a firewall or a queueing discipline may have dropped it.
const PROBE_AGAIN: Duration = Duration::from_millis(500);

/// How often a wait for a probe looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// Makes the senders, finds out where each one's datagrams end, and connects the receivers where every
/// one of them has exactly one sender of its own.
///
/// # Errors
/// When a probe gets lost, or no even spread is found.
pub(super) fn flows(
    case: &Case,
    receivers: &[UdpSocket],
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Flow>> {
    let senders = case.threads.senders();
    let sharing = case.sharing.unwrap_or(Sharing::Separate);
    let mut flows = match sharing {
        Sharing::Reuseport(Spread::Bpf) => steered(case, receivers, interrupt)?,
        _ => found(case, sharing, receivers, interrupt)?,
    };
    // A case pairs sender n with receiver n where it can: placements rely on it.
    if senders == receivers.len() && sharing.is_even() {
        flows.sort_unstable_by_key(|flow| flow.receiver);
        // A connected receiver is found without the group's program, which is what is to be measured.
        let steered = sharing == Sharing::Reuseport(Spread::Bpf);
        if case.connection == Connection::Connected && !steered {
            connect_receivers(&flows, receivers, interrupt)?;
        }
    }
    Ok(flows)
}

/// Tries source ports until each receiver has as many flows as `sharing` wants.
fn found(
    case: &Case,
    sharing: Sharing,
    receivers: &[UdpSocket],
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Flow>> {
    let senders = case.threads.senders();
    let mut room = if sharing.is_even() {
        Room::shared_evenly(senders, receivers.len())
    } else {
        Room::unlimited(receivers.len())
    };
    // The last sender has one free receiver to hit: that takes as many tries as there are receivers,
    // on average, and hardly ever (e^-50) fifty times as many.
    let mut tries = 50 * receivers.len() * senders;
    let mut flows = Vec::with_capacity(senders);
    while flows.len() < senders {
        ensure!(
            tries > 0,
            "no source ports found that spread {senders} flows evenly over the receivers"
        );
        tries -= 1;
        // Where they share one address, it is that of any of them.
        let peer = receivers[flows.len() % receivers.len()].local_addr()?;
        let sender = make_sender(case, peer)?;
        let receiver = probe(&sender, peer, receivers, interrupt)?;
        if room.take(receiver) {
            flows.push(Flow {
                sender,
                peer,
                receiver,
            });
        }
    }
    Ok(flows)
}

/// Tells the kernel which receiver each source port belongs to, and verifies it.
fn steered(
    case: &Case,
    receivers: &[UdpSocket],
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Flow>> {
    let group = receivers.first().context("a case has a receiver")?;
    let peer = group.local_addr()?;
    let mut flows = Vec::with_capacity(case.threads.senders());
    for n in 0..case.threads.senders() {
        flows.push(Flow {
            sender: make_sender(case, peer)?,
            peer,
            receiver: n % receivers.len(),
        });
    }
    let port = |flow: &Flow| io::Result::Ok((flow.sender.local_addr()?.port(), flow.receiver));
    let ports: Vec<(u16, usize)> = flows.iter().map(port).collect::<io::Result<_>>()?;
    reuseport_bpf::by_source_port(group, &ports).context("cannot set SO_ATTACH_REUSEPORT_CBPF")?;
    for flow in &flows {
        let reached = probe(&flow.sender, flow.peer, receivers, interrupt)?;
        ensure!(
            reached == flow.receiver,
            "this kernel ignores the BPF program of --spread bpf; use --spread even"
        );
    }
    Ok(flows)
}

fn make_sender(case: &Case, peer: SocketAddr) -> anyhow::Result<UdpSocket> {
    bind::sender(case, peer).with_context(|| format!("cannot make a sender socket towards {peer}"))
}

fn connect_receivers(
    flows: &[Flow],
    receivers: &[UdpSocket],
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    for (flow, receiver) in flows.iter().zip(receivers) {
        receiver
            .connect(flow.sender.local_addr()?)
            .context("cannot connect a receiver to its sender")?;
    }
    // Connecting changes how the kernel looks receivers up, and kernels before 5.4 had it wrong.
    for flow in flows {
        let reached = probe(&flow.sender, flow.peer, receivers, interrupt)?;
        ensure!(
            reached == flow.receiver,
            "this kernel delivers a connected flow to another socket of its SO_REUSEPORT group; use \
             --connection unconnected or --threads 2"
        );
    }
    Ok(())
}

/// Sends a datagram, several times if it must be, and returns the receiver that it reached.
fn probe(
    sender: &UdpSocket,
    peer: SocketAddr,
    receivers: &[UdpSocket],
    interrupt: &Interrupt,
) -> anyhow::Result<usize> {
    let source = sender.local_addr()?;
    let deadline = Instant::now() + PROBE_PATIENCE;
    let mut refusal = None;
    while Instant::now() < deadline {
        let sent = if sender.peer_addr().is_ok() {
            sender.send(&[0])
        } else {
            sender.send_to(&[0], peer)
        };
        refusal = sent.err();
        let next = Instant::now() + PROBE_AGAIN;
        while Instant::now() < next {
            let left = next.saturating_duration_since(Instant::now());
            for receiver in readable(receivers, left.min(LOOK))? {
                let (_, from) = receivers[receiver].recv_from(&mut [0; 1])?;
                if from == source {
                    return Ok(receiver);
                }
            }
            if interrupt.signal().is_some() {
                bail!("called off");
            }
        }
    }
    match refusal {
        Some(error) => Err(error)
            .with_context(|| format!("cannot send a probe datagram from {source} to {peer}")),
        None => bail!(
            "no probe datagram from {source} to {peer} arrived within 3 s: check for a firewall on \
             loopback (nft list ruleset)"
        ),
    }
}

/// The receivers that have something to read, after waiting for at most `limit`.
fn readable(receivers: &[UdpSocket], limit: Duration) -> io::Result<Vec<usize>> {
    let timeout = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
    let mut waiting: Vec<PollFd> = receivers
        .iter()
        .map(|receiver| PollFd::new(receiver.as_fd(), PollFlags::POLLIN))
        .collect();
    match poll(&mut waiting, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = |fd: &PollFd| fd.any().unwrap_or(false);
    Ok((0..receivers.len())
        .filter(|&n| ready(&waiting[n]))
        .collect())
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
                ..crate::data::case::tests::case()
            };
            let sockets: Vec<UdpSocket> = bind::receivers(&case).expect("loopback works");
            let interrupt = Interrupt::never().expect("a pair of sockets");
            let flows = flows(&case, &sockets, &interrupt).expect("loopback works");
            for (n, flow) in flows.iter().enumerate() {
                assert_eq!(flow.receiver, n);
                assert_eq!(
                    probe(&flow.sender, flow.peer, &sockets, &interrupt).expect("arrives"),
                    n
                );
            }
        }
    }
}
