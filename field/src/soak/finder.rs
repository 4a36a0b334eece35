//! Finds events in the outcomes of probes. A pure state machine: its tests need no socket.

mod open;

use std::collections::VecDeque;

use self::open::{Fault, Open, Run};
use super::event::Event;
use crate::text::digits::whole;
use crate::workload::probe::{Fate, ProbeBatch, ProbeOutcome, Return};

/// Faults that are closer than this are one event, in nanoseconds.
pub const MERGE_NS: u64 = 1_000_000_000;
/// Length of the intervals whose median round-trip times are compared, in nanoseconds.
const INTERVAL_NS: u64 = 100_000_000;
/// Round trips of an interval, at least. With a low rate, intervals are longer.
const LEAST_PER_INTERVAL: f64 = 5.0;
/// Intervals that the usual round-trip time is the median of: a minute.
const USUAL_INTERVALS: usize = 600;
/// Intervals before the first comparison.
const LEAST_INTERVALS: usize = 10;
/// Time after which a longer round-trip time counts as usual, in nanoseconds.
const ADAPT_NS: u64 = 60_000_000_000;
/// Share of the unsent probes of an interval from which it counts as a fault.
const UNSENT_SHARE: f64 = 0.5;

/// Limits from which on something is an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Time between two probes, in nanoseconds.
    pub gap_ns: f64,
    /// Shortest silence that counts as an outage, in nanoseconds.
    pub outage_ns: u64,
    /// A delay is a median round-trip time of more than twice the usual one and this, in nanoseconds.
    pub delay_ns: u64,
}

/// Finder of events.
#[derive(Debug, Default)]
pub struct Finder {
    limits: Limits,
    open: Option<Open>,
    interval: Interval,
    /// Median round-trip times of the last intervals without faults.
    usual: VecDeque<u64>,
    /// Usual round-trip time. `None`: not known yet.
    usual_rtt_ns: Option<u64>,
    /// Longest round-trip time that is no delay. The largest number until it is known.
    longest_ns: u64,
    /// Shortest round-trip time so far, which stands for the usual one until that is known.
    least_rtt_ns: u64,
    /// Time at which the last return would have been due, had it taken the usual time: arrivals without the path.
    arrived_ns: Option<u64>,
    /// Last time without arrivals that was as long as an outage.
    quiet: Option<(u64, u64)>,
    /// End of the last unsent probe.
    unsent_end_ns: u64,
    /// First of the last probes whose round trips are all longer.
    over_since_ns: Option<u64>,
    /// Probes sent so far.
    sent: u64,
    /// Last return, with the probes that had been sent until then.
    last_return: Option<(u64, Return)>,
    own_drops: u32,
    unreachable: u32,
}

/// Facts about the current interval.
#[derive(Debug, Default)]
struct Interval {
    end_ns: u64,
    rtts_ns: Vec<u64>,
    /// First and last probe whose round trip was too long. The first may be of an interval before.
    over_first_ns: Option<u64>,
    over_last_ns: u64,
    held_most_us: u32,
    due: u64,
    unsent: u64,
    unsent_first_ns: Option<u64>,
    unsent_last_ns: u64,
}

