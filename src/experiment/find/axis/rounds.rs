//! Rounds of trials: all values in question once in each round, in shuffled order. A machine that changes meanwhile
//! changes all values alike.

use statrs::distribution::{DiscreteCDF, Hypergeometric};

use super::super::place::received;
use crate::data::Sample;
use crate::results::row::cpu_ns_per_packet;
use crate::stats;
use crate::stats::signed_rank::SignedRank;
use crate::sys::idle_states::IdleTimes;
use crate::verdict::judge::Metric;

/// Results of a trial.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment::find) struct AxisTrial {
    /// Median round trip, or time per datagram received, in nanoseconds. `None`: nothing arrived, or it is unknown.
    pub(in crate::experiment::find) ns: Option<f64>,
    /// Requests without a response, or datagrams that did not arrive.
    pub(in crate::experiment::find) lost: u64,
    /// Requests, or datagrams sent.
    pub(in crate::experiment::find) sent: u64,
    /// Time of the CPUs in their idle states. Empty: no requests were sent.
    pub(in crate::experiment::find) idle: IdleTimes,
    /// Length of the window.
    pub(in crate::experiment::find) window_ns: u64,
}

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quantity {
    /// Logarithm of the nanoseconds.
    Time,
    /// Share of the requests that was lost.
    Loss,
}

impl AxisTrial {
    pub(super) fn new(sample: &Sample, by: Metric) -> Self {
        let ns = match by {
            Metric::Speed => nanoseconds(sample),
            Metric::Cpu => cpu_ns_per_packet(sample),
        };
        let Some(trips) = &sample.round_trips else {
            let account = sample.account();
            return Self {
                ns,
                lost: account.lost(),
                sent: account.sent,
                ..Self::default()
            };
        };
        let answered = trips.times.count();
        // A client that got no response at all was blocked on one request: count it as lost.
        let blocked = u64::from(answered == 0);
        let lost = trips.unanswered.max(blocked);
        Self {
            ns,
            lost,
            sent: answered + lost,
            idle: sample.idle_times.clone(),
            window_ns: sample.window_ns,
        }
    }

    /// Returns a quantity of the trial. `None`: it is unknown.
    pub(super) fn value(&self, of: Quantity) -> Option<f64> {
        match of {
            Quantity::Time => self.ns.map(f64::ln).filter(|it| it.is_finite()),
            Quantity::Loss => (self.sent > 0).then(|| self.lost as f64 / self.sent as f64),
        }
    }
}

/// Returns the median round trip, or the time per datagram received, in nanoseconds. `None`: nothing arrived.
fn nanoseconds(sample: &Sample) -> Option<f64> {
    if let Some(trips) = &sample.round_trips {
        return trips.times.quantile(0.5);
    }
    let packets = received(sample);
    (packets > 0).then(|| sample.window_ns as f64 / packets as f64)
}

/// Smallest increase of the share of time in an idle state by which the state explains a step.
const LEAST_SHARE_INCREASE: f64 = 0.2;

/// Idle state, with the share of time that CPUs are in it.
#[derive(Clone, Debug, PartialEq)]
pub struct IdleShare {
    /// Name that the driver gives the state.
    pub name: String,
    /// Share before the step, 0 to 1.
    pub before: f64,
    /// Share after the step, 0 to 1.
    pub after: f64,
}

/// Trials of some values, by round and position.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    values: Vec<u64>,
    seed: u64,
    whole: Vec<Vec<Option<AxisTrial>>>,
    current: Vec<Option<AxisTrial>>,
    /// Positions that are measured in each round.
    open: Vec<usize>,
    /// Positions that are still to be measured in this round, the next one last.
    left: Vec<usize>,
}

impl Rounds {
    /// Begins the rounds of these values.
    pub(super) fn new(values: Vec<u64>, seed: u32) -> Self {
        let mut rounds = Self {
            seed: u64::from(seed) << 32,
            whole: Vec::new(),
            current: vec![None; values.len()],
            open: Vec::new(),
            left: Vec::new(),
            values,
        };
        rounds.keep((0..rounds.values.len()).collect());
        rounds
    }

    /// Measures only these positions from the next round on.
    pub(super) fn keep(&mut self, positions: Vec<usize>) {
        self.open = positions;
        self.left.clone_from(&self.open);
        let seed = self.seed ^ self.whole.len() as u64;
        fastrand::Rng::with_seed(seed).shuffle(&mut self.left);
    }

    /// Returns the value of the next trial. `None`: no value is in question.
    pub(super) fn next(&self) -> Option<u64> {
        self.left.last().map(|position| self.values[*position])
    }

    /// Adds a trial of the next value. Returns whether it completes a round.
    pub(super) fn take(&mut self, trial: AxisTrial) -> bool {
        if let Some(position) = self.left.pop() {
            self.current[position] = Some(trial);
        }
        if !self.left.is_empty() {
            return false;
        }
        let nothing = vec![None; self.values.len()];
        self.whole
            .push(std::mem::replace(&mut self.current, nothing));
        self.keep(self.open.clone());
        true
    }

