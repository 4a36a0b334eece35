//! What only trials between two hosts need: the token that proves that a datagram comes from the host with which a trial
//! was agreed, and the numbers of interfaces in link-local addresses (fe80::/10). Each host numbers its own, so a number
//! means nothing to the other host.

use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::data::HostAddress;
use crate::sys::nic;
use crate::trial::messages::spec::Flow;

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
