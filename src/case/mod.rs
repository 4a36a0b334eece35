//! A case, one point of the matrix, and the types of its axes: parsed once, valid ever after.

mod axes;

use std::fmt;

pub use self::axes::{Batch, Connection, Ip, Payload, Threads};
use crate::engine::Entry;
use crate::engines;

/// A value for every axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The engine of the senders.
    pub sender: &'static Entry,
    /// The engine of the receivers.
    pub receiver: &'static Entry,
    /// How many threads, and so how many sockets on each side.
    pub threads: Threads,
    /// Payload of each datagram.
    pub payload: Payload,
    /// Whether the sockets are connected.
    pub connection: Connection,
    /// Which loopback address.
    pub ip: Ip,
    /// Datagrams per call, of the sides that batch. `None`: neither does.
    pub batch: Option<Batch>,
}

impl Case {
    /// The stable text by which the results of two runs are matched.
    pub fn key(&self) -> String {
        let batch = self.batch.map(|batch| format!("/batch{batch}"));
        format!(
            "{}:{}/{}t/{}B/{}/{}{}",
            self.sender,
            self.receiver,
            self.threads,
            self.payload,
            self.connection,
            self.ip,
            batch.unwrap_or_default()
        )
    }

    /// What this case is held side by side with.
    pub fn block(&self) -> BlockKey {
        BlockKey {
            threads: self.threads,
            payload: self.payload,
            ip: self.ip,
        }
    }

    /// The reference case of this case's block: `std` on connected sockets.
    pub fn reference(&self) -> Self {
        Self {
            sender: engines::reference(),
            receiver: engines::reference(),
            connection: Connection::Connected,
            batch: None,
            ..*self
        }
    }

    /// Whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// The engine's name, or both where they differ: `gso>mmsg`.
    pub fn engine_label(&self) -> String {
        if self.sender == self.receiver {
            self.sender.name().to_owned()
        } else {
            format!("{}>{}", self.sender, self.receiver)
        }
    }
}

/// The axes that the cases of one block share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// See [`Case::threads`].
    pub threads: Threads,
    /// See [`Case::payload`].
    pub payload: Payload,
    /// See [`Case::ip`].
    pub ip: Ip,
}

impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads.is_alone() { "" } else { "s" };
        let (threads, payload, ip) = (self.threads, self.payload, self.ip);
        write!(f, "{threads} thread{plural}, {payload} B, {ip}")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn case() -> Case {
        Case {
            sender: engines::reference(),
            receiver: engines::reference(),
            threads: threads(2),
            payload: 300.try_into().expect("in range"),
            connection: Connection::Connected,
            ip: Ip::V4,
            batch: None,
        }
    }

    #[test]
    fn a_key_names_every_axis() {
        assert_eq!(case().key(), "std:std/2t/300B/connected/v4");
        let batched = Case {
            batch: Some(Batch::DEFAULT),
            ..case()
        };
        assert_eq!(batched.key(), "std:std/2t/300B/connected/v4/batch32");
    }

    fn threads(count: u16) -> Threads {
        count.try_into().expect("in range")
    }
}
