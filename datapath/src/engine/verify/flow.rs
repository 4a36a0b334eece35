//! Detects duplicates, reordering (RFC 4737) and jitter (RFC 3550) from the order and the times of one flow's
//! datagrams.

use std::collections::HashSet;

/// Order of the datagrams that have arrived in one flow.
#[derive(Debug, Default)]
pub(super) struct FlowOrder {
    numbers: HashSet<u64>,
    /// Datagrams so far, without duplicates.
    arrived: u64,
    /// Datagrams with a higher sequence number than all before: the sequence number, and the position in the order of
    /// arrival.
    highest: Vec<(u64, u64)>,
}

/// Classification of an arrived datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Arrived after all datagrams that were sent before it, apart from missing ones.
    InOrder,
    /// Arrived before.
    Duplicate,
    /// Arrived after a datagram that was sent later: Type-P-Reordered of RFC 4737, section 3.3. The value is the
    /// reordering extent (section 4.2.1): the distance in arrivals to the first datagram that was sent later.
    Reordered(u64),
}

impl FlowOrder {
    /// Enters the arrival of a datagram and classifies it.
    pub(super) fn enter(&mut self, number: u64) -> Arrival {
        if !self.numbers.insert(number) {
            return Arrival::Duplicate;
        }
        self.arrived += 1;
        if self.highest.last().is_none_or(|(last, _)| number > *last) {
            self.highest.push((number, self.arrived));
            return Arrival::InOrder;
        }
        let first_later = self.highest.partition_point(|(other, _)| *other < number);
        let (_, came_as) = self.highest[first_later];
        Arrival::Reordered(self.arrived - came_as)
    }
}

/// The interarrival jitter of RFC 3550, section 6.4.1: the smoothed difference between the spacing of datagrams on
/// arrival and their spacing when sent. The clocks of the two ends need not agree, since only differences of each
/// clock count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jitter {
    /// Send time and arrival time of the last datagram, in nanoseconds, each by the clock of its host.
    last: Option<(u64, u64)>,
    ns: f64,
    differences: u64,
}

impl Jitter {
    /// Enters a datagram with its send time and its arrival time.
    pub(super) fn enter(&mut self, sent_ns: u64, came_ns: u64) {
        /// "The gain parameter 1/16 gives a good noise reduction ratio while maintaining a reasonable rate of
        /// convergence."
        const GAIN: f64 = 1.0 / 16.0;
        if let Some((sent_before, came_before)) = self.last.replace((sent_ns, came_ns)) {
            let difference = |after: u64, before: u64| i128::from(after) - i128::from(before);
            let apart = difference(came_ns, came_before) - difference(sent_ns, sent_before);
            self.ns += ((apart as f64).abs() - self.ns) * GAIN;
            self.differences += 1;
        }
    }

    /// Returns the jitter in nanoseconds. `None`: fewer than two datagrams have arrived.
    pub(super) fn ns(&self) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean of times, which are no less than 0 and within a run"
        )]
        let ns = self.ns.round() as u64;
        (self.differences > 0).then_some(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::Arrival::{Duplicate, InOrder, Reordered};
    use super::*;

    /// Returns the reordered sequence numbers with their extents.
    fn reordered(numbers: &[u64]) -> Vec<(u64, u64)> {
        let mut flow = FlowOrder::default();
        let arrivals = numbers.iter().map(|&number| (number, flow.enter(number)));
        let extents = arrivals.filter_map(|(number, arrival)| match arrival {
            Reordered(extent) => Some((number, extent)),
            _ => None,
        });
        extents.collect()
    }

    #[test]
    fn the_examples_of_rfc_4737_come_out_as_there() {
        // Section 7.1: packet 4. 7.2: packets 5 and 6. 7.3: packets 4, 5 and 6.
        assert_eq!(reordered(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), [(4, 4)]);
        assert_eq!(
            reordered(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]),
            [(5, 1), (6, 2)]
        );
        assert_eq!(
            reordered(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]),
            [(4, 4), (5, 5), (6, 6)]
        );
    }

    #[test]
    fn what_is_missing_is_no_reordering_and_what_comes_twice_is_counted_once() {
        assert_eq!(reordered(&[1, 5, 9, 10]), []);
        let mut flow = FlowOrder::default();
        let found = [1, 3, 3, 2, 2, 1, 4].map(|number| flow.enter(number));
        // The second 3 does not increase the extent of 2.
        let expected = [
            InOrder,
            InOrder,
            Duplicate,
            Reordered(1),
            Duplicate,
            Duplicate,
            InOrder,
        ];
        assert_eq!(found, expected);
    }

    fn jitter(datagrams: &[(u64, u64)]) -> Option<u64> {
        let mut jitter = Jitter::default();
        for &(sent, came) in datagrams {
            jitter.enter(sent, came);
        }
        jitter.ns()
    }

    #[test]
    fn jitter_is_that_of_the_formula_of_rfc_3550() {
        assert_eq!(jitter(&[(0, 5)]), None);
        // The offset between the clocks does not matter, nor does its sign.
        let steady = |ahead: u64| [0, 1000, 2000].map(|sent| (sent, sent + ahead));
        assert_eq!(jitter(&steady(1 << 60)), Some(0));
        // D is 1600, then -1600: J is 100, then 100 + (1600 - 100) / 16 = 193.75.
        let late = [(0, 0), (1000, 2600)];
        assert_eq!(jitter(&late), Some(100));
        assert_eq!(jitter(&[late[0], late[1], (2000, 2000)]), Some(194));
        // A reordered datagram counts in its order of arrival.
        assert_eq!(
            jitter(&[(1000, 1000), (0, 1016)]),
            Some((1000 + 16) / 16 + 1)
        );
        // The jitter converges to the differences.
        let alternating = (0..1000).map(|n| (n * 1000, n * 1000 + n % 2 * 300));
        assert_eq!(jitter(&alternating.collect::<Vec<_>>()), Some(300));
    }
}
