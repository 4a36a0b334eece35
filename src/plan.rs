//! The plan: every case of the matrix, each runnable or skipped with its reason. A pure function of
//! axes, board and host.

use std::collections::BTreeSet;

use crate::board::Board;
use crate::case::{Batch, BlockKey, Case, Connection, Ip, Payload, Threads};
use crate::engine::{Entry, Group};
use crate::engines;
use crate::host::Host;
use crate::placement::{Pin, Placement};

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
    /// Whether every block holds the reference case.
    pub reference: bool,
}

impl Axes {
    /// A pair of which neither side batches has one case, not one for each value.
    fn batches_of(&self, sender: &Entry, receiver: &Entry) -> Vec<Option<Batch>> {
        if sender.about.batches || receiver.about.batches {
            self.batches.iter().copied().map(Some).collect()
        } else {
            vec![None]
        }
    }
}

/// What the cases meet.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The machine.
    pub host: &'a Host,
    /// Its profile.
    pub board: &'a Board,
    /// What `--pin` said.
    pub pin: &'a Pin,
    /// Whether flows are left to the kernel's hash.
    pub hash_spread: bool,
    /// The engines that cannot run here, and why.
    pub engine_refusals: &'a [(&'static Entry, String)],
}

/// Every case, in blocks.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order of the axes; the sweep shuffles them.
    pub blocks: Vec<Block>,
}

/// The cases that people hold side by side.
#[derive(Clone, Debug)]
pub struct Block {
    /// What they have in common.
    pub key: BlockKey,
    /// The reference first, where it is wanted.
    pub cases: Vec<Planned>,
}

/// A case, and whether it runs.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The case.
    pub case: Case,
    /// Whether it runs.
    pub verdict: Verdict,
}

/// Whether a case runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// On these CPUs; what may mislead about it.
    Run(Placement, Vec<String>),
    /// Not; the reason.
    Skip(String),
}

impl Plan {
    /// Lays out the matrix.
    pub fn new(axes: &Axes, conditions: &Conditions) -> Self {
        let mut blocks = Vec::new();
        for &threads in &axes.threads {
            for &payload in &axes.payloads {
                for &ip in &axes.ips {
                    let key = BlockKey {
                        threads,
                        payload,
                        ip,
                    };
                    blocks.push(Block::new(key, axes, conditions));
                }
            }
        }
        Self { blocks }
    }

    /// Every case with its verdict.
    pub fn cases(&self) -> impl Iterator<Item = &Planned> {
        self.blocks.iter().flat_map(|block| &block.cases)
    }

    /// The cases that run.
    pub fn runnable(&self) -> impl Iterator<Item = &Planned> {
        self.cases().filter(|planned| planned.runs())
    }

    /// The cases that do not run, and why.
    pub fn skipped(&self) -> impl Iterator<Item = (&Case, &str)> {
        self.cases().filter_map(|planned| match &planned.verdict {
            Verdict::Run(..) => None,
            Verdict::Skip(reason) => Some((&planned.case, reason.as_str())),
        })
    }
}

impl Block {
    fn new(key: BlockKey, axes: &Axes, conditions: &Conditions) -> Self {
        let mut cases = Vec::new();
        for &(sender, receiver) in &axes.engines {
            for batch in axes.batches_of(sender, receiver) {
                cases.extend(axes.connections.iter().map(|&connection| Case {
                    sender,
                    receiver,
                    threads: key.threads,
                    payload: key.payload,
                    connection,
                    ip: key.ip,
                    batch,
                }));
            }
        }
        // Where it was not asked for, the reference comes first; where it was, it stays in its place.
        if let Some(first) = cases.first().filter(|_| axes.reference) {
            let reference = first.reference();
            if !cases.contains(&reference) {
                cases.insert(0, reference);
            }
        }
        let plan = |case| Planned {
            verdict: Verdict::of(&case, conditions),
            case,
        };
        Self {
            key,
            cases: cases.into_iter().map(plan).collect(),
        }
    }
}

impl Planned {
    /// Whether it runs.
    pub fn runs(&self) -> bool {
        matches!(self.verdict, Verdict::Run(..))
    }
}

