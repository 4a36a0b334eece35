//! Fairness between flows.

use super::derived;
use super::rounding::decimals;
use crate::data::Sample;

/// Datagrams received over each flow in all windows of a case.
pub(super) struct Fairness {
    /// Datagrams of each flow, or responses.
    packets: Vec<u64>,
    seconds: f64,
}

impl Fairness {
    /// Adds up the flows of the windows. `None`: each thread has a single flow, which the row covers.
    pub(super) fn of(samples: &[Sample]) -> Option<Self> {
        let first = samples
            .first()
            .filter(|first| !first.flow_packets.is_empty())?;
        let mut packets = vec![0; first.flow_packets.len()];
        for sample in samples {
            for (all, packets) in packets.iter_mut().zip(&sample.flow_packets) {
                *all += packets;
            }
        }
        Some(Self {
            packets,
            seconds: samples.iter().map(derived::window_seconds).sum(),
        })
    }

    /// Returns Jain's fairness index: 1 if all flows got the same, 1/n if one of n flows got everything (Jain, Chiu
    /// & Hawe, DEC-TR-301, 1984). `None`: nothing was received.
    pub(super) fn jains_index(&self) -> Option<f64> {
        let each = || self.packets.iter().map(|&packets| packets as f64);
        let (sum, squares) = (
            each().sum::<f64>(),
            each().map(|packets| packets * packets).sum::<f64>(),
        );
        (squares > 0.0).then(|| decimals::<4>(sum * sum / (squares * self.packets.len() as f64)))
    }

    /// Returns the rates of the slowest and of the fastest flow, in datagrams per second.
    pub(super) fn range_pps(&self) -> [Option<f64>; 2] {
        let ends = [self.packets.iter().min(), self.packets.iter().max()];
        ends.map(|packets| {
            let pps = *packets? as f64 / self.seconds;
            pps.is_finite().then(|| decimals::<1>(pps))
        })
    }

    /// Returns the number of flows over which nothing was received.
    pub(super) fn starved(&self) -> usize {
        self.packets.iter().filter(|&&packets| packets == 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fairness of two windows of 100 ms.
    fn of(flows: &[u64]) -> Option<Fairness> {
        let mut samples = super::super::tests::six();
        samples.truncate(2);
        for sample in &mut samples {
            sample.flow_packets = flows.to_vec();
        }
        Fairness::of(&samples)
    }

    #[test]
    fn the_index_is_one_where_all_get_the_same_and_small_where_few_do() {
        let index = |flows: &[u64]| of(flows).and_then(|fairness| fairness.jains_index());
        assert_eq!(index(&[7, 7, 7, 7]), Some(1.0));
        assert_eq!(index(&[7, 0, 0, 0]), Some(0.25));
        assert_eq!(index(&[1, 2, 3, 4]), Some(0.8333));
        assert_eq!(index(&[0, 0]), None);
        assert!(of(&[]).is_none());
    }

    #[test]
    fn the_slowest_and_the_fastest_and_who_got_nothing() {
        let fairness = of(&[30, 10, 0, 0]).expect("many flows");
        assert_eq!(fairness.starved(), 2);
        assert_eq!(fairness.range_pps(), [Some(0.0), Some(300.0)]);
    }
}
