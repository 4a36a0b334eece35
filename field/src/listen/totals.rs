//! The whole run: its windows together, and what the kernel counted meanwhile.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::data::Histogram;
use crate::data::listened::{Gap, ListenWindow, Source};
use crate::listen::sequence::{Sequence, SourceNumbers, before_socket};
use crate::program::Interval;
use crate::program::losses::{self, Cause, elsewhere, not_looked_at};
use crate::sys::nic::{self, with_those_below};
use crate::sys::{interface_addresses, socket_queues};
use crate::workload::listening::ListenEnd;

/// Sums over all windows, and what the kernel counted in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    length_ns: u64,
    pub(super) datagrams: u64,
    pub(super) bytes: u64,
    pub(super) gaps: Histogram,
    pub(super) longest_gap: Option<Gap>,
    unnumbered: u64,
    pub(super) unstamped: u64,
    pub(super) socket_drops: u64,
    cpu_ns: u64,
    /// Drops on the way to the socket, and the CPUs.
    pub(super) seen: Interval,
    /// The windows in which the socket dropped something.
    pub(super) dropping: Interval,
    /// The windows in which numbers were missing, each with those before it back to the last datagram.
    pub(super) missing: Interval,
    /// Windows that are not in `missing`, from the one with the last datagram on.
    since_last: Interval,
}

/// A run that is over.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) totals: Totals,
    pub(super) end: ListenEnd,
    /// Reason why the kernel's drop reasons cannot be counted. `None`: they are.
    pub(super) no_reasons: Option<String>,
    /// Size of the buffer as the kernel counts it, in bytes.
    pub(super) buffer_bytes: u32,
}

impl Totals {
    /// Adds a window, and what the kernel counted meanwhile.
    pub(super) fn add(&mut self, window: &ListenWindow, seen: &Interval) {
        self.length_ns += window.length_ns;
        self.datagrams += window.datagrams;
        self.bytes += window.bytes;
        self.gaps.add(&window.gaps());
        if let Some(gap) = window.longest_gap {
            self.longest_gap = Gap::longer(self.longest_gap, gap);
        }
        self.unnumbered += window.unnumbered;
        self.unstamped += window.unstamped;
        self.socket_drops += window.socket_drops;
        self.cpu_ns += window.cpu_ns;
        self.seen.add(seen);
        if window.socket_drops > 0 {
            self.dropping.add(seen);
        }
        // What is missing in this window was lost since the last datagram before it.
        self.since_last.add(seen);
        if window.sequence.missing > 0 {
            self.missing.add(&std::mem::take(&mut self.since_last));
        } else if window.datagrams > 0 {
            self.since_last = seen.clone();
        }
    }

    /// Returns the length in seconds, above 0.
    pub(super) fn seconds(&self) -> f64 {
        self.length_ns.max(1) as f64 / 1e9
    }

    /// Returns the CPU time of the receiving thread, in % of one CPU.
    pub(super) fn cpu_pct(&self) -> f64 {
        100.0 * self.cpu_ns as f64 / self.length_ns.max(1) as f64
    }
}

impl Heard {
    /// Returns the causes of the drops of the socket.
    pub(super) fn causes(&self) -> Vec<Cause> {
        losses::causes(&self.totals.seen, &self.totals.dropping)
    }

    /// Returns what the numbers of each source tell. `None`: datagrams have none.
    pub(super) fn sequence(&self) -> Option<Sequence> {
        let listened = &self.end.listened;
        listened.numbered?;
        let all = listened.sources.known();
        let is_exact = listened.sources.drops_are_matched();
        let causes = self.causes();
        let late_drops = causes.iter().filter(|cause| !cause.is_full());
        let drops = (
            late_drops.map(|cause| cause.most).sum(),
            self.totals.socket_drops,
        );
        let of_each = all.iter().filter_map(|source| {
            Some(SourceNumbers::new(
                name(source, all),
                source.series()?,
                is_exact,
                drops,
            ))
        });
        Some(Sequence {
            sources: of_each.collect(),
            unnumbered: self.totals.unnumbered,
            not_followed: listened.sources.others,
        })
    }

    /// Returns the sources that sent nothing any more at the end: name, time of the last datagram since 1970, and
    /// from then to the end, in nanoseconds.
    pub(super) fn silent_sources(&self) -> Vec<(String, u64, u64)> {
        let all = self.end.listened.sources.known();
        let silent = all.iter().filter_map(|source| {
            let (last_ns, ns) = source.silent_since(self.end.ended_ns)?;
            Some((name(source, all), last_ns, ns))
        });
        silent.collect()
    }

    /// Returns which places could not be looked at. `None`: all could.
    pub(super) fn not_looked_at(&self) -> Option<String> {
        not_looked_at(&self.totals.seen, self.no_reasons.as_deref())
    }