impl Verdict {
    fn of(case: &Case, conditions: &Conditions) -> Self {
        if let Some(reason) = refusal(case, conditions) {
            return Self::Skip(reason);
        }
        let (placement, fallback) = match conditions.pin {
            Pin::None => (Placement::unpinned(case.threads), None),
            Pin::To(senders, receivers) => {
                let placement = Placement::from_lists(case.threads, senders, receivers);
                (
                    placement.unwrap_or_else(|| Placement::unpinned(case.threads)),
                    None,
                )
            }
            Pin::Board => match conditions.board.placement(case.threads, conditions.host) {
                Ok(placed) => (placed.placement, placed.fallback),
                Err(reason) => return Self::Skip(reason),
            },
        };
        let mut warnings = warnings(case, conditions, &placement);
        warnings.extend(fallback);
        Self::Run(placement, warnings)
    }
}

/// Why a case makes no sense, or cannot run here.
fn refusal(case: &Case, conditions: &Conditions) -> Option<String> {
    let Case {
        sender, receiver, ..
    } = *case;
    for entry in [sender, receiver] {
        let mut refusals = conditions.engine_refusals.iter();
        if let Some((_, reason)) = refusals.find(|(refused, _)| *refused == entry) {
            return Some(format!("{entry} cannot run here: {reason}"));
        }
    }
    if sender != receiver {
        if let Some(idle) = [sender, receiver]
            .into_iter()
            .find(|entry| !entry.about.moves_datagrams)
        {
            return Some(format!(
                "{idle} moves no datagrams: it can only meet itself"
            ));
        }
    }
    if case.threads.is_alone() {
        let Some(both) = engines::together(sender, receiver) else {
            return Some(
                "one thread runs one engine: sender and receiver must be the same".to_owned(),
            );
        };
        if let Err(reason) = both.about.one_thread {
            return Some(format!("{both} {reason}"));
        }
    }
    if case.sender.about.never_fragments && is_fragmented(case) {
        let most = Payload::MAX_UNFRAGMENTED_V6;
        return Some(format!(
            "{sender} forbids fragments: above {most} B IPv6 sends two"
        ));
    }
    conditions.host.refusal(case.ip).map(str::to_owned)
}

/// What may mislead about a case that runs.
fn warnings(case: &Case, conditions: &Conditions, placement: &Placement) -> Vec<String> {
    let threads = case.threads;
    let pinned: BTreeSet<usize> = placement.cpus().flatten().collect();
    let cpus = if pinned.is_empty() {
        conditions.host.cpus.len()
    } else {
        pinned.len()
    };
    let (senders, receivers) = (threads.senders(), threads.receivers());
    let mut warnings = Vec::new();
    if threads.count() > cpus {
        let plural = if cpus == 1 { "" } else { "s" };
        warnings.push(format!("{threads} threads share {cpus} CPU{plural}"));
    }
    if !threads.is_alone() && senders != receivers {
        warnings.push(format!(
            "an odd thread count: {senders} send, {receivers} receive"
        ));
    }
    if senders % receivers != 0 && !conditions.hash_spread {
        warnings.push(format!(
            "{senders} flows cannot be spread evenly over {receivers} receivers: some get one more"
        ));
    }
    if conditions.hash_spread && receivers > 1 {
        warnings.push("flows are left to the kernel's hash: receivers may get none".to_owned());
    }
    if sender_cuts_nothing(case) {
        let payload = case.payload;
        warnings.push(format!(
            "{} hands over one datagram per call at {payload} B",
            case.sender
        ));
    }
    if is_fragmented(case) {
        warnings.push("above 65488 B IPv6 sends two fragments over loopback".to_owned());
    }
    if let Some(reason) = case.receiver.about.starves {
        warnings.push(format!("{} may starve: {reason}", case.receiver));
    }
    warnings
}

fn is_fragmented(case: &Case) -> bool {
    case.ip == Ip::V6 && u32::from(case.payload) > Payload::MAX_UNFRAGMENTED_V6
}

