//! What kept engines between two hosts from being faster, as far as it is known, and what they took of the CPUs then.

use std::collections::BTreeMap;

use super::{Conditions, RowGroup};
use crate::data::Ip;
use crate::results::row::Row;
use crate::verdict::quality::LOSSY_PCT;

/// What kept an engine from being faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// The link: its speed in Mb/s, and how much of it the frames took, in percent.
    Link { mbps: u32, pct: f64 },
    /// The queue at the sender's interface, which refused or dropped datagrams.
    Queue,
    /// Something between the threads of both ends, none of which needed a whole CPU.
    Path,
}

/// What is known of an engine under some conditions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// What kept it from being faster. `None`: a CPU, or it is not known.
    pub(super) limit: Option<Limit>,
    /// CPUs that the threads of both ends took.
    pub(super) cpus: f64,
    /// Datagrams received per second.
    pub(super) pps: f64,
    /// Payload received, in Mb/s.
    pub(super) mbps: f64,
    /// CPU time of the senders and of the receivers per datagram, in nanoseconds. `None`: both ends shared a CPU, or it is
    /// not known.
    ns: Option<[f64; 2]>,
}

/// What is known of engines, by conditions and label.
pub(super) type AllReached = BTreeMap<(Conditions, String), Reached>;

/// Share of a link from which on it counts as full, in percent: drivers and PHYs take some.
const FULL_PCT: f64 = 95.0;
/// Share of a link that no measurement can reach, in percent: the interface is virtual and has any speed.
const VIRTUAL_PCT: f64 = 102.0;
/// Share of a CPU below which a thread had time to spare.
const SPARE: f64 = 0.9;
/// Preamble, check sequence and gap of an Ethernet frame, in bytes, with its header of 14 B (IEEE 802.3).
const FRAME_BYTES: u32 = 8 + 4 + 12 + 14;
/// Shortest Ethernet frame without preamble and gap, in bytes.
const SHORTEST_BYTES: u32 = 64;
const MTU: u32 = 1500;

impl Reached {
    /// Returns what is known of a row between two hosts.
    pub(super) fn of(row: &Row) -> Option<Self> {
        row.direction?;
        let pps = row.received_pps?;
        let limit = full_link(row).or_else(|| full_queue(row).then_some(Limit::Queue));
        let ns = row
            .sender_cpu_ns_per_packet
            .zip(row.receiver_cpu_ns_per_packet);
        let ns = ns.filter(|_| !row.shares_cpu());
        Some(Self {
            limit: limit.or_else(|| had_time(row).then_some(Limit::Path)),
            ns: ns.map(|(tx, rx)| [tx, rx]),
            cpus: 1e-9 * row.cpu_ns_per_packet? * pps,
            pps,
            mbps: row.received_mbps?,
        })
    }

    /// Collects what is known of all rows. Of rows with the same conditions and label, the first counts.
    pub(super) fn of_all<'a>(rows: impl Iterator<Item = &'a Row>) -> AllReached {
        let mut all = AllReached::new();
        for row in rows {
            let own = (Conditions::of(&RowGroup::new(row, None)), row.label());
            if let Some(reached) = Self::of(row) {
                all.entry(own).or_insert(reached);
            }
        }
        all
    }
}

/// Returns whether most of what was lost was refused or dropped before it left the sender's interface.
fn full_queue(row: &Row) -> bool {
    let is_lossy = row.loss_pct.is_some_and(|pct| pct >= LOSSY_PCT);
    let lost_at = row.lost_at().map(|(place, _)| place);
    is_lossy && matches!(lost_at, Some("kernel out" | "qdisc"))
}

fn full_link(row: &Row) -> Option<Limit> {
    let speeds = [row.nic.speed_mbps, row.remote_nic.speed_mbps];
    let mbps = speeds.into_iter().flatten().min()?;
    let headers = match row.ip {
        Ip::V4 => 20,
        Ip::V6 => 40,
    };
    let packet = u32::from(row.payload_bytes) + 8 + headers;
    if packet > MTU {
        return None;
    }
    let frame = (packet + FRAME_BYTES).max(SHORTEST_BYTES + 20);
    let pct = 100.0 * 8e-6 * f64::from(frame) * row.received_pps? / f64::from(mbps);
    (FULL_PCT..VIRTUAL_PCT)
        .contains(&pct)
        .then_some(Limit::Link { mbps, pct })
}

