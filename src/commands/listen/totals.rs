//! The whole run: its windows together, and what the kernel counted meanwhile.

use std::collections::BTreeSet;

use super::names;
use crate::data::Histogram;
use crate::data::listened::{Gap, ListenWindow};
use crate::host::program::Interval;
use crate::host::program::losses::{self, causes, elsewhere, not_looked_at};
use crate::listen::log::SilentSource;
use crate::listen::row::utc;
use crate::listen::sequence::{Sequence, SourceNumbers, before_socket};
use crate::sys::drops;
use crate::sys::nic::{self, with_those_below};
use crate::sys::protocols::both;
use crate::workload::listening::ListenEnd;

/// Sums over all windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) length_ns: u64,
    pub(super) datagrams: u64,
    pub(super) bytes: u64,
    pub(super) gaps: Histogram,
    pub(super) longest_gap: Option<Gap>,
    pub(super) unnumbered: u64,
    pub(super) unstamped: u64,
    pub(super) socket_drops: u64,
    pub(super) cpu_ns: u64,
}

/// Totals of all windows.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) totals: Totals,
    pub(super) end: ListenEnd,
    /// Drops on the way to the socket, and the CPUs.
    pub(super) seen: Interval,
    /// The windows in which the socket dropped something.
    pub(super) dropping: Interval,
    /// The windows in which numbers were missing, each with those before it back to the last datagram.
    pub(super) missing: Interval,
    /// Reason why the kernel's drop reasons cannot be counted. `None`: they are.
    pub(super) no_reasons: Option<String>,
    /// Size of the buffer as the kernel counts it, in bytes.
    pub(super) buffer_bytes: u32,
}

impl Totals {
    /// Adds a window.
    pub(super) fn add(&mut self, window: &ListenWindow) {
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
    }

    /// Returns the length in seconds, above 0.
    pub(super) fn seconds(&self) -> f64 {
        self.length_ns.max(1) as f64 / 1e9
    }
}

impl Outcome {
    /// Returns what the numbers of each source tell. `None`: datagrams have none.
    pub(super) fn sequence(&self) -> Option<Sequence> {
        let listened = &self.end.listened;
        if !listened.is_numbered() {
            return None;
        }
        let all = listened.sources.known();
        let is_exact = listened.sources.drops_are_matched();
        let causes = causes(&self.seen, &self.dropping);
        let late_drops = causes.iter().filter(|cause| !cause.is_full());
        let late_drops = late_drops.map(|cause| cause.most).sum();
        let of_each = all.iter().filter_map(|source| {
            let name = names::name(source, all);
            Some(SourceNumbers::new(
                name,
                source.series()?,
                is_exact,
                (late_drops, self.totals.socket_drops),
            ))
        });
        Some(Sequence {
            sources: of_each.collect(),
            unnumbered: self.totals.unnumbered,
            not_followed: listened.sources.others(),
        })
    }

    /// Returns the sources that sent nothing any more at the end.
    pub(super) fn silent_sources(&self) -> Vec<SilentSource> {
        let all = self.end.listened.sources.known();
        let silent = all.iter().filter_map(|source| {
            let (last_ns, ns) = source.silent_since(self.end.ended_ns)?;
            Some(SilentSource {
                source: names::name(source, all),
                since: utc(last_ns),
                ms: ns as f64 / 1e6,
            })
        });
        silent.collect()
    }

    /// Returns which places could not be looked at. `None`: all could.
    pub(super) fn not_looked_at(&self) -> Option<String> {
        not_looked_at(&self.seen, self.no_reasons.as_deref())
    }

    /// Returns where numbers were lost before the socket, and the next step. `None`: none were.
    pub(super) fn lost_before_socket(&self) -> Option<String> {
        let lost = self
            .sequence()?
            .lost_before_socket(self.totals.socket_drops);
        let all_is_looked_at = self.not_looked_at().is_none();
        let links = self.links(&self.missing).into_iter();
        let links: Vec<String> = links.map(|(what, _)| what).collect();
        let here = self.before_socket(lost.0);
        let text = before_socket(lost, here, &links, all_is_looked_at)?;
        let waiting = self.waiting_fragments().filter(|_| here < lost.0);
        Some(text + &waiting.unwrap_or_default())
    }

    /// Says that fragments came of datagrams that were not whole at the end. `None`: all were, as far as it is known.
    fn waiting_fragments(&self) -> Option<String> {
        let counters = &self.seen.lost.counters;
        let grown = |name| both(name).filter_map(|name| counters.get(&name)).sum();
        let (fragments, whole): (u64, u64) = (grown("IpReasmReqds"), grown("IpReasmOKs"));
        // Datagrams of one length have the same number of fragments each.
        let are_all_whole = fragments == 0 || (whole > 0 && fragments % whole == 0);
        let text = format!(
            "; or in fragments: {fragments} came, and not all of their datagrams were whole at the end. Those that lack one \
             are given up and counted after 30 s (ipfrag_time): listen for longer"
        );
        (!are_all_whole).then_some(text)
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

    /// Returns the packets that this host dropped before the socket while so many numbers were missing, for any program.
    /// What is for nobody here comes every day, and is left out unless it is half as many. Fragments that wait for others
    /// are given up later.
    fn before_socket(&self, missing: u64) -> u64 {
        let causes = causes(&self.seen, &self.dropping);
        let meanwhile = elsewhere(&self.missing, &causes).into_iter();
        let meanwhile = meanwhile.filter(|loss| !loss.place.is_of_fragments());
        let later = elsewhere(&self.seen, &causes).into_iter();
        let later = later.filter(|loss| loss.place.is_of_fragments());
        let sure = meanwhile
            .chain(later)
            .filter(|loss| !loss.place.is_common || (1..=2 * loss.packets).contains(&missing));
        sure.map(|loss| loss.packets).sum()
    }

    /// Returns the `SO_RCVBUF` that would have held everything, in bytes: an estimate. `None`: the buffer was not full.
    pub(super) fn needed_rcvbuf(&self) -> Option<u64> {
        let causes = causes(&self.seen, &self.dropping);
        causes
            .iter()
            .find(|cause| cause.is_full() && cause.least > 0)?;
        let largest = drops::truesizes(self.longest_bytes());
        let largest = largest.into_values().max().unwrap_or(0);
        let needed = self.end.backlog.needed_bytes(self.buffer_bytes, largest)?;
        // The kernel doubles what is set.
        Some(needed.div_ceil(2))
    }

    /// Returns the length of the longest datagram that came, in bytes. `None`: nothing came.
    pub(super) fn longest_bytes(&self) -> Option<u32> {
        let range = self.end.listened.sizes.range();
        range.map(|(_, longest)| longest)
    }

    /// Returns the time from the last datagram to the end, in nanoseconds. `None`: nothing came.
    pub(super) fn quiet_end_ns(&self) -> Option<u64> {
        let last = self.end.listened.last_ns?;
        Some(self.end.ended_ns.saturating_sub(last))
    }
}
