//! What varies, and which values meet.

use crate::data::{
    Batch, BlockKey, Buffer, Connection, Group, Ip, Payload, Sharing, Threads, Traits, Workers,
};
use crate::engines::{self, Entry};

/// What varies.
#[derive(Clone, Debug)]
pub struct Axes {
    /// Sender's and receiver's engine.
    pub engines: Vec<(&'static Entry, &'static Entry)>,
    /// Thread counts.
    pub threads: Vec<Threads>,
    /// Payloads.
    pub payloads: Vec<Payload>,
    /// Connected, unconnected, or both.
    pub connections: Vec<Connection>,
    /// v4, v6, or both.
    pub ips: Vec<Ip>,
    /// Datagrams per call, for engines that batch.
    pub batches: Vec<Batch>,
    /// Worker threads, for engines that share them. `None`: they share none.
    pub tokio_workers: Vec<Option<Workers>>,
    /// Receive buffers.
    pub rcvbufs: Vec<Buffer>,
    /// Send buffers. `None`: as the kernel gives them.
    pub sndbufs: Vec<Option<Buffer>>,
    /// How several receivers share the port.
    pub sharings: Vec<Sharing>,
    /// Whether every block holds the reference case.
    pub reference: bool,
}

impl Axes {
    /// What only some engines heed. A pair of which neither side does has one case, not one for each value.
    pub(super) fn settings_of(
        &self,
        sender: &Entry,
        receiver: &Entry,
    ) -> Vec<(Option<Batch>, Option<Workers>)> {
        let batches = if sender.about.sends_batches || receiver.about.receives_batches {
            self.batches.iter().copied().map(Some).collect()
        } else {
            vec![None]
        };
        let workers = if sender.about.shares_workers || receiver.about.shares_workers {
            &self.tokio_workers[..]
        } else {
            &[None]
        };
        let with_each = |batch| workers.iter().map(move |&workers| (batch, workers));
        batches.into_iter().flat_map(with_each).collect()
    }

    /// What is known of the engines, the reference among them where every block holds it.
    pub(super) fn traits(&self) -> Vec<Traits> {
        let asked = self.engines.iter().flat_map(|&(s, r)| [s, r]);
        let reference = self.reference.then(engines::reference);
        let mut traits: Vec<Traits> = Vec::new();
        for entry in reference.into_iter().chain(asked) {
            if traits.iter().all(|known| known.name != entry.name()) {
                traits.push(entry.about.traits());
            }
        }
        traits
    }

    /// A better command line, where this one cannot answer the likely question.
    pub fn advice(&self) -> Option<String> {
        let is_limit = |sender: &Entry| sender.about.group != Group::Offload;
        let ranked = self.engines.iter().find(|(sender, receiver)| {
            let rival = |&(s, r): &(_, _)| s == *sender && r != *receiver;
            is_limit(sender) && self.engines.iter().any(rival)
        });
        let (sender, _) = ranked.filter(|_| self.threads.iter().any(|count| !count.is_alone()))?;
        Some(format!(
            "to rank receivers, use --sender gso: on loopback {sender} does most of the receiving work, \
             too, and limits all of them"
        ))
    }

    /// A single receiver shares with no other.
    pub(super) fn sharings_of(&self, threads: Threads) -> Vec<Option<Sharing>> {
        if threads.receivers() > 1 {
            self.sharings.iter().copied().map(Some).collect()
        } else {
            vec![None]
        }
    }

    /// The keys of the blocks, in the order of the axes.
    pub(super) fn blocks(&self) -> Vec<BlockKey> {
        let mut keys = Vec::new();
        for &threads in &self.threads {
            for &payload in &self.payloads {
                for &ip in &self.ips {
                    for &rcvbuf in &self.rcvbufs {
                        keys.extend(self.sndbufs.iter().map(|&sndbuf| BlockKey {
                            threads,
                            payload,
                            ip,
                            rcvbuf,
                            sndbuf,
                        }));
                    }
                }
            }
        }
        keys
    }
}