/// Returns whether no thread of either end needed a whole CPU: each waited for something between them.
fn had_time(row: &Row) -> bool {
    if row.shares_cpu() {
        return false;
    }
    let share = |ns: Option<f64>, pps: Option<f64>, threads: usize| {
        Some(1e-9 * ns? * pps? / (threads as f64) < SPARE)
    };
    let senders = share(row.sender_cpu_ns_per_packet, row.sent_pps, row.senders);
    let receivers = share(
        row.receiver_cpu_ns_per_packet,
        row.received_pps,
        row.receivers,
    );
    senders == Some(true) && receivers == Some(true)
}

/// Says what kept all of these from being faster. `None`: not the same kept them, or it is not known.
pub(super) fn in_words(all: &[Reached]) -> Option<String> {
    let limits: Option<Vec<Limit>> = all.iter().map(|one| one.limit).collect();
    let limits = limits.filter(|limits| !limits.is_empty())?;
    let links = limits.iter().map(|limit| match limit {
        Limit::Link { mbps, pct } => Some((*mbps, *pct)),
        Limit::Queue | Limit::Path => None,
    });
    let links: Option<Vec<(u32, f64)>> = links.collect();
    Some(match links {
        Some(links) => {
            let least = links.iter().map(|(_, pct)| *pct).fold(100.0, f64::min);
            format!("the link of {} Mb/s is full, {least:.0} %", links[0].0)
        }
        None => "the path is full, no thread needed a whole CPU".to_owned(),
    })
}

/// Ratio of two rates that are the same.
const SAME: f64 = 1.05;

/// Says what is full between the threads of all of these, if they reach the same rate, it drops nothing and they wait for
/// it: their CPU times then tell them apart. `None`: it is not so, or not known.
pub(super) fn full_path(all: &[Reached]) -> Option<String> {
    let is_path = |one: &Reached| one.limit.is_some_and(|limit| limit != Limit::Queue);
    let is_same = most_over_least(all.iter().map(|one| one.pps)) <= SAME;
    if all.len() > 1 && is_same && all.iter().all(is_path) {
        return in_words(all);
    }
    None
}

/// Returns whether all reach the same rate although CPU times differ at both ends: a CPU would keep each of them at another
/// rate. A thread may be busy all the same, as the kernel empties a queue in its calls: its CPU time says nothing then.
pub(super) fn is_same_whatever_cpu(all: &[Reached]) -> bool {
    /// Ratio of rates that only one cause explains, and of CPU times that are not the same.
    const EQUAL: f64 = 1.02;
    const OTHER: f64 = 1.1;
    let ns: Option<Vec<[f64; 2]>> = all.iter().map(|one| one.ns).collect();
    let is_queue = |one: &Reached| one.limit == Some(Limit::Queue);
    let Some(ns) = ns.filter(|_| !all.iter().any(is_queue)) else {
        return false;
    };
    let differs = |end: usize| most_over_least(ns.iter().map(|ns| ns[end])) >= OTHER;
    all.len() > 2
        && most_over_least(all.iter().map(|one| one.pps)) <= EQUAL
        && differs(0)
        && differs(1)
}

/// Returns the ratio of the largest to the smallest value. 1 without values.
fn most_over_least(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (least, most) = (values.clone().reduce(f64::min), values.reduce(f64::max));
    most.zip(least).map_or(1.0, |(most, least)| most / least)
}

/// The rate at which every engine fills the queue of the sender's interface, or something on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullRate {
    /// The lowest of their rates, in datagrams per second.
    pub(super) pps: f64,
    /// The same, in Mb/s of payload.
    pub(super) mbps: f64,
}

impl FullRate {
    /// Returns the lowest rate of these engines. `None`: there are none.
    pub(super) fn least(all: &[Reached]) -> Option<Self> {
        let least = all.iter().min_by(|a, b| a.pps.total_cmp(&b.pps))?;
        Some(Self {
            pps: least.pps,
            mbps: least.mbps,
        })
    }

