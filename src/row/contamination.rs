//! Contaminated windows: something happened in them that says nothing of the case.
//!
//! The rule, one for all: they are marked and counted, and kept out of medians, intervals and ratios if at
//! least [`LEAST_CLEAN`] clean ones remain. The books hold all windows: a datagram is lost whatever else ran.

use super::{Environment, climate};
use crate::data::{LaneSample, Sample, Side};

/// What five values say holds their median in 93.8 % of all cases: fewer say too little.
const LEAST_CLEAN: usize = 5;

/// What may be wrong with a window.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    /// A lane that has its CPU to itself was preempted.
    Preempted,
    /// A sender that never waited had less than 97 % of its CPU.
    Disturbed,
    /// The board protected itself from heat or low voltage.
    Throttled,
    /// A CPU ran slower than at the start.
    SlowClock,
}

impl Fault {
    const ALL: [Self; 4] = [
        Self::Preempted,
        Self::Disturbed,
        Self::Throttled,
        Self::SlowClock,
    ];

    fn is_in(self, sample: &Sample, environment: &Environment) -> bool {
        match self {
            Self::Preempted => sample.lanes.iter().any(|lane| was_preempted(lane, sample)),
            Self::Disturbed => is_disturbed(sample),
            Self::Throttled => climate::is_throttled(sample),
            Self::SlowClock => climate::is_slow(sample, &environment.paces),
        }
    }
}

/// Lanes that share a CPU preempt each other: that is the case itself. Workers may run on any of the CPUs.
fn was_preempted(lane: &LaneSample, sample: &Sample) -> bool {
    let may_be_there = |other: &&LaneSample| other.cpu == lane.cpu || other.side == Side::Worker;
    let on_its_cpu = sample.lanes.iter().filter(may_be_there);
    let is_alone = lane.cpu.is_some() && on_its_cpu.count() == 1;
    is_alone
        && lane
            .involuntary_switches
            .is_some_and(|switches| switches > 0)
}

/// The windows of a case, and what is wrong with each.
pub(super) struct Selection<'a> {
    /// Those that its medians are made of.
    pub(super) kept: Vec<&'a Sample>,
    /// Of those kept, and of which the reference has one, too: both.
    pub(super) pairs: Vec<(&'a Sample, &'a Sample)>,
    /// How many are contaminated.
    pub(super) contaminated: usize,
    /// How many of them are not among those kept.
    pub(super) left_out: usize,
    /// Whether a contaminated window of either side is in the ratios.
    pub(super) pairs_are_clean: bool,
    /// Whether in some window a lane was preempted.
    pub(super) some_preempted: bool,
}

impl<'a> Selection<'a> {
    pub(super) fn new(
        samples: &'a [Sample],
        reference: &'a [Sample],
        environment: &Environment,
    ) -> Self {
        let is_clean = |sample: &Sample| {
            let mut faults = Fault::ALL.into_iter();
            !faults.any(|fault| fault.is_in(sample, environment))
        };
        let preempted = |sample| Fault::Preempted.is_in(sample, environment);
        let clean: Vec<&Sample> = samples.iter().filter(|sample| is_clean(sample)).collect();
        let contaminated = samples.len() - clean.len();
        let kept = if clean.len() >= LEAST_CLEAN {
            clean
        } else {
            samples.iter().collect()
        };
        // What is left out is in no ratio either, whatever the reference's windows are like.
        let pairs = pairs(&kept, reference);
        let both_clean = |(a, b): &(&Sample, &Sample)| is_clean(a) && is_clean(b);
        let clean_pairs: Vec<_> = pairs.iter().copied().filter(both_clean).collect();
        let pairs_are_clean = clean_pairs.len() >= LEAST_CLEAN || clean_pairs.len() == pairs.len();
        Self {
            left_out: samples.len() - kept.len(),
            kept,
            pairs: if pairs_are_clean { clean_pairs } else { pairs },
            contaminated,
            pairs_are_clean,
            some_preempted: samples.iter().any(preempted),
        }
    }

    /// What a row says about it.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.some_preempted {
            warnings.push("a benchmark thread was preempted".to_owned());
        }
        if self.left_out > 0 {
            warnings.push("contaminated windows are left out (left_out_windows)".to_owned());
        } else if self.contaminated > 0 {
            warnings.push(format!(
                "fewer than {LEAST_CLEAN} clean windows: all kept (contaminated_windows)"
            ));
        }
        if !self.pairs_are_clean && self.contaminated == self.left_out {
            warnings.push("contaminated windows of the reference are in the ratios".to_owned());
        }
        warnings
    }
}

/// A window of the case and one of the reference of the same round.
fn pairs<'a>(kept: &[&'a Sample], reference: &'a [Sample]) -> Vec<(&'a Sample, &'a Sample)> {
    let pair = |sample: &&'a Sample| {
        let mut partners = reference.iter().filter(|other| other.round == sample.round);
        Some((*sample, partners.next()?))
    };
    kept.iter().filter_map(pair).collect()
}

/// Whether the lanes on a CPU with a sender that never waited had less than 97 % of it together: something
/// else ran there, or the kernel counts softirq time apart (IRQ_TIME_ACCOUNTING).
pub(super) fn is_disturbed(sample: &Sample) -> bool {
    let never_waited = |lane: &&LaneSample| lane.side.sends() && lane.voluntary_switches == Some(0);
    let lanes = sample.lanes.iter().filter(never_waited);
    let mut cpus = lanes.filter_map(|lane| lane.cpu);
    cpus.any(|cpu| cpu_share(sample, cpu).is_some_and(|share| share < UNDISTURBED))
}

const UNDISTURBED: f64 = 0.97;

/// The part of a window for which the lanes on `cpu` ran. `None`: a clock could not be read, or workers may
/// have run there.
fn cpu_share(sample: &Sample, cpu: u32) -> Option<f64> {
    if sample.lanes.iter().any(|lane| lane.side == Side::Worker) {
        return None;
    }
    let lanes = sample.lanes.iter().filter(|lane| lane.cpu == Some(cpu));
    let ran: u64 = lanes.map(|lane| lane.cpu_ns).sum::<Option<u64>>()?;
    Some(ran as f64 / sample.window_ns as f64)
}