impl Finder {
    /// Returns a finder that has seen nothing.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            longest_ns: u64::MAX,
            least_rtt_ns: u64::MAX,
            ..Self::default()
        }
    }

    /// Takes the next outcomes, and returns the events that are over.
    pub fn take(&mut self, batch: &ProbeBatch) -> Vec<Event> {
        let mut over = Vec::new();
        let own_dropped = batch.own_drops != self.own_drops;
        let unreachable = batch.unreachable != self.unreachable;
        (self.own_drops, self.unreachable) = (batch.own_drops, batch.unreachable);
        for outcome in &batch.outcomes {
            if outcome.at_ns >= self.interval.end_ns {
                over.extend(self.end_interval(outcome.at_ns));
            }
            over.extend(self.take_outcome(outcome));
        }
        if let Some(open) = &mut self.open {
            open.is_own_drop |= own_dropped;
            open.is_unreachable |= unreachable;
            open.late_held_us = open.late_held_us.max(batch.late_held_us);
        }
        over
    }

    /// Returns the event that is not over yet, as it would be if it was.
    pub fn open(&self) -> Option<Event> {
        self.open.clone().map(|open| self.end(open))
    }

    /// Returns whether the last probes were lost: what began then may last longer.
    pub fn is_lasting(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.run.is_some())
    }

    /// Ends the event that is not over yet.
    pub fn finish(&mut self) -> Option<Event> {
        let last = self.end_interval(u64::MAX);
        let rest = self.close();
        last.or(rest)
    }

    fn gap_ns(&self) -> u64 {
        whole(self.limits.gap_ns).max(1)
    }

    fn take_outcome(&mut self, outcome: &ProbeOutcome) -> Option<Event> {
        let (at_ns, gap_ns) = (outcome.at_ns, self.gap_ns());
        self.interval.due += 1;
        let mut over = None;
        match outcome.fate {
            Fate::Returned(found) => {
                self.sent += 1;
                self.take_return(at_ns, found);
            }
            Fate::Lost => {
                self.sent += 1;
                over = self.mark(Fault::Other, at_ns, at_ns + gap_ns);
                self.lose(at_ns, 0);
            }
            Fate::Refused(errno) => {
                over = self.mark(Fault::Other, at_ns, at_ns + gap_ns);
                self.lose(at_ns, errno);
            }
            Fate::Unsent => {
                self.interval.unsent += 1;
                self.interval.unsent_first_ns.get_or_insert(at_ns);
                self.interval.unsent_last_ns = at_ns + gap_ns;
                self.unsent_end_ns = at_ns + gap_ns;
                if let Some(run) = self.open.as_mut().and_then(|open| open.run.as_mut()) {
                    run.unsent += 1;
                }
            }
        }
        over
    }

    fn take_return(&mut self, at_ns: u64, found: Return) {
        let gap_ns = self.gap_ns();
        let is_over = found.rtt_ns > self.longest_ns;
        let interval = &mut self.interval;
        interval.rtts_ns.push(found.rtt_ns);
        interval.held_most_us = interval.held_most_us.max(found.state.held_us);
        if is_over {
            let first_ns = *self.over_since_ns.get_or_insert(at_ns);
            interval.over_first_ns.get_or_insert(first_ns);
            interval.over_last_ns = at_ns + gap_ns;
        } else {
            self.over_since_ns = None;
        }
        self.last_return = Some((self.sent, found));
        self.arrive(at_ns, found.rtt_ns);
        if let Some(open) = &mut self.open {
            open.end_run(at_ns, &mut self.quiet, &self.limits);
            open.after.get_or_insert((self.sent, found));
            if is_over && at_ns <= open.end_ns + gap_ns {
                open.end_ns = open.end_ns.max(at_ns + gap_ns);
            }
        }
    }

    /// Notes the time without arrivals that ends with a return, if it was as long as an outage.
    fn arrive(&mut self, at_ns: u64, rtt_ns: u64) {
        self.least_rtt_ns = self.least_rtt_ns.min(rtt_ns);
        let usual_ns = self.usual_rtt_ns.unwrap_or(self.least_rtt_ns);
        let now_ns = at_ns + rtt_ns.saturating_sub(usual_ns);
        let before_ns = self.quiet_since_ns();
        if now_ns >= before_ns + self.limits.outage_ns {
            self.quiet = Some((before_ns, now_ns));
        }
        self.arrived_ns = self.arrived_ns.max(Some(now_ns));
    }

    /// Returns the time from which on nothing has arrived.
    fn quiet_since_ns(&self) -> u64 {
        self.arrived_ns.map_or(0, |before| before + self.gap_ns())
    }

    /// Counts a lost probe in the open event.
    fn lose(&mut self, at_ns: u64, errno: i32) {
        let Some(open) = &mut self.open else { return };
        open.run.get_or_insert(Run {
            start_ns: at_ns,
            unsent_end_ns: self.unsent_end_ns,
            unsent: 0,
        });
        open.after = None;
        open.event.lost += 1;
        if errno != 0 {
            open.event.refused += 1;
            open.event.refused_errno = errno;
        }
    }

    /// Adds a fault to the open event, or opens one. Returns the one before if it is over.
    fn mark(&mut self, fault: Fault, start_ns: u64, end_ns: u64) -> Option<Event> {
        let is_near = |open: &Open| start_ns <= open.end_ns.saturating_add(MERGE_NS);
        if let Some(open) = self.open.as_mut().filter(|open| is_near(open)) {
            open.add(fault, start_ns, end_ns);
            return None;
        }
        let over = self.close();
        let usual_rtt_ns = self.usual_rtt_ns.unwrap_or(0);
        let mut open = Open::new(start_ns, usual_rtt_ns, self.last_return);
        open.add(fault, start_ns, end_ns);
        self.open = Some(open);
        over
    }

    /// Ends the interval: looks for a delay and for unsent probes in it. Returns the open event if it is over.
    fn end_interval(&mut self, at_ns: u64) -> Option<Event> {
        let length = INTERVAL_NS.max(whole(self.limits.gap_ns * LEAST_PER_INTERVAL));
        let mut ended = std::mem::take(&mut self.interval);
        let mut over = None;
        if let Some(median) = median(&mut ended.rtts_ns) {
            match ended.over_first_ns {
                Some(first_ns) if median > self.longest_ns => {
                    over = self.mark(Fault::Other, first_ns, ended.over_last_ns);
                    self.delay(median, ended.held_most_us);
                }
                _ => {
                    self.usual.truncate(USUAL_INTERVALS - 1);
                    self.usual.push_front(median);
                }
            }
            let is_known = self.usual.len() >= LEAST_INTERVALS;
            let mut usual: Vec<u64> = self.usual.iter().copied().collect();
            self.usual_rtt_ns = self::median(&mut usual).filter(|_| is_known);
            let longest = |usual| 2 * usual + self.limits.delay_ns;
            self.longest_ns = self.usual_rtt_ns.map_or(u64::MAX, longest);
        }
        if let Some(first_ns) = ended.unsent_first_ns {
            if ended.unsent as f64 >= UNSENT_SHARE * ended.due as f64 {
                over = over.or(self.mark(Fault::Unsent, first_ns, ended.unsent_last_ns));
            }
        }
        if let Some(open) = &mut self.open {
            open.event.unsent += ended.unsent;
        }
        let last_end_ns = ended.end_ns;
        ended.rtts_ns.clear();
        self.interval = Interval {
            end_ns: (at_ns / length).saturating_add(1).saturating_mul(length),
            rtts_ns: ended.rtts_ns,
            ..Interval::default()
        };
        let is_over = |open: &Open| last_end_ns > open.end_ns.saturating_add(MERGE_NS);
        if self.open.as_ref().is_some_and(is_over) {
            over = over.or(self.close());
        }
        over
    }

    fn delay(&mut self, median_ns: u64, held_most_us: u32) {
        let Some(open) = &mut self.open else { return };
        open.event.rtt_ns = open.event.rtt_ns.max(median_ns);
        open.held_most_us = open.held_most_us.max(held_most_us);
        if open.end_ns - open.event.start_ns > ADAPT_NS {
            // It stays so: from now on, it is usual.
            self.usual.clear();
        }
    }

    fn close(&mut self) -> Option<Event> {
        let open = self.open.take()?;
        Some(self.end(open))
    }

    fn end(&self, mut open: Open) -> Event {
        let end_ns = open.end_ns;
        open.end_run(
            end_ns,
            &mut Some((self.quiet_since_ns(), end_ns)),
            &self.limits,
        );
        let length_ns = open.end_ns - open.event.start_ns;
        open.event.due = whole((length_ns as f64 / self.limits.gap_ns).round());
        open.into_event()
    }
}

/// Returns the median. Changes the order.
fn median(values: &mut [u64]) -> Option<u64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests;
