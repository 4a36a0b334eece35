//! The summary as a JSON object, for programs and for the log.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::totals::{Heard, interface};
use crate::data::listened::Source;
use crate::listen::log::{Lines, Silence};
use crate::program::Interval;
use crate::sys::clock_watch::ClockSet;
use crate::time::utc;

/// Returns the summary, with its lines for people. What is not known or was not asked for is null.
pub(super) fn summary(heard: &Heard, lines: &Lines) -> Value {
    let (totals, seconds) = (&heard.totals, heard.totals.seconds());
    let (end, sizes) = (&heard.end, &heard.end.listened.sizes);
    let each = sizes.by_count().into_iter();
    let each = each.map(|(bytes, datagrams)| json!({"bytes": bytes, "datagrams": datagrams}));
    let silent = heard.silent_sources().into_iter();
    let silent = silent.map(
        |(source, since, ns)| json!({"source": source, "since": utc(since), "ms": ns as f64 / 1e6}),
    );
    let us = |share| totals.gaps.quantile(share).map(|ns| ns / 1e3);
    let clock_set = |set: &ClockSet| json!({"at": utc(set.at_ns), "ms": set.by_ns as f64 / 1e6});
    json!({
        "seconds": seconds,
        "datagrams": totals.datagrams,
        "bytes": totals.bytes,
        "datagrams_per_second": totals.datagrams as f64 / seconds,
        "mbps": totals.bytes as f64 * 8.0 / seconds / 1e6,
        "sizes": {
            "least": sizes.range.map(|(least, _)| least),
            "most": sizes.range.map(|(_, most)| most),
            "each": each.collect::<Vec<_>>(),
            "datagrams_of_other_sizes": sizes.others,
        },
        "gaps": {
            "p50_us": us(0.5),
            "p99_us": us(0.99),
            "longest": totals.longest_gap.map(Silence::from),
            "without_kernel_stamp": totals.unstamped,
            "clock_sets": end.clock_sets.0,
            "first_clock_sets": end.clock_sets.1.iter().map(clock_set).collect::<Vec<_>>(),
        },
        "silences": silences(heard),
        "silent_sources": silent.collect::<Vec<_>>(),
        "sequence": heard.sequence().map(|it| it.json()),
        "lost_before_socket": heard.lost_before_socket(),
        "drops": drops(heard),
        "buffer": {
            "bytes": heard.buffer_bytes,
            "queued_bytes_max": end.backlog.most_queued_bytes,
            "bytes_per_datagram": end.backlog.bytes_per_datagram(),
            "needed_rcvbuf": heard.needed_rcvbuf(),
            "needed_if_none_longer_than": heard.needed_rcvbuf().and_then(|_| heard.longest_bytes()),
        },
        "cpu_pct": totals.cpu_pct(),
        "softirq_cpu": totals.seen.softirq_cpu().map(|(cpu, _)| cpu),
        "sources": end.listened.sources.known().iter().map(source).collect::<Vec<_>>(),
        "datagrams_of_other_sources": end.listened.sources.others,
        "lines": lines,
    })
}

fn silences(heard: &Heard) -> Option<Value> {
    let silences = &heard.end.listened.silences;
    let bursts = silences.bursts()?;
    let longest = silences.longest(usize::MAX).into_iter().map(Silence::from);
    let quiet_end_ms = heard.quiet_end_ns().map(|ns| ns as f64 / 1e6);
    let longest: Vec<Silence> = longest.collect();
    Some(
        json!({"count": silences.count, "longest": longest, "quiet_end_ms": quiet_end_ms, "bursts": bursts}),
    )
}

fn drops(heard: &Heard) -> Value {
    let (totals, lost) = (&heard.totals, &heard.totals.seen.lost);
    let reasons = lost.reasons.iter().filter(|(_, packets)| **packets > 0);
    let reasons: BTreeMap<_, _> = reasons.collect();
    let links = lost.links.iter().filter(|(_, times)| **times > 0);
    let places = |interval: &Interval| -> BTreeMap<String, u64> {
        let losses = interval.lost.losses().into_iter();
        losses
            .map(|loss| (loss.place.what.clone(), loss.packets))
            .collect()
    };
    json!({
        "socket": totals.socket_drops,
        "backlog": totals.seen.backlog_drops,
        "protocols": totals.seen.protocol_drops,
        "interfaces": totals.seen.interface_drops,
        "links": links.collect::<BTreeMap<_, _>>(),
        "reasons": heard.no_reasons.is_none().then_some(reasons),
        "places": places(&totals.seen),
        "places_while_numbers_were_missing": places(&totals.missing),
        "not_looked_at": lost.unseen().map(|place| &*place.what).collect::<Vec<_>>(),
    })
}

fn source(source: &Source) -> Value {
    json!({
        "address": source.address.map(|it| it.to_string()),
        "changes_port": source.changes_port(),
        "interface": (source.interface > 0).then(|| interface(source)),
        "stream": source.stream,
        "datagrams": source.datagrams,
        "bytes": source.bytes,
        "longest_gap_ms": source.longest_gap.map(|gap| gap.ns as f64 / 1e6),
    })
}
