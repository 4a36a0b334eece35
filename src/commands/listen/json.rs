//! The summary as a JSON object, for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names;
use super::totals::Outcome;
use crate::data::listened::{Gap, Source};
use crate::host::program::Interval;
use crate::listen::row::utc;
use crate::sys::clock_watch::ClockSet;

/// Returns the summary. What is not known or was not asked for is null.
pub(super) fn summary(outcome: &Outcome) -> Value {
    let totals = &outcome.totals;
    let seconds = totals.seconds();
    json!({
        "seconds": seconds,
        "datagrams": totals.datagrams,
        "bytes": totals.bytes,
        "datagrams_per_second": totals.datagrams as f64 / seconds,
        "mbps": totals.bytes as f64 * 8.0 / seconds / 1e6,
        "sizes": sizes(outcome),
        "gaps": gaps(outcome),
        "silences": silences(outcome),
        "silent_sources": outcome.silent_sources(),
        "sequence": outcome.sequence(),
        "lost_before_socket": outcome.lost_before_socket(),
        "drops": drops(outcome),
        "buffer": {
            "bytes": outcome.buffer_bytes,
            "queued_bytes_max": outcome.end.backlog.most_queued_bytes(),
            "bytes_per_datagram": outcome.end.backlog.bytes_per_datagram(),
            "needed_rcvbuf": outcome.needed_rcvbuf(),
            "needed_if_none_longer_than": outcome.needed_rcvbuf().and_then(|_| outcome.longest_bytes()),
        },
        "cpu_pct": 100.0 * totals.cpu_ns as f64 / totals.length_ns.max(1) as f64,
        "softirq_cpu": outcome.seen.softirq_cpu().map(|(cpu, _)| cpu),
        "sources": outcome.end.listened.sources.known().iter().map(source).collect::<Vec<_>>(),
        "datagrams_of_other_sources": outcome.end.listened.sources.others(),
    })
}

fn sizes(outcome: &Outcome) -> Value {
    let sizes = &outcome.end.listened.sizes;
    let each = sizes.by_count().into_iter();
    let each = each.map(|(bytes, datagrams)| json!({"bytes": bytes, "datagrams": datagrams}));
    json!({
        "least": sizes.range().map(|(least, _)| least),
        "most": sizes.range().map(|(_, most)| most),
        "each": each.collect::<Vec<_>>(),
        "datagrams_of_other_sizes": sizes.others(),
    })
}

fn gaps(outcome: &Outcome) -> Value {
    let totals = &outcome.totals;
    let us = |share| totals.gaps.quantile(share).map(|ns| ns / 1e3);
    json!({
        "p50_us": us(0.5),
        "p99_us": us(0.99),
        "longest": totals.longest_gap.map(gap),
        "without_kernel_stamp": totals.unstamped,
        "clock_sets": outcome.end.clock_sets.0,
        "first_clock_sets": outcome.end.clock_sets.1.iter().map(clock_set).collect::<Vec<_>>(),
    })
}

fn clock_set(set: &ClockSet) -> Value {
    json!({"at": utc(set.at_ns), "ms": set.by_ns as f64 / 1e6})
}

fn gap(gap: Gap) -> Value {
    json!({"began_at": utc(gap.began_ns), "ms": gap.ns as f64 / 1e6, "dropped": gap.dropped})
}

fn silences(outcome: &Outcome) -> Value {
    let silences = &outcome.end.listened.silences;
    silences.bursts().map_or(Value::Null, |bursts| {
        let longest: Vec<Value> = silences.longest().into_iter().map(gap).collect();
        let quiet_end_ms = outcome.quiet_end_ns().map(|ns| ns as f64 / 1e6);
        json!({"count": silences.count(), "longest": longest, "quiet_end_ms": quiet_end_ms, "bursts": bursts})
    })
}

fn drops(outcome: &Outcome) -> Value {
    let lost = &outcome.seen.lost;
    let reasons = lost.reasons.iter().filter(|(_, packets)| **packets > 0);
    let reasons: BTreeMap<_, _> = reasons.collect();
    let links = lost.links.iter().filter(|(_, times)| **times > 0);
    let links: BTreeMap<_, _> = links.collect();
    let unseen = lost.unseen().map(|place| place.what.as_str());
    let places = |interval: &Interval| -> BTreeMap<&str, u64> {
        let losses = interval.lost.losses().into_iter();
        losses
            .map(|loss| (loss.place.what.as_str(), loss.packets))
            .collect()
    };
    json!({
        "socket": outcome.totals.socket_drops,
        "backlog": outcome.seen.backlog_drops,
        "protocols": outcome.seen.protocol_drops,
        "interfaces": outcome.seen.interface_drops,
        "links": links,
        "reasons": outcome.no_reasons.is_none().then_some(reasons),
        "places": places(&outcome.seen),
        "places_while_numbers_were_missing": places(&outcome.missing),
        "not_looked_at": unseen.collect::<Vec<_>>(),
    })
}

fn source(source: &Source) -> Value {
    json!({
        "address": source.address.map(|it| it.to_string()),
        "changes_port": source.changes_port(),
        "interface": (source.interface > 0).then(|| names::interface(source)),
        "stream": source.stream,
        "datagrams": source.datagrams,
        "bytes": source.bytes,
        "longest_gap_ms": source.longest_gap.map(|gap| gap.ns as f64 / 1e6),
    })
}
