//! The summary: its lines for people, and a JSON object for programs.

use super::ListenArgs;
use super::totals::{Heard, name};
use crate::data::listened::Source;
use crate::host::check::Finding;
use crate::host::facts::RcvbufLimit;
use crate::listen::log::{Lines, Silence, came};
use crate::program::diagnosis::findings_with;
use crate::program::losses;
use crate::sys::clock_watch::ClockSet;
use crate::sys::files::Root;
use crate::text::digits::counted;
use crate::text::digits::number;
use crate::text::duration;
use crate::time::utc_time;

/// Silences, sources and settings of the clock that are shown.
const SHOWN: usize = 20;
/// Sizes that are shown.
const SHOWN_SIZES: usize = 4;

/// Returns the lines of the summary.
pub(super) fn lines(heard: &Heard, args: &ListenArgs) -> Lines {
    let totals = &heard.totals;
    if totals.datagrams == 0 {
        let nothing = format!("no datagram came in {:.1} s", totals.seconds());
        let parts = [
            ("came", vec![nothing]),
            ("drops", drops(heard)),
            ("look at", where_to_look(args)),
        ];
        return named(parts);
    }
    let sequence = heard.sequence().map(|sequence| {
        let mut lines = sequence.lines();
        lines.extend(heard.lost_before_socket());
        lines
    });
    let all = &heard.end.listened.sources;
    let more = if all.others > 0 { "more than " } else { "" };
    let from = format!(" from {more}{}", counted(all.known().len(), "source"));
    named([
        (
            "came",
            vec![came(
                totals.datagrams,
                totals.bytes,
                totals.seconds(),
                &from,
            )],
        ),
        ("sizes", vec![sizes(heard)]),
        ("gaps", gaps(heard)),
        ("silences", silences(heard, args)),
        ("bursts", bursts(heard).into_iter().collect()),
        ("silent", silent(heard)),
        ("sequence", sequence.unwrap_or_default()),
        ("drops", drops(heard)),
        ("buffer", buffer(heard)),
        ("CPU", vec![cpu(heard)]),
        ("sources", sources(heard)),
    ])
}

/// Puts the name of each part before its first line.
fn named<const N: usize>(parts: [(&str, Vec<String>); N]) -> Lines {
    let of_part = |(name, lines): (&str, Vec<String>)| -> Lines {
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        let names = names.map(str::to_owned);
        names.zip(lines).collect()
    };
    parts.into_iter().flat_map(of_part).collect()
}

fn where_to_look(args: &ListenArgs) -> Vec<String> {
    let port = args.address.port;
    let is_group = args.address.address.is_some_and(|it| it.ip.is_multicast());
    let mut lines = vec![
        "the address and the port that the sender is set to".to_owned(),
        format!("whether anything comes in: sudo tcpdump -ni any udp port {port}"),
        "a firewall of this host: sudo nft list ruleset".to_owned(),
    ];
    if is_group {
        lines.extend([
            "the interface: --interface names where the group comes in".to_owned(),
            "a switch that snoops IGMP or MLD; sysctl net.ipv4.conf.all.rp_filter".to_owned(),
        ]);
    }
    lines
}

fn sizes(heard: &Heard) -> String {
    let sizes = &heard.end.listened.sizes;
    let (mut each, mut others) = (Vec::new(), heard.totals.datagrams);
    for (bytes, count) in sizes.by_count().into_iter().take(SHOWN_SIZES) {
        each.push(format!("{bytes} B: {count}"));
        others -= count.min(others);
    }
    if let (1.., Some((least, most))) = (others, sizes.range) {
        each.push(format!("others: {others}, all from {least} to {most} B"));
    }
    each.join(", ")
}

