//! Arrivals by a clock that nobody sets.

/// Clock of the stamps without its jumps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SteadyClock {
    /// Sum of the jumps of the stamps so far, in nanoseconds: modulo 2^64, as they may go back.
    jumped: u64,
    /// Jump that no stamp has shown yet: datagrams of the queue have older ones.
    expected: u64,
    /// Last arrival by this clock, in nanoseconds.
    last_ns: Option<u64>,
}

impl SteadyClock {
    /// Enters that the clock of the stamps was set by this much.
    pub(super) fn set(&mut self, by_ns: i64) {
        self.expected = self.expected.wrapping_add_signed(by_ns);
    }

    /// Returns an arrival by this clock, and the time since the one before. `None`: it is the first one.
    pub(super) fn arrived(&mut self, stamp_ns: u64) -> (u64, Option<u64>) {
        let mut now_ns = stamp_ns.wrapping_sub(self.jumped);
        let last = self.last_ns.unwrap_or(now_ns);
        if self.expected != 0 {
            let jumped = now_ns.wrapping_sub(self.expected);
            // Whichever is nearer to the last arrival: before or after the jump.
            if self.last_ns.is_none() || jumped.abs_diff(last) <= now_ns.abs_diff(last) {
                self.jumped = self.jumped.wrapping_add(self.expected);
                self.expected = 0;
                now_ns = jumped;
            }
        }
        let is_first = self.last_ns.replace(now_ns).is_none();
        // Two receive queues may stamp out of order.
        let ns = now_ns.saturating_sub(last);
        (now_ns, (!is_first).then_some(ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn gaps_are_those_of_a_clock_that_nobody_sets() {
        let mut clock = SteadyClock::default();
        let mut gap = |at_ms: u64| clock.arrived(at_ms * MS).1.map(|ns| ns / MS);
        assert_eq!([gap(1000), gap(1002)], [None, Some(2)]);
        clock.set(150_000_000);
        let mut gap = |at_ms: u64| clock.arrived(at_ms * MS).1.map(|ns| ns / MS);
        // The first one was queued before.
        assert_eq!([gap(1004), gap(1156), gap(1158)], [Some(2); 3]);
        clock.set(-150_000_000);
        let mut gap = |at_ms: u64| clock.arrived(at_ms * MS).1.map(|ns| ns / MS);
        assert_eq!([gap(1010), gap(1012)], [Some(2); 2]);
        clock.set(3_600_000_000_000);
        clock.set(-3_600_000_000_000);
        let mut gap = |at_ms: u64| clock.arrived(at_ms * MS).1.map(|ns| ns / MS);
        assert_eq!([gap(1014), gap(1314)], [Some(2), Some(300)]);
    }
}
