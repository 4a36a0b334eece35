//! What kept engines between two hosts from being faster, as far as it is known.

use crate::data::Ip;
use crate::results::row::Row;
use crate::verdict::quality::LOSSY_PCT;

/// What kept an engine from being faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// The link, of this speed in Mb/s.
    Link { mbps: u32 },
    /// The queue at the sender's interface, which refused or dropped datagrams.
    Queue,
    /// Something between the threads of both ends, none of which needed a whole CPU.
    Path,
}

/// What is known of an engine under some conditions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// What kept it from being faster. `None`: a CPU, or it is not known.
    limit: Option<Limit>,
    /// Datagrams received per second.
    pps: f64,
    /// CPU time of the senders and of the receivers per datagram, in nanoseconds. `None`: both ends shared a CPU, or it
    /// is not known.
    ns: Option<[f64; 2]>,
}

/// A path that all engines fill, and reach the same rate.
pub(super) struct FullPath {
    /// What is full, in words.
    pub(super) what: String,
    /// The lowest of their rates, which hardly differ, in datagrams per second.
    pub(super) pps: f64,
    /// True if it drops nothing and the engines wait for it: their CPU times then tell them apart.
    pub(super) is_waited_for: bool,
}

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
const QUEUE_IS_FULL: &str = "the queue of the sender's interface is full";

impl Reached {
    /// Returns what is known of a row between two hosts.
    pub(super) fn of(row: &Row) -> Option<Self> {
        row.direction?;
        let (tx, rx) = (row.sender_cpu_ns_per_packet, row.receiver_cpu_ns_per_packet);
        let ns = tx.zip(rx).filter(|_| !row.shares_cpu());
        let ns = ns.map(|(tx, rx)| [tx, rx]);
        let limit = full_link(row).or_else(|| full_queue(row).then_some(Limit::Queue));
        Some(Self {
            limit: limit.or_else(|| had_time(row, ns?).then_some(Limit::Path)),
            pps: row.received_pps?,
            ns,
        })
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
    let is_full = (FULL_PCT..VIRTUAL_PCT).contains(&pct);
    is_full.then_some(Limit::Link { mbps })
}

/// Returns whether no thread of either end needed a whole CPU: each waited for something between them.
fn had_time(row: &Row, [tx_ns, rx_ns]: [f64; 2]) -> bool {
    let has_time = |ns: f64, pps: Option<f64>, threads: usize| {
        pps.is_some_and(|pps| 1e-9 * ns * pps / (threads as f64) < SPARE)
    };
    has_time(tx_ns, row.sent_pps, row.senders) && has_time(rx_ns, row.received_pps, row.receivers)
}

/// Says what kept all of these from being faster. `None`: not the same kept them, or it is not known.
pub(super) fn in_words(all: &[Reached]) -> Option<String> {
    let limits: Option<Vec<Limit>> = all.iter().map(|one| one.limit).collect();
    let limits = limits?;
    let is_link = |limit: &Limit| matches!(limit, Limit::Link { .. });
    Some(match limits.first()? {
        Limit::Link { mbps } if limits.iter().all(is_link) => {
            format!("the link of {mbps} Mb/s is full")
        }
        _ => "the path is full, no thread needed a whole CPU".to_owned(),
    })
}

/// Returns the path that all of `known` fill at the same rate. `None`: they do not, or it is not known. `all`: also the
/// engines that may not be recommended, which tell what is full as well. `are_clean`: `known` lost little.
pub(super) fn full_path(known: &[Reached], all: &[Reached], are_clean: bool) -> Option<FullPath> {
    /// Ratio of two rates that are the same.
    const SAME: f64 = 1.05;
    let least = known.iter().map(|one| one.pps).reduce(f64::min)?;
    let is_queue = |one: &Reached| one.limit == Some(Limit::Queue);
    let has_queue = known.iter().any(is_queue);
    let is_same = known.len() > 1 && most_over_least(known.iter().map(|one| one.pps)) <= SAME;
    let limit = in_words(known).filter(|_| is_same);
    let (what, is_waited_for) = match limit {
        Some(what) if are_clean && !has_queue => (what, true),
        _ if are_clean && (is_same_whatever_cpu(known) || is_same_whatever_cpu(all)) => {
            ("the path is full".to_owned(), false)
        }
        Some(_) if has_queue => (QUEUE_IS_FULL.to_owned(), false),
        _ => return None,
    };
    Some(FullPath {
        what,
        pps: least,
        is_waited_for,
    })
}

/// Returns whether all reach the same rate although CPU times differ at both ends: a CPU would keep each of them at
/// another rate. A thread may be busy all the same, as the kernel empties a queue in its calls: its CPU time says
/// nothing then.
fn is_same_whatever_cpu(all: &[Reached]) -> bool {
    /// Ratio of rates that only one cause explains, and of CPU times that are not the same.
    const EQUAL: f64 = 1.02;
    const OTHER: f64 = 1.1;
    let has_queue = all.iter().any(|one| one.limit == Some(Limit::Queue));
    let ns: Option<Vec<[f64; 2]>> = all.iter().map(|one| one.ns).collect();
    let Some(ns) = ns.filter(|_| !has_queue) else {
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
            sender_cpu_ns_per_packet: ns,
            receiver_cpu_ns_per_packet: ns,
            cpu_ns_per_packet: ns.map(|ns| 2.0 * ns),
            ..row_of_a_wire()
        }
    }

