//! Description of a trial: plain data that means the same to another process. Between two hosts, it has a token that
//! proves that a datagram comes from the host with which the trial was agreed. Link-local addresses (fe80::/10) have no
//! numbers of interfaces in messages: each host numbers its own, so a number means nothing to the other host.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::data::{Case, EngineName, HostAddress, Sample};
use crate::engines::{self, Engines};
use crate::host::placement::Placement;
use crate::plan::{EndAddresses, Settings, VERIFYING, Wire};
use crate::sys::nic;

/// Longest window of a verification, if nothing arrived in shorter ones.
const VERIFYING_LONGEST: Duration = Duration::from_millis(64 * 20);

/// One run of a case: warm-up, window, drain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// Case to measure.
    pub case: Case,
    /// CPUs of all threads, on whichever host they run.
    pub placement: Placement,
    /// Durations of the trial, and readings during it.
    pub settings: Settings,
    /// Addresses of the two ends, if they are on two hosts.
    pub between: Option<EndAddresses>,
    /// Token that proves the identity of the other end, if it is on another host.
    pub token: Option<Token>,
    /// Programs of the case, each with the name of its engine.
    pub programs: Vec<(EngineName, PathBuf)>,
    /// True if the datagrams are distinguishable and each one is checked: see [`Sample::verified`].
    pub verifies: bool,
}

impl TrialSpec {
    /// Describes a trial on one host, without verification.
    pub fn new(case: &Case, placement: &Placement, settings: &Settings) -> Self {
        let mut names = vec![case.sender, case.receiver];
        names.dedup();
        let path_of = |name: EngineName| engines::exec::find(name.as_str())?.executable;
        let programs = names.into_iter();
        let programs = programs.filter_map(|name| Some((name, path_of(name)?.to_owned())));
        Self {
            case: *case,
            placement: placement.clone(),
            settings: settings.clone(),
            between: None,
            token: None,
            programs: programs.collect(),
            verifies: false,
        }
    }

    /// Returns the engines of the case, which may be programs that this process did not know before.
    ///
    /// # Errors
    /// Fails if this build lacks one of the engines, or knows another one by the name of a program.
    pub(crate) fn engines(&self) -> anyhow::Result<Engines> {
        engines::exec::add_all(&self.programs).map_err(anyhow::Error::msg)?;
        engines::of(&self.case).map_err(anyhow::Error::msg)
    }

    /// Sets the addresses of the two ends, if they are on two hosts.
    pub fn over(self, wire: Option<&Wire>) -> Self {
        let link = wire.and_then(|wire| wire.link(&self.case));
        let between = link.map(|link| link.between(&self.case));
        Self { between, ..self }
    }

    /// Gives the trial a new token.
    ///
    /// # Errors
    /// Fails if there are no random numbers.
    pub(crate) fn with_token(self) -> anyhow::Result<Self> {
        let token = Token::random().context("cannot read /dev/urandom")?;
        Ok(Self {
            token: Some(token),
            ..self
        })
    }

    /// Runs the trial for a short while with distinguishable datagrams: see [`Sample::verified`]. Repeats it with
    /// longer windows while nothing arrives.
    ///
    /// # Errors
    /// Returns the errors of `run`.
    pub fn verify<E>(&self, mut run: impl FnMut(&Self) -> Result<Sample, E>) -> Result<Sample, E> {
        const DATAGRAMS: f64 = 100.0;
        // Datagrams at a rate need some time until jitter settles.
        let gap_ns = self.case.gap_ns().unwrap_or_default() * self.case.flows_each() as f64;
        let most_s = VERIFYING_LONGEST.as_secs_f64();
        let settled = Duration::from_secs_f64((DATAGRAMS * gap_ns / 1e9).min(most_s));
        let mut spec = self.clone();
        spec.verifies = true;
        spec.settings.warmup = Duration::ZERO;
        spec.settings.window = VERIFYING.max(settled);
        loop {
            let sample = run(&spec)?;
            let is_empty = sample.verified.is_some_and(|found| found.packets == 0);
            if !is_empty || spec.settings.window >= VERIFYING_LONGEST {
                return Ok(sample);
            }
            // On a busy machine, a thread may not have had a turn yet.
            spec.settings.window *= 4;
        }
    }

    /// Returns the addresses of the end with this role, and the token. `None`: both ends are on one host.
    pub(crate) fn peer_of(&self, role: EndRole) -> Option<RemotePeer> {
        let (between, token) = self.between.zip(self.token)?;
        let (local_address, remote) = match role {
            EndRole::Senders => (between.senders, between.receivers),
            EndRole::Receivers | EndRole::Both => (between.receivers, between.senders),
        };
        Some(RemotePeer {
            local_address,
            address: remote.ip,
            token,
        })
    }
}