fn gaps(heard: &Heard) -> Vec<String> {
    let totals = &heard.totals;
    let quantile = |share| Some(number(Some(totals.gaps.quantile(share)? / 1e3), 1));
    let (Some(p50), Some(p99), Some(longest)) = (quantile(0.5), quantile(0.99), totals.longest_gap)
    else {
        return vec!["unknown: fewer than two datagrams".to_owned()];
    };
    let stamps = match totals.unstamped {
        0 => "kernel stamps".to_owned(),
        some => format!("{some} without a stamp of the kernel: by the time of reading"),
    };
    let (ms, from) = (milliseconds(longest.ns), utc_time(longest.began_ns));
    let (count, first) = &heard.end.clock_sets;
    let set = |set: &ClockSet| format!("{}, at {}", set.text(), utc_time(set.at_ns));
    let mut lines = vec![format!(
        "p50 {p50} us, p99 {p99} us, longest {ms} from {from} on ({stamps})"
    )];
    lines.extend(capped(first.iter().map(set), *count));
    lines
}

/// Returns the first lines, and how many more there are.
fn capped(lines: impl Iterator<Item = String>, all: u64) -> Vec<String> {
    let mut lines: Vec<String> = lines.take(SHOWN).collect();
    let more = all.saturating_sub(lines.len() as u64);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}

fn milliseconds(ns: u64) -> String {
    format!("{} ms", number(Some(ns as f64 / 1e6), 3))
}

fn silences(heard: &Heard, args: &ListenArgs) -> Vec<String> {
    let Some(shortest) = args.gap else {
        return Vec::new();
    };
    let silences = &heard.end.listened.silences;
    let longest = silences.longest(SHOWN);
    let are_all = silences.count == longest.len() as u64;
    let at = if are_all {
        ""
    } else {
        ", the longest of them at"
    };
    let shortest_text = duration::text(shortest);
    let first = format!("{} of {shortest_text} or longer{at}", silences.count);
    let quiet_ns = heard.quiet_end_ns();
    let quiet_ns = quiet_ns.filter(|ns| u128::from(*ns) >= shortest.as_nanos());
    let quiet = quiet_ns.map(|ns| format!("and the last {} before the end", milliseconds(ns)));
    let longest = longest.into_iter().map(|gap| Silence::from(gap).text());
    std::iter::once(first).chain(longest).chain(quiet).collect()
}

fn bursts(heard: &Heard) -> Option<String> {
    let bursts = heard.end.listened.silences.bursts()?;
    Some(format!(
        "{} between silences: {} to {}, at most {} B",
        bursts.count,
        bursts.fewest_datagrams,
        counted(bursts.most_datagrams, "datagram"),
        bursts.most_bytes
    ))
}

/// Returns the sources that sent nothing any more at the end.
fn silent(heard: &Heard) -> Vec<String> {
    let all = heard.silent_sources();
    let texts = all.iter().map(|(source, last_ns, ns)| {
        let seconds = *ns as f64 / 1e9;
        format!(
            "{source} since {}, {seconds:.1} s before the end",
            utc_time(*last_ns)
        )
    });
    capped(texts, all.len() as u64)
}

/// Returns the drops by place.
fn drops(heard: &Heard) -> Vec<String> {
    let seen = &heard.totals.seen;
    let interfaces = seen.interface_drops.iter();
    let interfaces = interfaces.map(|(name, lost)| format!("{name} {lost}"));
    let mut interfaces = interfaces.collect::<Vec<_>>().join(", ");
    if interfaces.is_empty() {
        interfaces.push_str("none");
    }
    let mut lines = vec![format!(
        "socket {}; for any program: backlog {}, IP and UDP {}, interfaces {interfaces}",
        heard.totals.socket_drops, seen.backlog_drops, seen.protocol_drops
    )];
    let links = heard.links(seen).into_iter();
    lines.extend(links.map(|(what, next)| format!("{what}: {next}")));
    let causes = heard.causes();
    for (when, interval) in [
        ("by place, for any program", seen),
        ("while numbers were missing", &heard.totals.missing),
    ] {
        let places = losses::elsewhere(interval, &causes);
        if !places.is_empty() {
            lines.push(format!("{when}: {}", losses::list(&places)));
        }
    }
    let unseen = heard.not_looked_at();
    lines.extend(unseen.map(|places| format!("not looked at: {places}")));
    lines
}