    /// Returns the rate of engines that all reach the same one, some of them with a full queue. `None`: a CPU keeps one
    /// from it, their rates differ, or it is not known.
    pub(super) fn of_queue(all: &[Reached]) -> Option<Self> {
        let is_full = |one: &Reached| one.limit == Some(Limit::Queue);
        let least = all.iter().min_by(|a, b| a.pps.total_cmp(&b.pps))?;
        let is_same = |one: &Reached| one.limit.is_some() && one.pps <= SAME * least.pps;
        let is_it = all.len() > 1 && all.iter().any(is_full) && all.iter().all(is_same);
        Self::least(all).filter(|_| is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanWarning;
    use crate::results::row::tests::row_of_a_wire;
    use crate::results::row::{NicText, Warning};

    /// Returns a row of 1460 B over a link of this speed, whose threads took this share of a CPU each.
    fn row(mbps: Option<u32>, pps: f64, share: f64) -> Row {
        let ns = Some(1e9 * share / pps);
        let mut nic = NicText::default();
        nic.speed_mbps = mbps;
        Row {
            payload_bytes: 1460.try_into().expect("in range"),
            nic: nic.clone(),
            remote_nic: nic,
            senders: 1,
            receivers: 1,
            sent_pps: Some(pps),
            received_pps: Some(pps),
            received_mbps: Some(1460.0 * 8e-6 * pps),
            sender_cpu_ns_per_packet: ns,
            receiver_cpu_ns_per_packet: ns,
            cpu_ns_per_packet: ns.map(|ns| 2.0 * ns),
            ..row_of_a_wire()
        }
    }

    fn is_full(all: &[Reached]) -> bool {
        full_path(all).is_some()
    }

    #[test]
    fn a_link_is_full_by_its_frames() {
        // 1460 B of payload are 1526 B of the time on the wire: 81,913 of them are 1 Gb/s.
        for (mbps, pps, expected) in [
            (1000, 80_000.0, Some(97.7)),
            (1000, 70_000.0, None),
            (100, 8_000.0, Some(97.7)),
            (10, 80_000.0, None),
        ] {
            let reached = Reached::of(&row(Some(mbps), pps, 1.0)).expect("a wire");
            let pct = match reached.limit {
                Some(Limit::Link { pct, .. }) => Some((10.0 * pct).round() / 10.0),
                _ => None,
            };
            assert_eq!(pct, expected, "{mbps} {pps}");
        }
    }

    #[test]
    fn threads_with_time_to_spare_waited_for_the_path() {
        let reached = |share| Reached::of(&row(None, 10_000.0, share)).expect("a wire");
        assert_eq!(reached(0.5).limit, Some(Limit::Path));
        assert_eq!(reached(0.97).limit, None);
        assert!((reached(0.25).cpus - 0.5).abs() < 1e-9);
        let mixed = [reached(0.5), reached(0.97)];
        assert_eq!(in_words(&mixed), None, "a CPU kept one of them");
        let loopback = Row {
            direction: None,
            ..row(None, 10_000.0, 0.5)
        };
        assert!(Reached::of(&loopback).is_none());
        let at = |pps| Reached::of(&row(None, pps, 0.5)).expect("a wire");
        assert!(is_full(&[at(10_000.0), at(10_400.0)]));
        assert!(!is_full(&[at(10_000.0), at(10_600.0)]));
        assert!(!is_full(&mixed));
    }

    #[test]
    fn engines_of_the_same_rate_whose_cpu_times_differ_fill_the_path() {
        let reached = |pps, share| Reached::of(&row(None, pps, share)).expect("a wire");
        let busy = [(10_000.0, 1.0), (10_100.0, 0.92), (10_050.0, 0.98)];
        let all = |of: [(f64, f64); 3]| of.map(|(pps, share)| reached(pps, share));
        let is_full = |all: [Reached; 3]| is_same_whatever_cpu(&all);
        assert!(!is_full(all(busy)), "a CPU may keep each of them");
        let cheap = [busy[0], busy[1], (10_050.0, 0.5)];
        assert!(is_full(all(cheap)));
        assert_eq!(full_path(&all(cheap)), None, "who is busy does not wait");
        assert!(!is_full(all([cheap[0], cheap[1], (10_400.0, 0.5)])));
        let shared = Row {
            warnings: vec![Warning::Plan(PlanWarning::BothEndsShareCpu { cpu: 1 })],
            ..row(None, 10_050.0, 0.5)
        };
        let shared = Reached::of(&shared).expect("a wire");
        assert_eq!(shared.limit, None, "they waited for each other");
        assert!(!is_full([
            reached(10_000.0, 1.0),
            reached(10_100.0, 0.92),
            shared
        ]));
    }

    #[test]
    fn a_queue_that_each_engine_fills_has_one_rate() {
        let reached = |limit, pps| Reached {
            limit,
            ..Reached::of(&row(None, pps, 0.5)).expect("a wire")
        };
        let (queue, path) = (Some(Limit::Queue), Some(Limit::Path));
        let full = FullRate::of_queue(&[reached(queue, 8300.0), reached(path, 8350.0)]);
        assert_eq!(full.map(|full| full.pps), Some(8300.0));
        for others in [
            [reached(path, 8300.0), reached(path, 8350.0)],
            [reached(queue, 8300.0), reached(path, 9000.0)],
            [reached(queue, 8300.0), reached(None, 8300.0)],
        ] {
            assert!(FullRate::of_queue(&others).is_none(), "{others:?}");
        }
    }
}
