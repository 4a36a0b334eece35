//! A case, one point of the matrix, and what is measured side by side with it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Batch, Buffer, Connection, EngineName, Ip, Payload, Sharing, Threads, Traits, Workers,
};

/// A value for every axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The engine of the senders.
    pub sender: EngineName,
    /// The engine of the receivers.
    pub receiver: EngineName,
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
    /// Worker threads of the runtime that lanes share, of the sides that can. `None`: each lane has a
    /// current-thread runtime of its own, if any.
    pub tokio_workers: Option<Workers>,
    /// What receivers ask for as SO_RCVBUF.
    pub rcvbuf: Buffer,
    /// What senders ask for as SO_SNDBUF. `None`: nothing, they take what the kernel gives.
    pub sndbuf: Option<Buffer>,
    /// How several receivers share the port. `None`: there is one.
    pub sharing: Option<Sharing>,
}

impl Case {
    /// The stable text by which the results of two runs are matched. Sockets that are made as always go
    /// without saying.
    pub fn key(&self) -> String {
        let mut key = format!(
            "{}:{}/{}t/{}B/{}/{}",
            self.sender, self.receiver, self.threads, self.payload, self.connection, self.ip
        );
        let batch = self.batch.map(|batch| format!("batch{batch}")).into_iter();
        let sockets = self.unusual_buffers().chain(self.unusual_sharing());
        for setting in batch.chain(self.workers()).chain(sockets) {
            key += "/";
            key += &setting;
        }
        key
    }

    /// Whether workers run the lanes of this engine, on its side of this case.
    pub fn runs_on_workers(&self, engine: &Traits) -> bool {
        self.tokio_workers.is_some() && engine.shares_workers
    }

    fn workers(&self) -> Option<String> {
        Some(format!("workers{}", self.tokio_workers?))
    }

    fn unusual_buffers(&self) -> impl Iterator<Item = String> {
        let rcvbuf = Some(self.rcvbuf).filter(|&rcvbuf| rcvbuf != Buffer::DEFAULT);
        let rcvbuf = rcvbuf.map(|bytes| format!("rcvbuf{bytes}"));
        let sndbuf = self.sndbuf.map(|bytes| format!("sndbuf{bytes}"));
        rcvbuf.into_iter().chain(sndbuf)
    }

    fn unusual_sharing(&self) -> Option<String> {
        let sharing = self
            .sharing
            .filter(|&sharing| sharing != Sharing::DEFAULT)?;
        Some(sharing.to_string())
    }

    /// What this case is held side by side with.
    pub fn block(&self) -> BlockKey {
        BlockKey {
            threads: self.threads,
            payload: self.payload,
            ip: self.ip,
            rcvbuf: self.rcvbuf,
            sndbuf: self.sndbuf,
        }
    }

    /// The reference case of this case's block: `std` on connected sockets, flows spread evenly.
    pub fn reference(&self) -> Self {
        Self {
            sender: EngineName::REFERENCE,
            receiver: EngineName::REFERENCE,
            connection: Connection::Connected,
            batch: None,
            tokio_workers: None,
            sharing: self.sharing.map(|_| Sharing::DEFAULT),
            ..*self
        }
    }

    /// Whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// What tells it from the cases beside it, but for the connection: see [`label`].
    pub fn label(&self) -> String {
        label(
            self.sender.as_str(),
            self.receiver.as_str(),
            self.batch,
            self.tokio_workers,
            self.unusual_sharing(),
        )
    }
}

/// The engine's name, or both where they differ, and what else tells a case from those beside it:
/// `gso>mmsg/32`, `tokio/w2`, `std/separate`.
pub fn label(
    sender: &str,
    receiver: &str,
    batch: Option<Batch>,
    tokio_workers: Option<Workers>,
    sharing: Option<String>,
) -> String {
    let engines = if sender == receiver {
        sender.to_owned()
    } else {
        format!("{sender}>{receiver}")
    };
    let batch = batch.map(|batch| batch.to_string());
    let workers = tokio_workers.map(|count| format!("w{count}"));
    let settings = [batch, workers, sharing];
    let parts = std::iter::once(engines).chain(settings.into_iter().flatten());
    parts.collect::<Vec<String>>().join("/")
}

/// The axes that the cases of one block share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockKey {
    /// See [`Case::threads`].
    pub threads: Threads,
    /// See [`Case::payload`].
    pub payload: Payload,
    /// See [`Case::ip`].
    pub ip: Ip,
    /// See [`Case::rcvbuf`].
    pub rcvbuf: Buffer,
    /// See [`Case::sndbuf`].
    pub sndbuf: Option<Buffer>,
}

impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads.is_alone() { "" } else { "s" };
        let (threads, payload, ip) = (self.threads, self.payload, self.ip);
        write!(f, "{threads} thread{plural}, {payload} B, {ip}")?;
        if self.rcvbuf != Buffer::DEFAULT {
            write!(f, ", rcvbuf {}", self.rcvbuf)?;
        }
        if let Some(sndbuf) = self.sndbuf {
            write!(f, ", sndbuf {sndbuf}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::data::Spread;

    pub(crate) fn case() -> Case {
        Case {
            sender: EngineName::REFERENCE,
            receiver: EngineName::REFERENCE,
            threads: threads(2),
            payload: 300.try_into().expect("in range"),
            connection: Connection::Connected,
            ip: Ip::V4,
            batch: None,
            tokio_workers: None,
            rcvbuf: Buffer::DEFAULT,
            sndbuf: None,
            sharing: None,
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
        let on_workers = Case {
            tokio_workers: 2.try_into().ok(),
            ..case()
        };
        assert_eq!(on_workers.key(), "std:std/2t/300B/connected/v4/workers2");
        assert_eq!(on_workers.label(), "std/w2");
        let special = Case {
            threads: threads(4),
            rcvbuf: buffer(106_496),
            sndbuf: Some(buffer(4096)),
            sharing: Some(Sharing::Reuseport(Spread::Bpf)),
            ..batched
        };
        assert_eq!(
            special.key(),
            "std:std/4t/300B/connected/v4/batch32/rcvbuf106496/sndbuf4096/bpf"
        );
        assert_eq!(special.label(), "std/32/bpf");
        let usual = Case {
            sharing: Some(Sharing::DEFAULT),
            ..case()
        };
        assert_eq!(usual.key(), case().key());
    }

    fn threads(count: u16) -> Threads {
        count.try_into().expect("in range")
    }

    fn buffer(bytes: u32) -> Buffer {
        bytes.try_into().expect("in range")
    }
}