/// Returns the buffer, how full it was, and what the bursts need.
fn buffer(heard: &Heard) -> Vec<String> {
    let bytes = heard.buffer_bytes;
    let most = heard.end.backlog.most_queued_bytes;
    let full = 100.0 * f64::from(most) / f64::from(bytes.max(1));
    let each = heard.end.backlog.bytes_per_datagram();
    let held = each.map(|each| u64::from(bytes) / each.max(1));
    let held = held.map(|number| format!("; it holds {number} such datagrams"));
    let mut lines = vec![format!(
        "SO_RCVBUF {} B, at most {full:.0} % full{}",
        bytes / 2,
        held.unwrap_or_default()
    )];
    // The first and the last burst may be cut off.
    let bursts = heard.end.listened.silences.bursts();
    let bursts = bursts.filter(|bursts| bursts.count > 2);
    if let Some((bursts, each)) = bursts.zip(each) {
        // The kernel doubles what is set.
        let needed = rounded_up((bursts.most_datagrams * each).div_ceil(2));
        lines.push(format!(
            "SO_RCVBUF {needed} B holds the largest burst before anything of it is read"
        ));
    }
    lines.extend(estimate(heard).map(|(_, text)| text));
    lines
}

/// Returns the buffer that would have held everything, in bytes and in words: the kernel does not tell the sizes of
/// what it drops.
fn estimate(heard: &Heard) -> Option<(u64, String)> {
    let needed = rounded_up(heard.needed_rcvbuf()?);
    let longest = heard.longest_bytes().unwrap_or(0);
    let text = format!(
        "SO_RCVBUF {needed} B would have held what was dropped, by estimate, if none of it was longer than {longest} B, as \
         none that came"
    );
    Some((needed, text))
}

fn cpu(heard: &Heard) -> String {
    let softirq = heard.totals.seen.softirq_cpu().map(|(cpu, share)| {
        let pct = 100.0 * share;
        format!("; CPU {cpu} received {pct:.0} % of all packets from the network")
    });
    format!(
        "{:.1} % of one{}",
        heard.totals.cpu_pct(),
        softirq.unwrap_or_default()
    )
}

/// Rounds a number up to two digits.
fn rounded_up(number: u64) -> u64 {
    let step = 10_u64.pow(number.max(10).ilog10() - 1);
    number.div_ceil(step) * step
}

/// Returns the sources, those with the most datagrams first.
fn sources(heard: &Heard) -> Vec<String> {
    let sources = &heard.end.listened.sources;
    let mut known: Vec<&Source> = sources.known().iter().collect();
    known.sort_by_key(|source| std::cmp::Reverse(source.datagrams));
    let texts = known.iter().map(|source| {
        let (name, came) = (
            name(source, sources.known()),
            counted(source.datagrams, "datagram"),
        );
        let gap = source.longest_gap.map(|gap| milliseconds(gap.ns));
        let gap = gap.map(|ms| format!(", longest gap {ms}"));
        format!(
            "{name}  {came} of {} B{}",
            source.bytes,
            gap.unwrap_or_default()
        )
    });
    let mut lines = capped(texts, known.len() as u64);
    if sources.others > 0 {
        let others = counted(sources.others, "datagram");
        lines.push(format!("and {others} of others"));
    }
    lines
}

/// Returns what was found, with its fixes.
pub(super) fn findings(heard: &Heard) -> String {
    let larger = match estimate(heard) {
        None => "a larger buffer: --rcvbuf 4M".to_owned(),
        Some((needed, text)) => {
            let limit = RcvbufLimit::read(&Root::default());
            let is_less = limit.most.is_some_and(|most| most < needed);
            let command = || format!("\nfor programs that set it: {}", limit.command(needed));
            let allow = is_less.then(command).unwrap_or_default();
            format!("{text}: here --rcvbuf {needed}; a program sets SO_RCVBUF{allow}")
        }
    };
    let totals = &heard.totals;
    let findings = findings_with(&totals.seen, &totals.dropping, "udpbench", &larger);
    let texts = findings.iter().map(Finding::text);
    texts.flat_map(|text| ["\n".to_owned(), text]).collect()
}