    /// Returns where numbers were lost before the socket, and the next step. `None`: none were.
    pub(super) fn lost_before_socket(&self) -> Option<String> {
        let lost = self
            .sequence()?
            .lost_before_socket(self.totals.socket_drops);
        let all_is_looked_at = self.not_looked_at().is_none();
        let links = self.links(&self.totals.missing).into_iter();
        let links: Vec<String> = links.map(|(what, _)| what).collect();
        before_socket(
            lost,
            self.dropped_before_socket(lost.0),
            &links,
            all_is_looked_at,
        )
    }

    /// Returns what happened in a stretch of time to the interfaces that datagrams came in on, or to any if none came,
    /// each with its next step.
    pub(super) fn links(&self, seen: &Interval) -> Vec<(String, String)> {
        let sources = self.end.listened.sources.known().iter();
        let numbers = sources.map(|source| source.interface);
        let numbers: BTreeSet<u32> = numbers.filter(|number| *number > 0).collect();
        let names = with_those_below(&numbers, &nic::links().unwrap_or_default());
        let mut growth = seen.lost.clone();
        let is_one = |name: &str| names.iter().any(|it| name.split(' ').next() == Some(it));
        growth
            .links
            .retain(|name, _| names.is_empty() || is_one(name));
        losses::links(&growth)
    }

    /// Returns the packets that this host dropped before the socket while so many numbers were missing, for any
    /// program. What is for nobody here comes every day, and is left out unless it is half as many. Fragments that wait
    /// for others are given up later.
    fn dropped_before_socket(&self, missing: u64) -> u64 {
        let causes = self.causes();
        let of = |interval: &Interval, of_fragments: bool| -> u64 {
            let losses = elsewhere(interval, &causes).into_iter();
            let losses = losses.filter(|loss| loss.place.is_of_fragments() == of_fragments);
            let is_meant = |packets| (1..=2 * packets).contains(&missing);
            let sure = losses.filter(|loss| !loss.place.is_common || is_meant(loss.packets));
            sure.map(|loss| loss.packets).sum()
        };
        of(&self.totals.missing, false) + of(&self.totals.seen, true)
    }

    /// Returns the `SO_RCVBUF` that would have held everything, in bytes: an estimate. `None`: the buffer was not full.
    pub(super) fn needed_rcvbuf(&self) -> Option<u64> {
        let causes = self.causes();
        causes
            .iter()
            .find(|cause| cause.is_full() && cause.least > 0)?;
        let largest = socket_queues::truesizes(self.longest_bytes());
        let largest = largest.into_values().max().unwrap_or(0);
        let needed = self.end.backlog.needed_bytes(self.buffer_bytes, largest)?;
        // The kernel doubles what is set.
        Some(needed.div_ceil(2))
    }

    /// Returns the length of the longest datagram that came, in bytes. `None`: nothing came.
    pub(super) fn longest_bytes(&self) -> Option<u32> {
        let range = self.end.listened.sizes.range;
        range.map(|(_, longest)| longest)
    }

    /// Returns the time from the last datagram to the end, in nanoseconds. `None`: nothing came.
    pub(super) fn quiet_end_ns(&self) -> Option<u64> {
        let last = self.end.listened.last_ns?;
        Some(self.end.ended_ns.saturating_sub(last))
    }
}

/// Returns the name of a source among others: its address, its interface if the address comes in on several, and its
/// RTP stream if there are some.
pub(super) fn name(source: &Source, all: &[Source]) -> String {
    let is_on_others =
        |it: &Source| it.address == source.address && it.interface != source.interface;
    let on = all
        .iter()
        .any(is_on_others)
        .then(|| format!(" on {}", interface(source)));
    let stream = (source.stream != 0).then(|| format!(" stream {:08x}", source.stream));
    address(source.address) + &on.unwrap_or_default() + &stream.unwrap_or_default()
}

/// Returns the name of the interface of a source, or its number if it is gone.
pub(super) fn interface(source: &Source) -> String {
    interface_addresses::name_of(source.interface)
        .unwrap_or_else(|| format!("interface {}", source.interface))
}

/// Formats an address. One of IPv4 looks the same at a socket of both IP versions. Port 0 is that of a source that
/// changes it.
fn address(source: Option<SocketAddr>) -> String {
    let Some(mut address) = source else {
        return "unknown".to_owned();
    };
    let ip = address.ip().to_canonical();
    if ip.is_ipv4() {
        address = SocketAddr::new(ip, address.port());
    }
    match address.port() {
        0 => format!("{ip}, any port"),
        _ => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv4_is_shown_as_one() {
        let shown = |text: &str| address(text.parse().ok());
        assert_eq!(shown("[::ffff:10.0.0.7]:2368"), "10.0.0.7:2368");
        assert_eq!(shown("[::ffff:10.0.0.7]:0"), "10.0.0.7, any port");
        assert_eq!(shown("[fe80::1%3]:7"), "[fe80::1%3]:7");
        assert_eq!(address(None), "unknown");
    }
}
