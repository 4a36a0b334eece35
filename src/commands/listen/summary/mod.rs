//! The summary for people: what came, what was lost and where, and findings with their fixes.

mod losses;
mod sources;

use std::iter;

use super::totals::Outcome;
use crate::cli::ListenArgs;
use crate::commands::width;
use crate::data::listened::Gap;
use crate::listen::log::{Silence, SilentSource};
use crate::listen::row::{time_of_day, utc};
use crate::listen::summary::quiet_end_text;
use crate::results::export::table::number;
use crate::term::fold;
use crate::text::digits::counted;
use crate::text::duration;

/// Width of the labels in columns.
const LABEL: usize = 10;
/// Silences whose moments are shown.
const SHOWN_SILENCES: usize = 10;
/// Sizes that are shown.
const SHOWN_SIZES: usize = 4;
/// Settings of the clock that are shown.
const SHOWN_CLOCK_SETS: usize = 5;

/// Returns the summary.
pub(super) fn text(outcome: &Outcome, args: &ListenArgs) -> String {
    let totals = &outcome.totals;
    let seconds = totals.seconds();
    if totals.datagrams == 0 {
        let nothing = format!("no datagram came in {seconds:.1} s\n");
        let known = losses::places(outcome) + &losses::findings(outcome);
        // A place that dropped packets comes first.
        return if losses::is_place_known(outcome) {
            nothing + &known + "\n" + &where_to_look(args)
        } else {
            nothing + &where_to_look(args) + &known
        };
    }
    let rate = totals.datagrams as f64 / seconds;
    let mbps = totals.bytes as f64 * 8.0 / seconds / 1e6;
    let listened = &outcome.end.listened;
    let sources = match (listened.sources.known().len(), listened.sources.others()) {
        (known, 0) => counted(known, "source"),
        (known, _) => format!("more than {}", counted(known, "source")),
    };
    let mut text = format!(
        "{} in {seconds:.1} s from {sources}: {} per second, {} Mb/s of payload\n",
        counted(totals.datagrams, "datagram"),
        number(Some(rate), 1),
        number(Some(mbps), 2),
    );
    text += &sizes(outcome);
    text += &gaps(outcome);
    text += &silences(outcome, args);
    text += &silent(outcome);
    text += &losses::sequence(outcome);
    text += &losses::places(outcome);
    text += &losses::buffer(outcome);
    let cpu_pct = 100.0 * totals.cpu_ns as f64 / totals.length_ns.max(1) as f64;
    let softirq = outcome.seen.softirq_cpu().map(|(cpu, share)| {
        format!(
            "; CPU {cpu} received {:.0} % of all packets from the network",
            100.0 * share
        )
    });
    let cpu = format!("{cpu_pct:.1} % of one{}", softirq.unwrap_or_default());
    text += &entry("CPU", &[cpu]);
    text += &sources::table(outcome);
    text + &losses::findings(outcome)
}

/// Returns lines with a label before the first one. Long ones are folded.
fn entry<T: AsRef<str>>(label: &str, lines: &[T]) -> String {
    let room = usize::from(width()) - LABEL;
    let folded = lines.iter().map(|line| fold::text(line.as_ref(), room));
    let all = folded.collect::<Vec<_>>().join("\n");
    let labels = iter::once(label).chain(iter::repeat(""));
    let lines = labels.zip(all.lines());
    let lines = lines.map(|(label, line)| format!("{label:<LABEL$}{line}\n"));
    lines.collect()
}

fn where_to_look(args: &ListenArgs) -> String {
    let port = args.address.port;
    let is_group =
        args.group.is_some() || args.address.address.is_some_and(|it| it.ip.is_multicast());
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
    entry("look at", &lines)
}

fn sizes(outcome: &Outcome) -> String {
    let sizes = &outcome.end.listened.sizes;
    let by_count = sizes.by_count();
    let each = by_count.iter().take(SHOWN_SIZES);
    let mut each: Vec<String> = each
        .map(|(bytes, count)| format!("{bytes} B: {count}"))
        .collect();
    let shown: u64 = by_count
        .iter()
        .take(SHOWN_SIZES)
        .map(|(_, count)| count)
        .sum();
    let others = outcome.totals.datagrams - shown.min(outcome.totals.datagrams);
    if let (true, Some((least, most))) = (others > 0, sizes.range()) {
        each.push(format!("others: {others}, all from {least} to {most} B"));
    }
    entry("sizes", &[each.join(", ")])
}