/// The remote host of a trial, and the address that reaches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemotePeer {
    /// Address that the local sockets are bound to; a link-local address includes its interface.
    pub(crate) local_address: HostAddress,
    /// Address of the remote host: the only one that datagrams are sent to.
    pub(crate) address: IpAddr,
    /// Token of probes and of their answers.
    pub(crate) token: Token,
}

/// The bench threads of a case that run at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndRole {
    /// Senders and receivers.
    Both,
    /// The threads that receive.
    Receivers,
    /// The threads that send.
    Senders,
}

impl EndRole {
    /// Returns whether this part has senders.
    pub(crate) fn sends(self) -> bool {
        self != Self::Receivers
    }

    /// Returns whether this part has receivers.
    pub(crate) fn receives(self) -> bool {
        self != Self::Senders
    }
}

/// The datagrams of one sender, and the socket that receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Address of the sender.
    pub source: SocketAddr,
    /// Address that the sender sends to.
    pub peer: SocketAddr,
    /// Index of the receiving socket, from 0.
    pub receiver: usize,
}

/// Length of a question in bytes: that of an answer with the receiver's number. An answer is never longer than a
/// question, so a forged source address gains nothing.
pub(crate) const QUESTION_BYTES: usize = ANSWER_TOKEN_BYTES + size_of::<u16>();
/// Length of an answer's token in bytes, without the receiver's number that follows.
pub(crate) const ANSWER_TOKEN_BYTES: usize = 16;

/// Secret that only the two hosts of a trial know: at least 128 bits for each direction.
///
/// No other datagram is sent before the question was received and the answer came back. Only holders of the token are
/// answered, never with more bytes than they sent, so that nobody can have a stranger flooded.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Bytes of a question, which a sender sends before anything else.
    pub(crate) question: [u8; QUESTION_BYTES],
    /// First bytes of an answer. The receiver's index follows.
    pub(crate) answer: [u8; ANSWER_TOKEN_BYTES],
}

impl Token {
    /// Makes a new token from the kernel's random numbers (random(4)).
    ///
    /// # Errors
    /// Fails if there are no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut token = Self {
            question: [0; QUESTION_BYTES],
            answer: [0; ANSWER_TOKEN_BYTES],
        };
        let mut random = File::open("/dev/urandom")?;
        random.read_exact(&mut token.question)?;
        random.read_exact(&mut token.answer)?;
        Ok(token)
    }

    /// Returns the answer of the receiver with this index.
    pub(crate) fn answer_of(&self, receiver: u16) -> Vec<u8> {
        [&self.answer[..], &receiver.to_be_bytes()].concat()
    }

    /// Returns the index of the receiver that an answer names. `None`: it is no answer with this token.
    pub(crate) fn receiver_in(&self, answer: &[u8]) -> Option<usize> {
        let (token, receiver) = answer.split_last_chunk()?;
        (*token == self.answer).then(|| u16::from_be_bytes(*receiver).into())
    }
}

impl std::fmt::Debug for Token {
    /// Hides the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// Interface number in socket addresses on this host. 0: none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope(u32);

impl Scope {
    /// That in messages: none.
    pub(crate) const OF_MESSAGES: Self = Self(0);

    /// Returns the interface number for a trial whose local sockets have this address. `None`: both ends are on this
    /// host.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub(crate) fn of(own: Option<HostAddress>) -> anyhow::Result<Self> {
        let Some(interface) = own.and_then(|own| own.interface) else {
            return Ok(Self::OF_MESSAGES);
        };
        let name = interface.as_str();
        let number = nic::index(name);
        number
            .map(Self)
            .with_context(|| format!("there is no interface {name} any more"))
    }

    /// Sets the interface number of an address.
    pub(crate) fn address(self, mut address: SocketAddr) -> SocketAddr {
        if let SocketAddr::V6(address) = &mut address {
            address.set_scope_id(self.0);
        }
        address
    }

    /// Sets the interface numbers of both addresses of flows.
    pub(crate) fn flows(self, flows: &[Flow]) -> Vec<Flow> {
        let with_number = |flow: &Flow| Flow {
            source: self.address(flow.source),
            peer: self.address(flow.peer),
            ..*flow
        };
        flows.iter().map(with_number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_numbers_of_interfaces() {
        let own = HostAddress::at("fe80::1".parse().expect("an address"), "lo");
        let scope = Scope::of(Some(own)).expect("loopback is there");
        let address: SocketAddr = "[fe80::2]:7".parse().expect("an address");
        let local = scope.address(address);
        assert_eq!(local.to_string(), "[fe80::2%1]:7");
        assert_eq!(Scope::OF_MESSAGES.address(local), address);
        let flow = Flow {
            source: address,
            peer: address,
            receiver: 1,
        };
        let flows = scope.flows(&[flow]);
        assert_eq!((flows[0].source, flows[0].peer), (local, local));
        let global = Scope::of(None).expect("it has none");
        assert_eq!(global.address(address), address);
        let gone = HostAddress::at(own.ip, "gone0");
        assert!(Scope::of(Some(gone)).is_err());
    }
}
