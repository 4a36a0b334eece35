//! Jumps forward: losses, late numbers of the part before, or a sender that began again.

use super::elsewhere::{Ahead, IN_ORDER, NEAR};
use super::{Arrival, Jump, SequenceTracker};

/// First numbers of a sender that began again, below this.
const FIRST_NUMBERS: u64 = 16;
/// Shortest time in which a sender begins again, in nanoseconds.
pub(super) const RESTART_NS: u64 = 250_000_000;

impl SequenceTracker {
    /// Returns whether a jump may be a sender that began again at 0: over the end of the numbers to one of the first,
    /// or after a pause to one that can have been reached since.
    pub(super) fn is_to_zero(&self, arrival: Arrival, ahead: u64) -> bool {
        let Arrival {
            number, arrived_ns, ..
        } = arrival;
        let is_over_the_end = ahead > NEAR && self.highest > Some(number);
        if number < FIRST_NUMBERS && is_over_the_end && ahead > self.drops.since_higher {
            return true;
        }
        let since = self.since(arrived_ns);
        let can_be_reached = number as f64 <= self.pace.most_in(since.ns) + NEAR as f64;
        ahead > 1 && since.ns >= RESTART_NS && can_be_reached
    }

    /// Enters a number after a jump forward. Returns whether it belongs to those after the jump.
    pub(super) fn continue_ahead(&mut self, arrival: Arrival) -> bool {
        let Some(mut jumped) = self.ahead else {
            return false;
        };
        let (ahead, behind) = self.distances(arrival.number);
        let (jump, _) = self.distances(jumped.run.start);
        if (1..=NEAR).contains(&ahead) && ahead <= jump / 2 {
            // The numbers before the jump go on.
            self.go_back(&jumped);
            self.ahead = None;
            return false;
        }
        if behind <= self.back {
            return false;
        }
        let has = jumped.run.has(arrival.number, self.mask);
        let is_of_run = has || jumped.run.add(arrival.number, self.mask);
        jumped.again += u64::from(has);
        jumped.arrived_ns.1 = arrival.arrived_ns;
        if is_of_run && !has {
            let last = jumped.run.came.count_ones() as usize - 1;
            let dropped = std::mem::take(&mut self.drops.since_higher);
            jumped.dropped[last] = (arrival.number, dropped);
        }
        let is_clear = jumped.run.came.count_ones() >= IN_ORDER;
        self.ahead = Some(jumped);
        if is_clear || !is_of_run {
            self.settle_ahead();
        }
        is_of_run
    }

    /// Enters numbers after a jump as such.
    pub(super) fn settle_ahead(&mut self) {
        let Some(jumped) = self.ahead.take() else {
            return;
        };
        if let Some(jump) = self.impossible(&jumped) {
            if jumped.run.came.count_ones() >= IN_ORDER {
                self.begin_after(jumped, jump);
            } else {
                self.go_back(&jumped);
            }
            return;
        }
        self.jumps_to_zero += u64::from(jumped.is_to_zero);
        let after = std::mem::take(&mut self.drops.since_higher);
        self.counts.duplicates += jumped.again;
        let mut last = 0;
        for n in (0..u64::from(u64::BITS)).filter(|n| jumped.run.came & 1 << n != 0) {
            let (ahead, arrived_ns) = match n {
                0 => (self.distances(jumped.run.start).0, jumped.arrived_ns.0),
                _ => (n - last, jumped.arrived_ns.1),
            };
            let number = jumped.run.start.wrapping_add(n) & self.mask;
            let arrival = Arrival {
                number,
                arrived_ns,
                dropped: 0,
            };
            let before = jumped.dropped.iter().find(|(it, _)| *it == number);
            self.drops.since_higher = before.map_or(0, |(_, dropped)| *dropped);
            self.advance(arrival, ahead);
            last = n;
        }
        self.drops.since_higher = after;
    }

    /// Counts numbers after a jump as strays.
    fn go_back(&mut self, jumped: &Ahead) {
        let came = jumped.run.came.count_ones();
        self.counts.strays += u64::from(came) + jumped.again;
        let dropped = jumped.dropped[..came as usize].iter();
        self.drops.since_higher += dropped.map(|(_, dropped)| dropped).sum::<u64>();
    }

    /// Returns a jump that is too large for its time.
    pub(super) fn impossible(&self, jumped: &Ahead) -> Option<Jump> {
        let (ahead, _) = self.distances(jumped.run.start);
        let (_, dropped) = jumped.dropped[0];
        let at_ns = jumped.arrived_ns.0;
        let possible = self.pace.too_few(ahead.saturating_sub(dropped), at_ns)?;
        Some(Jump {
            at_ns,
            numbers: ahead,
            ns: self.pace.since_last_ns(at_ns),
            possible: possible + dropped,
        })
    }

    /// Begins a new part after a jump.
    fn begin_after(&mut self, jumped: Ahead, jump: Jump) {
        self.settle();
        self.jumps += 1;
        self.first_jump.get_or_insert(jump);
        self.counts.restarts += 1;
        self.counts.duplicates += jumped.again;
        let after = std::mem::take(&mut self.drops.since_higher);
        let [(_, before), inside @ ..] = jumped.dropped;
        let inside = inside.iter().map(|(_, dropped)| dropped);
        self.drops.since_higher = before + inside.sum::<u64>();
        self.drops.restart(jumped.run.missing(), before);
        self.drops.since_higher = after;
        self.pace.restart(jump.numbers, jumped.arrived_ns.1, 0);
        self.end_part();
        self.begin(jumped.run);
    }
}