fn milliseconds(ns: u64) -> String {
    format!("{} ms", number(Some(ns as f64 / 1e6), 3))
}

fn moment(gap: Gap) -> String {
    format!("{} UTC", time_of_day(&utc(gap.began_ns)))
}

fn gaps(outcome: &Outcome) -> String {
    let totals = &outcome.totals;
    let us = |share| {
        totals
            .gaps
            .quantile(share)
            .map(|ns| number(Some(ns / 1e3), 1))
    };
    let (Some(p50), Some(p99), Some(longest)) = (us(0.5), us(0.99), totals.longest_gap) else {
        return entry("gaps", &["unknown: fewer than two datagrams"]);
    };
    let stamps = match totals.unstamped {
        0 => "kernel stamps".to_owned(),
        some => format!("{some} without a stamp of the kernel: by the time of reading"),
    };
    let mut lines = vec![format!(
        "p50 {p50} us, p99 {p99} us, longest {} from {} on ({stamps})",
        milliseconds(longest.ns),
        moment(longest)
    )];
    lines.extend(clock_sets(outcome));
    entry("gaps", &lines)
}

/// Returns when somebody set the clock of this machine. Gaps are right all the same.
fn clock_sets(outcome: &Outcome) -> Vec<String> {
    let (count, first) = &outcome.end.clock_sets;
    let shown = first.iter().take(SHOWN_CLOCK_SETS);
    let mut lines: Vec<String> = shown
        .map(|set| format!("{}, at {} UTC", set.text(), time_of_day(&utc(set.at_ns))))
        .collect();
    let more = count.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("and {more} times more"));
    }
    lines
}

fn silences(outcome: &Outcome, args: &ListenArgs) -> String {
    let silences = &outcome.end.listened.silences;
    let (Some(bursts), Some(shortest)) = (silences.bursts(), args.gap) else {
        return String::new();
    };
    let longest = silences.longest();
    let at = if longest.len() > SHOWN_SILENCES {
        ", the longest of them at"
    } else {
        ""
    };
    let shortest_text = duration::text(shortest);
    let mut lines = vec![format!(
        "{} of {shortest_text} or longer{at}",
        silences.count()
    )];
    let mut kept = longest.clone();
    kept.sort_by_key(|gap| std::cmp::Reverse(gap.ns));
    kept.truncate(SHOWN_SILENCES);
    let kept = longest.into_iter().filter(|gap| kept.contains(gap));
    lines.extend(kept.map(|gap| Silence::from(gap).text()));
    let quiet_ns = outcome.quiet_end_ns();
    if let Some(ns) = quiet_ns.filter(|ns| u128::from(*ns) >= shortest.as_nanos()) {
        lines.push(quiet_end_text(ns as f64 / 1e6));
    }
    let datagrams = match (bursts.fewest_datagrams, bursts.most_datagrams) {
        (fewest, most) if fewest == most => counted(most, "datagram"),
        (fewest, most) => format!("{fewest} to {}", counted(most, "datagram")),
    };
    let most_bytes = size(bursts.most_bytes);
    let bursts = format!(
        "{} between silences: {datagrams}, at most {most_bytes}",
        bursts.count
    );
    entry("silences", &lines) + &entry("bursts", &[bursts])
}

/// Returns the sources that sent nothing any more at the end.
fn silent(outcome: &Outcome) -> String {
    let all = outcome.silent_sources();
    let shown = all.iter().take(SHOWN_SILENCES);
    let mut lines: Vec<String> = shown.map(SilentSource::text).collect();
    let more = all.len() - lines.len();
    if more > 0 {
        lines.push(format!("and {}", counted(more, "more source")));
    }
    entry("silent", &lines)
}

/// Formats a size in bytes with two or three digits.
fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes if bytes >= 1e4 => format!("{:.0} kB", bytes / 1e3),
        bytes => format!("{bytes:.0} B"),
    }
}

/// Rounds a number up to two digits.
fn rounded_up(number: u64) -> u64 {
    let step = 10_u64.pow(number.max(10).ilog10() - 1);
    number.div_ceil(step) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_rounded_up_and_has_a_unit() {
        for (bytes, rounded, text) in [
            (1, 1, "1 B"),
            (99, 99, "99 B"),
            (101, 110, "110 B"),
            (77_312, 78_000, "78 kB"),
            (1_150_001, 1_200_000, "1.2 MB"),
        ] {
            assert_eq!((rounded_up(bytes), size(rounded).as_str()), (rounded, text));
        }
    }
}