/// Half of what a call may hand over, or nothing, leaves nothing to cut.
fn sender_cuts_nothing(case: &Case) -> bool {
    let payload = u32::from(case.payload);
    case.sender.about.group == Group::Offload && (payload == 0 || 2 * payload > Payload::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board;

    fn host() -> Host {
        Host {
            cpus: (0..4)
                .map(|id| crate::host::Cpu {
                    id,
                    capacity: 1024,
                    core: id,
                    cache: 0,
                })
                .collect(),
            v6_refusal: Some("no IPv6".to_owned()),
            ..Host::default()
        }
    }

    fn plan(axes: &Axes, board: &str) -> Plan {
        let conditions = Conditions {
            host: &host(),
            board: &board::find("a test", board, "").expect("compiled in"),
            pin: &Pin::Board,
            hash_spread: false,
            engine_refusals: &[],
        };
        Plan::new(axes, &conditions)
    }

    fn axes(engines: &[&str], threads: &[u16], ip: Ip) -> Axes {
        let entry = |name: &&str| engines::find(name).expect("registered");
        Axes {
            engines: engines
                .iter()
                .map(|name| (entry(name), entry(name)))
                .collect(),
            threads: threads
                .iter()
                .map(|&n| n.try_into().expect("in range"))
                .collect(),
            payloads: vec![300.try_into().expect("in range")],
            connections: vec![Connection::Unconnected],
            ips: vec![ip],
            batches: vec![Batch::DEFAULT],
            reference: true,
        }
    }

    fn reason(axes: &Axes, board: &str) -> String {
        let plan = plan(axes, board);
        let (_, reason) = plan.skipped().last().expect("something is skipped");
        reason.to_owned()
    }

    #[test]
    fn what_cannot_run_is_in_the_plan_with_its_reason() {
        let starved = reason(&axes(&["mio-exhaustive"], &[1], Ip::V4), "generic");
        assert!(
            starved.starts_with("mio-exhaustive starves in one thread"),
            "{starved}"
        );
        assert_eq!(reason(&axes(&["std"], &[2], Ip::V6), "generic"), "no IPv6");
        let crowded = reason(&axes(&["std"], &[9], Ip::V4), "rpi-4b");
        assert!(crowded.contains("at most 8 threads"), "{crowded}");
        let mut mixed = axes(&["std"], &[2], Ip::V4);
        mixed.engines[0].1 = engines::find("null").expect("registered");
        assert_eq!(
            reason(&mixed, "generic"),
            "null moves no datagrams: it can only meet itself"
        );
        mixed.engines[0].1 = engines::find("mio-level").expect("registered");
        mixed.threads = vec![1.try_into().expect("in range")];
        assert!(reason(&mixed, "generic").starts_with("one thread runs one engine"));
    }

    #[test]
    fn what_runs_but_misleads_carries_a_warning() {
        let warnings = |axes: &Axes| match &plan(axes, "generic").blocks[0].cases[0].verdict {
            Verdict::Run(_, warnings) => warnings.join("; "),
            Verdict::Skip(reason) => panic!("skipped: {reason}"),
        };
        assert_eq!(warnings(&axes(&["std"], &[2], Ip::V4)), "");
        assert_eq!(
            warnings(&axes(&["std"], &[5], Ip::V4)),
            "5 threads share 4 CPUs; an odd thread count: 3 send, 2 receive; \
             3 flows cannot be spread evenly over 2 receivers: some get one more"
        );
    }

    #[test]
    fn the_reference_is_in_every_block_once() {
        let plan = plan(&axes(&["mio-level", "std"], &[1, 2], Ip::V4), "generic");
        for block in &plan.blocks {
            let references = block
                .cases
                .iter()
                .filter(|planned| planned.case.is_reference());
            assert_eq!(references.count(), 1);
        }
    }

    proptest! {
        #[test]
        fn every_point_of_the_matrix_is_in_the_plan_exactly_once(
            engines in proptest::sample::subsequence(vec!["null", "std", "mio-level", "mio-once"], 1..=4),
            threads in proptest::collection::btree_set(1_u16..=256, 1..5),
            payloads in proptest::collection::btree_set(0_u32..=65_507, 1..5),
            ips in proptest::sample::subsequence(vec![Ip::V4, Ip::V6], 1..=2),
            board in proptest::sample::select(vec!["generic", "rpi-4b", "rpi-5"]),
        ) {
            let threads: Vec<u16> = threads.into_iter().collect();
            let mut axes = axes(&engines, &threads, Ip::V4);
            axes.payloads = payloads.into_iter().map(|n| n.try_into().expect("in range")).collect();
            axes.ips = ips;
            axes.connections = vec![Connection::Connected, Connection::Unconnected];
            axes.reference = false;
            let plan = plan(&axes, board);
            let mut keys: Vec<String> = plan.cases().map(|planned| planned.case.key()).collect();
            let points = engines.len() * threads.len() * axes.payloads.len() * axes.ips.len() * 2;
            prop_assert_eq!(keys.len(), points);
            keys.sort();
            keys.dedup();
            prop_assert_eq!(keys.len(), points);
            for planned in plan.runnable() {
                let Verdict::Run(placement, _) = &planned.verdict else { unreachable!() };
                prop_assert_eq!(placement.cpus().count(), planned.case.threads.count());
            }
        }
    }
}
