//! Counters of queueing disciplines (tc(8)): the queues before an interface.

use std::io;

use serde::{Deserialize, Serialize};

use crate::sys::netlink::{Netlink, Scope, attributes, read_u32, read_u64, text};

/// A queueing discipline of an interface, and its counters since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    /// Name, such as `fq_codel`.
    pub kind: String,
    /// Number of its interface.
    pub interface: u32,
    /// Number of the class that contains it.
    pub parent: u32,
    /// Packets dropped. A GSO train counts once, unless the qdisc segments it first (`tbf_segment`).
    pub drops: u32,
    /// Packets that wait in it.
    pub queued_packets: u32,
    /// Capacity of its token bucket, if it is one (`tbf`).
    pub token_bucket: Option<TokenBucket>,
}

/// `TC_H_ROOT` and `TC_H_INGRESS` (linux/pkt_sched.h).
const ROOT: u32 = u32::MAX;
const INGRESS: u32 = 0xffff_fff1;

impl Qdisc {
    /// Returns whether all packets that are sent pass it.
    pub fn is_root(&self) -> bool {
        self.parent == ROOT
    }

    /// Returns whether the filters of arriving packets are attached to it: `ingress`, or `clsact`, whose filters also
    /// see departing packets.
    pub fn is_ingress(&self) -> bool {
        self.parent == INGRESS
    }
}

/// Returns the packets that the queueing disciplines in `qdiscs` dropped on the way out.
///
/// The counter of the root is enough, as it contains those of its children:
/// - A child that refuses a packet (`qdisc_drop`) counts it, and so does its parent when `enqueue` returns:
///   `tbf_enqueue`, `htb_enqueue` and the like call `qdisc_qstats_drop` for the drops that `net_xmit_drop_count`
///   counts.
/// - A child that drops later, such as CoDel, tells all ancestors by `qdisc_tree_reduce_backlog`, which adds to their
///   drops.
/// - `mq` and `mqprio` have no packets of their own and add up their children on request (`mq_dump`,
///   `gnet_stats_add_queue`).
pub(super) fn out_drops(qdiscs: &[Qdisc]) -> u32 {
    let roots = qdiscs.iter().filter(|qdisc| qdisc.is_root());
    roots.map(|root| root.drops).fold(0, u32::wrapping_add)
}

/// Returns the packets that filters dropped at an interface before anybody saw them (`mini_qdisc_qstats_cpu_drop`).
pub(super) fn filter_drops(qdiscs: &[Qdisc]) -> u32 {
    let ingress = qdiscs.iter().filter(|qdisc| qdisc.is_ingress());
    ingress.map(|qdisc| qdisc.drops).fold(0, u32::wrapping_add)
}

/// Capacity of a token bucket (tc-tbf(8)) after a while without packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Bytes of frames that pass at once.
    pub bucket_bytes: u64,
    /// Bytes of frames that wait for the next tokens.
    pub queue_bytes: u32,
}

impl TokenBucket {
    /// Returns the number of frames of this many bytes that it takes at once.
    pub fn frames(&self, bytes: u32) -> u64 {
        let bytes = bytes.max(1);
        self.bucket_bytes / u64::from(bytes) + u64::from(self.queue_bytes / bytes)
    }

    /// Parses `TCA_OPTIONS` (linux/pkt_sched.h: `struct tc_tbf_qopt`, whose times are ticks of 64 ns).
    fn parse(options: &[u8]) -> Option<Self> {
        const PARAMETERS: u16 = 1;
        const RATE64: u16 = 4;
        const TICK_NS: u64 = 64;
        let all = || attributes(options);
        let (_, parameters) = all().find(|(kind, _)| *kind == PARAMETERS)?;
        let rate64 = all().find(|(kind, _)| *kind == RATE64);
        let rate = match rate64.and_then(|(_, value)| read_u64(value, 0)) {
            Some(rate) => rate,
            None => read_u32(parameters, 8)?.into(),
        };
        let bucket_ns = u64::from(read_u32(parameters, 28)?) * TICK_NS;
        let bytes = u128::from(rate) * u128::from(bucket_ns) / 1_000_000_000;
        Some(Self {
            bucket_bytes: u64::try_from(bytes).ok()?,
            queue_bytes: read_u32(parameters, 24)?,
        })
    }
}

/// `struct tcmsg`.
const TC_BYTES: usize = 20;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
/// Attribute within TCA_STATS2 (linux/gen_stats.h).
const TCA_STATS_QUEUE: u16 = 3;
/// Reads the queueing disciplines of all interfaces, of each its parents before children. Empty if the kernel was built
/// without them.
///
/// A request for those of a single interface may notify everybody who listens (`qdisc_notify`).
pub(super) fn read(route: &mut Netlink) -> io::Result<Vec<Qdisc>> {
    let mut found = Vec::new();
    let each = |message: &[u8]| found.extend(parse(message));
    match route.ask(libc::RTM_GETQDISC, Scope::All, &[0; TC_BYTES], each) {
        Err(error) if error.raw_os_error() != Some(libc::EOPNOTSUPP) => Err(error),
        _ => Ok(found),
    }
}

fn parse(message: &[u8]) -> Option<Qdisc> {
    let mut qdisc = Qdisc {
        interface: read_u32(message, 4)?,
        parent: read_u32(message, 12)?,
        ..Qdisc::default()
    };
    let mut options: &[u8] = &[];
    for (kind, value) in attributes(message.get(TC_BYTES..)?) {
        match kind {
            TCA_KIND => qdisc.kind = text(value),
            TCA_OPTIONS => options = value,
            TCA_STATS2 => {
                let queue = attributes(value).find(|(kind, _)| *kind == TCA_STATS_QUEUE);
                let number = |index: usize| read_u32(queue?.1, 4 * index);
                qdisc.queued_packets = number(0).unwrap_or(0);
                qdisc.drops = number(2).unwrap_or(0);
            }
            _ => {}
        }
    }
    if qdisc.kind == "tbf" {
        qdisc.token_bucket = TokenBucket::parse(options);
    }
    Some(qdisc)
}