    fn reached(pps: f64, share: f64) -> Reached {
        Reached::of(&row(None, pps, share)).expect("a wire")
    }

    fn is_waited_for(known: &[Reached]) -> Option<bool> {
        Some(full_path(known, known, true)?.is_waited_for)
    }

    #[test]
    fn a_link_is_full_by_its_frames() {
        // 1460 B of payload are 1526 B of the time on the wire: 81,913 of them are 1 Gb/s.
        for (mbps, pps, is_full) in [
            (1000, 80_000.0, true),
            (1000, 70_000.0, false),
            (100, 8_000.0, true),
            (10, 80_000.0, false),
        ] {
            let reached = Reached::of(&row(Some(mbps), pps, 1.0)).expect("a wire");
            let expected = is_full.then_some(Limit::Link { mbps });
            assert_eq!(reached.limit, expected, "{mbps} {pps}");
        }
    }

    #[test]
    fn threads_with_time_to_spare_waited_for_the_path() {
        let at = |share| reached(10_000.0, share);
        assert_eq!(at(0.5).limit, Some(Limit::Path));
        assert_eq!(at(0.97).limit, None);
        let mixed = [at(0.5), at(0.97)];
        assert_eq!(in_words(&mixed), None, "a CPU kept one of them");
        let loopback = Row {
            direction: None,
            ..row(None, 10_000.0, 0.5)
        };
        assert!(Reached::of(&loopback).is_none());
        let full = is_waited_for(&[at(0.5), reached(10_400.0, 0.5)]);
        assert_eq!(full, Some(true));
        let full = is_waited_for(&[at(0.5), reached(10_600.0, 0.5)]);
        assert_eq!(full, None);
        assert_eq!(is_waited_for(&mixed), None);
    }

    #[test]
    fn engines_of_the_same_rate_whose_cpu_times_differ_fill_the_path() {
        let busy = [(10_000.0, 1.0), (10_100.0, 0.92), (10_050.0, 0.98)];
        let all = |of: [(f64, f64); 3]| of.map(|(pps, share)| reached(pps, share));
        let full = is_waited_for(&all(busy));
        assert_eq!(full, None, "a CPU may keep each of them");
        let cheap = [busy[0], busy[1], (10_050.0, 0.5)];
        let full = is_waited_for(&all(cheap));
        assert_eq!(full, Some(false), "who is busy does not wait");
        let apart = [cheap[0], cheap[1], (10_400.0, 0.5)];
        assert_eq!(is_waited_for(&all(apart)), None);
        let shared = Row {
            warnings: vec![Warning::Plan(PlanWarning::BothEndsShareCpu { cpu: 1 })],
            ..row(None, 10_050.0, 0.5)
        };
        let shared = Reached::of(&shared).expect("a wire");
        assert_eq!(shared.limit, None, "they waited for each other");
        let with_shared = [reached(10_000.0, 1.0), reached(10_100.0, 0.92), shared];
        assert_eq!(is_waited_for(&with_shared), None);
    }

    #[test]
    fn a_queue_that_each_engine_fills_has_one_rate() {
        let reached = |limit, pps| Reached {
            limit,
            ..reached(pps, 0.5)
        };
        let (queue, path) = (Some(Limit::Queue), Some(Limit::Path));
        let of_queue = |known: &[Reached]| {
            let full = full_path(known, known, false)?;
            Some((full.what.starts_with("the queue"), full.pps))
        };
        let full = of_queue(&[reached(queue, 8300.0), reached(path, 8350.0)]);
        assert_eq!(full, Some((true, 8300.0)));
        for others in [
            [reached(path, 8300.0), reached(path, 8350.0)],
            [reached(queue, 8300.0), reached(path, 9000.0)],
            [reached(queue, 8300.0), reached(None, 8300.0)],
        ] {
            assert!(of_queue(&others).is_none(), "{others:?}");
        }
    }
}