    /// Returns the values, the smallest first.
    pub(super) fn values(&self) -> &[u64] {
        &self.values
    }

    /// Returns the number of complete rounds.
    pub(super) fn count(&self) -> usize {
        self.whole.len()
    }

    /// Returns the difference of the second position to the first one.
    pub(super) fn difference(&self, of: Quantity, from: usize, to: usize) -> Option<SignedRank> {
        self.contrast(of, &[(from, -1.0), (to, 1.0)])
    }

    /// Returns the sum of the values at some positions, each times a weight, over the rounds that have all of them.
    /// `None`: there is no such round.
    pub(super) fn contrast(&self, of: Quantity, weights: &[(usize, f64)]) -> Option<SignedRank> {
        SignedRank::of(&self.sums(of, weights))
    }

    /// Returns the standard deviation of the difference between rounds.
    pub(super) fn deviation(&self, of: Quantity, from: usize, to: usize) -> Option<f64> {
        stats::deviation(&self.sums(of, &[(from, -1.0), (to, 1.0)]))
    }

    fn sums(&self, of: Quantity, weights: &[(usize, f64)]) -> Vec<f64> {
        let sum = |round: &Vec<Option<AxisTrial>>| -> Option<f64> {
            let values = weights.iter().map(|(position, weight)| {
                let value = round[*position].as_ref()?.value(of)?;
                Some(weight * value)
            });
            values.sum()
        };
        self.whole.iter().filter_map(sum).collect()
    }

    /// Returns the median over the rounds at a position, in nanoseconds.
    pub(super) fn median_ns(&self, position: usize) -> Option<f64> {
        let logarithms = self.sums(Quantity::Time, &[(position, 1.0)]);
        stats::median(logarithms).map(f64::exp)
    }

    /// Returns the share that was lost at a position. `None`: nothing was sent.
    pub(super) fn loss(&self, position: usize) -> Option<f64> {
        let (lost, sent) = self.lost_of_sent(position);
        (sent > 0).then(|| lost as f64 / sent as f64)
    }

    /// Returns the probability that loss differs this much by chance alone: Fisher's exact test, twice the smaller
    /// one-sided tail. Silences have few requests in a round, so ranks of their shares would tell little.
    pub(super) fn p_of_loss(&self, from: usize, to: usize) -> f64 {
        let of_both = [from, to].map(|position| self.lost_of_sent(position));
        let [lost, sent] = [of_both[0].0 + of_both[1].0, of_both[0].1 + of_both[1].1];
        let tail = |(lost_of_one, sent_of_one): (u64, u64)| {
            let distribution = Hypergeometric::new(sent, lost, sent_of_one).ok()?;
            Some(distribution.sf(lost_of_one.checked_sub(1)?))
        };
        let tails = of_both.map(|of_one| tail(of_one).unwrap_or(1.0));
        (2.0 * tails[0].min(tails[1])).min(1.0)
    }

    fn lost_of_sent(&self, position: usize) -> (u64, u64) {
        self.trials(position).fold((0, 0), |(lost, sent), trial| {
            (lost + trial.lost, sent + trial.sent)
        })
    }

    /// Returns the idle state whose share of the CPUs' time grows most from one position to another. `None`: none grows
    /// enough.
    pub(super) fn idle_state(&self, before: usize, after: usize) -> Option<IdleShare> {
        let shares_before = self.idle_shares(before);
        let shares = self.idle_shares(after).into_iter().map(|(name, after)| {
            let same_state = shares_before.iter().find(|(other, _)| *other == name);
            let before = same_state.map_or(0.0, |(_, share)| *share);
            IdleShare {
                name,
                before,
                after,
            }
        });
        let most = shares.max_by(|a, b| (a.after - a.before).total_cmp(&(b.after - b.before)));
        most.filter(|it| it.after - it.before >= LEAST_SHARE_INCREASE)
    }

    /// Returns the share of the CPUs' time in each idle state at a position.
    fn idle_shares(&self, position: usize) -> Vec<(String, f64)> {
        let (mut all, mut window_ns) = (IdleTimes::default(), 0);
        for trial in self.trials(position) {
            all.add(&trial.idle);
            window_ns += trial.window_ns * trial.idle.cpus as u64;
        }
        let share = |ns: u64| ns as f64 / window_ns.max(1) as f64;
        let states = all.states.into_iter();
        states.map(|state| (state.name, share(state.ns))).collect()
    }

    fn trials(&self, position: usize) -> impl Iterator<Item = &AxisTrial> {
        let rounds = self.whole.iter();
        rounds.filter_map(move |round| round[position].as_ref())
    }
}
