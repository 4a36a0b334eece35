//! What queueing disciplines count (tc(8)): the queues before an interface.

use std::io;

use serde::{Deserialize, Serialize};

use super::netlink::{Route, Scope, attributes, read_u32, read_u64, text};

/// A queueing discipline of an interface, and what it counted since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qdisc {
    /// Its name, such as `fq_codel`.
    pub kind: String,
    /// Its number, as tc(8) writes it in hexadecimal: major and minor, 16 bits each.
    pub handle: u32,
    /// The number of the class that it is in.
    pub parent: u32,
    /// Bytes that left it.
    pub bytes: u64,
    /// Packets that left it. A train of GSO counts as the packets that it will become.
    pub packets: u64,
    /// Packets dropped. A train of GSO counts once, unless the qdisc cuts it first (`tbf_segment`).
    pub drops: u32,
    /// How often it held packets back to keep a rate.
    pub overlimits: u32,
    /// How often the driver gave a packet back.
    pub requeues: u32,
    /// Bytes that wait in it.
    pub backlog_bytes: u32,
    /// Packets that wait in it.
    pub queued_packets: u32,
    /// What it takes at once, if it is a token bucket.
    pub token_bucket: Option<TokenBucket>,
}

/// `TC_H_ROOT` and `TC_H_INGRESS` (linux/pkt_sched.h).
const ROOT: u32 = u32::MAX;
const INGRESS: u32 = 0xffff_fff1;

impl Qdisc {
    /// Whether all that is sent passes it.
    pub fn is_root(&self) -> bool {
        self.parent == ROOT
    }

    /// Whether it is what the filters of arriving packets hang from: `ingress`, or `clsact`, whose filters see
    /// departing packets, too.
    pub fn is_ingress(&self) -> bool {
        self.parent == INGRESS
    }
}

/// Packets that the queueing disciplines in `qdiscs` dropped on the way out.
///
/// It is the root's counter alone, which contains those of its children:
/// - a child that refuses a packet (`qdisc_drop`) counts it, and so does its parent when `enqueue` returns:
///   `tbf_enqueue`, `htb_enqueue` and the like call `qdisc_qstats_drop` for what `net_xmit_drop_count` counts;
/// - a child that drops later, as CoDel does, tells all above it by `qdisc_tree_reduce_backlog`, which adds to
///   their drops;
/// - `mq` and `mqprio` have no packets of their own and add up their children when asked (`mq_dump`,
///   `gnet_stats_add_queue`).
pub fn out_drops(qdiscs: &[Qdisc]) -> u32 {
    let roots = qdiscs.iter().filter(|qdisc| qdisc.is_root());
    roots.map(|root| root.drops).fold(0, u32::wrapping_add)
}

/// Packets that filters dropped at an interface before anybody saw them (`mini_qdisc_qstats_cpu_drop`).
pub fn filter_drops(qdiscs: &[Qdisc]) -> u32 {
    let ingress = qdiscs.iter().filter(|qdisc| qdisc.is_ingress());
    ingress.map(|qdisc| qdisc.drops).fold(0, u32::wrapping_add)
}

/// What a token bucket (tc-tbf(8)) takes at once, when nothing has come for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Bytes of frames that go on at once.
    pub bucket_bytes: u64,
    /// Bytes of frames that wait for the next tokens.
    pub queue_bytes: u32,
}

impl TokenBucket {
    /// How many frames of so many bytes it takes.
    pub fn frames(&self, bytes: u32) -> u64 {
        let bytes = bytes.max(1);
        self.bucket_bytes / u64::from(bytes) + u64::from(self.queue_bytes / bytes)
    }

    /// Of `TCA_OPTIONS` (linux/pkt_sched.h: `struct tc_tbf_qopt`, whose times are ticks of 64 ns).
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
/// Within TCA_STATS2 (linux/gen_stats.h).
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
/// Since Linux 5.5: the packets in TCA_STATS_BASIC have 32 bits.
const TCA_STATS_PKT64: u16 = 8;

/// Those of the interface of that number, parents before children.
///
/// It reads the table of all interfaces: a request for one of them may tell everybody who listens
/// (`qdisc_notify`).
pub(super) fn read(route: &mut Route, index: u32) -> io::Result<Vec<Qdisc>> {
    let mut found = Vec::new();
    route.ask(libc::RTM_GETQDISC, Scope::All, &[0; TC_BYTES], |message| {
        if read_u32(message, 4) == Some(index) {
            found.extend(parse(message));
        }
    })?;
    Ok(found)
}

fn parse(message: &[u8]) -> Option<Qdisc> {
    let mut qdisc = Qdisc {
        handle: read_u32(message, 8)?,
        parent: read_u32(message, 12)?,
        ..Qdisc::default()
    };
    let mut options: &[u8] = &[];
    for (kind, value) in attributes(message.get(TC_BYTES..)?) {
        match kind {
            TCA_KIND => qdisc.kind = text(value),
            TCA_OPTIONS => options = value,
            TCA_STATS2 => statistics(&mut qdisc, value),
            _ => {}
        }
    }
    if qdisc.kind == "tbf" {
        qdisc.token_bucket = TokenBucket::parse(options);
    }
    Some(qdisc)
}

fn statistics(qdisc: &mut Qdisc, bytes: &[u8]) {
    let mut all_packets = None;
    for (kind, value) in attributes(bytes) {
        let number = |index: usize| read_u32(value, 4 * index).unwrap_or(0);
        match kind {
            TCA_STATS_BASIC => {
                qdisc.bytes = read_u64(value, 0).unwrap_or(0);
                qdisc.packets = number(2).into();
            }
            TCA_STATS_QUEUE => {
                qdisc.queued_packets = number(0);
                qdisc.backlog_bytes = number(1);
                qdisc.drops = number(2);
                qdisc.requeues = number(3);
                qdisc.overlimits = number(4);
            }
            TCA_STATS_PKT64 => all_packets = read_u64(value, 0),
            _ => {}
        }
    }
    qdisc.packets = all_packets.unwrap_or(qdisc.packets);
}
