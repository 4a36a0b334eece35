//! Steps of a comparison: rounds of fresh processes, and looks at the results.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use super::header::{AbHeader, Pair, pairs};
use super::judge::judge;
use super::windows::PairWindows;
use super::{AbComparison, Side};
use crate::data::{BlockKey, Sample};
use crate::plan::Planned;
use crate::results::log::Event;
use crate::results::row::{self, Row};
use crate::session::{Experiment, Logged, Step, Trial, Work};
use crate::trial::spec::TrialSpec;
use crate::verdict::judge::{Criterion, JudgedEngine, Verdict};

impl Logged for AbComparison {
    type Header = AbHeader;

    fn begin(header: AbHeader) -> Result<Self, String> {
        let count = pairs(&header)?.len();
        Ok(Self {
            header,
            question: Criterion::default(),
            pairs: vec![PairWindows::default(); count],
            is_interrupted: false,
            round: 0,
            groups: VecDeque::new(),
            steps: VecDeque::new(),
            told: BTreeSet::new(),
            end: None,
        })
    }

    fn header(&self) -> &AbHeader {
        &self.header
    }
}

impl Experiment for AbComparison {
    fn next(&mut self, now: Instant) -> Option<Step> {
        if self.round == 0 {
            let until = self.header.until;
            self.end = until.and_then(|until| now.checked_add(until.max_time));
        }
        loop {
            if let Some(step) = self.steps.pop_front() {
                return Some(step);
            }
            if let Some((side, pairs)) = self.groups.pop_front() {
                self.steps = self.of_side(side, &pairs);
                continue;
            }
            let is_over = self.end.is_some_and(|end| now >= end);
            self.look(self.round);
            if self.is_enough(self.round) || is_over {
                return None;
            }
            self.begin_round();
            return Some(Step::Restart);
        }
    }

    fn take(&mut self, event: &Event) -> Result<Vec<Row>, String> {
        self.add(event)?;
        Ok(Vec::new())
    }

    fn is_complete(&self) -> bool {
        let mut replayed = self.clone();
        replayed.told.clear();
        for round in 1..=self.header.most_rounds() {
            if !replayed.is_over(round) {
                return false;
            }
            replayed.look(round);
            if replayed.is_enough(round) {
                return true;
            }
        }
        false
    }

    /// Counts windows up to the next look.
    fn work(&self) -> Work {
        let header = &self.header;
        let rounds = self.round.max(1).next_multiple_of(header.rounds.max(1));
        let runs = self.measured_pairs().count() as u64;
        let (done, _) = self.windows();
        Work {
            done,
            all: done.max(2 * u64::from(rounds) * runs),
            each: header.a.settings.time_per_window(),
        }
    }

    fn fault(&self, _trial: &Trial, sample: &Sample) -> Option<String> {
        // Without datagrams there is no ratio.
        let is_empty = row::received_pps(sample).is_none_or(|pps| pps <= 0.0);
        let nothing = || is_empty.then(|| "nothing was received in a window".to_owned());
        let fault = sample.link_fault().or_else(|| sample.fault());
        fault.or_else(nothing)
    }
}

impl AbComparison {
    /// Returns whether this many rounds are enough.
    fn is_enough(&self, rounds: u32) -> bool {
        rounds == self.header.most_rounds()
            || self.is_look(rounds) && self.measured_pairs().next().is_none()
    }

    /// Returns whether one looks at the results after this round.
    fn is_look(&self, round: u32) -> bool {
        let header = &self.header;
        header.until.is_some() && round > 0 && round % header.rounds == 0
    }

    /// After a round with a look: engines that have their verdict are not measured any more.
    fn look(&mut self, round: u32) {
        if !self.is_look(round) {
            return;
        }
        let judgement = judge(&self.up_to(round), self.question);
        let is_told = |engine: &&JudgedEngine| match engine.whole.verdict {
            Verdict::Better | Verdict::Same => engine.is_surely_not_worse(self.question),
            _ => engine.whole.verdict.is_bad(),
        };
        for engine in judgement.engines.iter().filter(is_told) {
            let pairs = self.pairs();
            let of_engine = (0..pairs.len()).filter(|&pair| pairs[pair].label() == engine.label);
            self.told.extend(of_engine.collect::<Vec<usize>>());
        }
    }

    /// Returns the pairs that the next round measures.
    fn measured_pairs(&self) -> impl Iterator<Item = usize> {
        let pairs = 0..self.pairs.len();
        pairs.filter(|&pair| self.is_measured(pair))
    }

    /// Returns whether the next round measures a pair.
    fn is_measured(&self, pair: usize) -> bool {
        let refusal = self.pairs()[pair].refusal().is_some();
        let measured = &self.pairs[pair];
        let is_decided = measured.is_decided(self.rounds_to_blame());
        !refusal && !is_decided && !self.told.contains(&pair)
    }

    /// Returns whether each pair that this round measures was tried on both sides.
    fn is_over(&self, round: u32) -> bool {
        let has_both = |pair| Side::BOTH.map(|side| self.has_outcome(pair, round, side));
        self.measured_pairs()
            .all(|pair| has_both(pair) == [true; 2])
    }

    fn begin_round(&mut self) {
        self.round += 1;
        let groups = order(&self.header, &self.pairs(), self.round).into_iter();
        let of_side = |(sides, pairs): ([Side; 2], Vec<usize>)| sides.map(|it| (it, pairs.clone()));
        self.groups = groups.flat_map(of_side).collect();
    }

    /// Returns the remaining steps of these pairs on one side.
    fn of_side(&self, side: Side, pairs: &[usize]) -> VecDeque<Step> {
        let is_wanted =
            |&&pair: &&usize| self.is_measured(pair) && !self.has_outcome(pair, self.round, side);
        let trials = pairs.iter().filter(is_wanted);
        let trials: Vec<Step> = trials.filter_map(|&pair| self.trial(side, pair)).collect();
        let command = self.header.setup(side).before.clone();
        let command = command.filter(|_| !trials.is_empty());
        let prepare = command.map(|command| Step::Prepare { side, command });
        prepare.into_iter().chain(trials).collect()
    }

    fn trial(&self, side: Side, number: usize) -> Option<Step> {
        let setup = self.header.setup(side);
        let pair = *self.pairs().get(number)?;
        let Planned { case, .. } = pair.side(side);
        let placement = pair.side(side).placement()?;
        let wire = self.header.wire.as_ref();
        let spec = TrialSpec::new(case, placement, &setup.settings).over(wire);
        let tuning = pair.tuning.filter(|_| side == Side::B);
        let changed = tuning.map_or_else(String::new, |it| format!(" with {}", it.name.text()));
        Some(Step::Trial(Box::new(Trial {
            of: self.name(side, number),
            round: self.round,
            tuning: tuning.cloned(),
            is_repeated: self.pairs[number].always_fails(side),
            ..Trial::new(case, spec, format!("{side}: {}{changed}", case.key()))
        })))
    }
}

/// Returns the order of a round: groups of pairs that are measured first on one side, then on the other. Cases are
/// shuffled, and each side comes first equally often. Every round has its own seed, so a resumed comparison continues
/// in the same order.
fn order(header: &AbHeader, pairs: &[Pair], round: u32) -> Vec<([Side; 2], Vec<usize>)> {
    let has_command = header.a.before.is_some() || header.b.before.is_some();
    let mut groups: Vec<([Side; 2], Vec<usize>)> = Vec::new();
    let mut last: Option<BlockKey> = None;
    let runs = pairs.iter().enumerate();
    for (number, pair) in runs.filter(|(_, pair)| pair.refusal().is_none()) {
        // A command takes long: it runs once for all cases of a block.
        let block = Some(pair.a.case.block()).filter(|_| has_command);
        match groups.last_mut() {
            Some((_, pairs)) if block.is_some() && block == last => pairs.push(number),
            _ => groups.push((sides(header.seed, number, round), vec![number])),
        }
        last = block;
    }
    let mut shuffle = fastrand::Rng::with_seed(seed(header.seed, 0, round));
    shuffle.shuffle(&mut groups);
    for (_, pairs) in &mut groups {
        shuffle.shuffle(pairs);
    }
    groups
}

/// Returns the order of the sides. Within two rounds, each side comes first once.
fn sides(seed_of_all: u32, number: usize, round: u32) -> [Side; 2] {
    let mut dice = fastrand::Rng::with_seed(seed(seed_of_all, number + 1, round.div_ceil(2)));
    if dice.bool() == (round % 2 == 0) {
        [Side::A, Side::B]
    } else {
        [Side::B, Side::A]
    }
}

fn seed(of_all: u32, number: usize, round: u32) -> u64 {
    (u64::from(of_all) << 32) ^ ((number as u64) << 14) ^ u64::from(round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ab::tests::dice::{ROUNDS, record, record_of};
    use crate::host::tuning::{Name, Tuning, Tunings};
    use crate::results::row::Failure;
    use crate::verdict::judge::Obstacle;

    /// Puts rounds of all pairs into a record: `mio-level` differs from round to round, the others do not.
    fn put(
        record: &mut AbComparison,
        rounds: std::ops::RangeInclusive<u32>,
        is_measured: impl Fn(&str) -> bool,
    ) {
        let labels: Vec<String> = record.pairs().iter().map(Pair::label).collect();
        for (pair, label) in labels
            .iter()
            .enumerate()
            .filter(|(_, label)| is_measured(label))
        {
            for round in rounds.clone() {
                let of_b = if label != "mio-level" {
                    1.0
                } else if round % 2 == 0 {
                    1.2
                } else {
                    0.8
                };
                record.put(pair, round, of_b);
            }
        }
    }

    #[test]
    fn an_engine_that_has_its_verdict_is_not_measured_any_more() {
        let mut comparison = record(5);
        let each = comparison.header.rounds;
        put(&mut comparison, 1..=each, |_| true);
        comparison.look(each);
        let pairs = comparison.pairs().len();
        for pair in 0..pairs {
            let is_unclear = comparison.pairs()[pair].label() == "mio-level";
            assert_eq!(comparison.is_measured(pair), is_unclear);
        }
        assert!(!comparison.is_enough(each) && !comparison.is_complete());
        // All looks of the only engine that is left.
        put(&mut comparison, each + 1..=5 * each, |label| {
            label == "mio-level"
        });
        assert!(comparison.is_complete());
    }

    const FLOOD: &str = "std:std/2t/1460B/connected/v4";
    const RR: &str = "std:std/2t/1460B/connected/v4/rr";

    /// Tries RPS and GRO, without settings of a machine.
    fn of_settings() -> AbComparison {
        let keys = [FLOOD, RR].map(str::to_owned);
        let mut header = record_of(&keys, 1).header().clone();
        let tuning = |name| Tuning {
            name,
            settings: Vec::new(),
        };
        header.tunings = Some(Tunings {
            tried: [Name::Rps, Name::Gro].map(tuning).into(),
            left_out: Vec::new(),
        });
        AbComparison::begin(header).expect("a header")
    }

    /// Runs all rounds, and returns the trials. `failure`: why a trial fails; else it measures the speed 1.
    fn run(
        comparison: &mut AbComparison,
        failure: impl Fn(&Trial) -> Option<Failure>,
    ) -> Vec<Trial> {
        let mut trials = Vec::new();
        while let Some(step) = comparison.next(Instant::now()) {
            let Step::Trial(trial) = step else {
                continue;
            };
            let record = &mut *comparison;
            let pairs = 0..record.pairs().len();
            let mut windows = pairs.flat_map(|pair| Side::BOTH.map(|side| (side, pair)));
            let window = windows.find(|&(side, pair)| record.name(side, pair) == trial.of);
            let (side, pair) = window.expect("one of them");
            match failure(&trial) {
                None => record.put_side(side, pair, trial.round, 1.0),
                Some(reason) => {
                    let failed = Event::Failed {
                        of: trial.of.clone(),
                        round: trial.round,
                        reason,
                        other_programs: None,
                    };
                    record.take(&failed).expect("it was asked for");
                }
            }
            trials.push(*trial);
        }
        assert!(comparison.is_complete());
        trials
    }

    #[test]
    fn b_of_each_pair_changes_the_setting_and_follows_a_or_comes_before_it() {
        let mut comparison = of_settings();
        let trials = run(&mut comparison, |_| None);
        assert_eq!(trials.len(), 8 * ROUNDS as usize);
        for pair in trials.chunks_exact(2) {
            assert_eq!(pair[0].of.case, pair[1].of.case);
            assert_eq!(pair[0].of.tuning, pair[1].of.tuning);
            assert_ne!(pair[0].of.side, pair[1].of.side);
            assert!(
                pair.iter()
                    .all(|it| it.tuning.is_some() == (it.of.side == Some(Side::B)))
            );
        }
        let labels: Vec<String> = comparison.pairs().iter().map(Pair::label).collect();
        assert_eq!(labels, ["rps, flood", "rps, rr", "gro, flood", "gro, rr"]);
    }

    #[test]
    fn a_setting_that_cannot_be_changed_is_given_up_and_the_others_go_on() {
        let mut comparison = of_settings();
        let why = || Failure::SettingFailed {
            why: "not permitted".to_owned(),
        };
        let is_gro = |it: &Trial| it.tuning.as_ref().is_some_and(|it| it.name == Name::Gro);
        let trials = run(&mut comparison, |it| {
            (it.round == 2 && is_gro(it)).then(why)
        });
        let left: Vec<&Trial> = trials.iter().filter(|it| it.round > 2).collect();
        assert!(left.iter().all(|it| it.of.tuning == Some(0)));
        assert_eq!(left.len(), 4 * (ROUNDS as usize - 2));
        let judgement = judge(&comparison, Criterion::default());
        let settings = judgement.engines.iter().map(|it| &*it.label);
        assert_eq!(settings.collect::<Vec<_>>(), ["rps, flood", "rps, rr"]);
        let given_up = Verdict::NotComparable(Obstacle::GivenUp { failure: why() });
        let of_gro = judgement
            .cases
            .iter()
            .filter(|it| it.label.starts_with("gro"));
        assert!(
            of_gro.clone().count() == 2
                && of_gro
                    .map(|it| &it.answer.verdict)
                    .all(|it| *it == given_up)
        );
    }

    #[test]
    fn each_side_comes_first_in_every_second_round() {
        for number in 0..20 {
            for round in (1..40).step_by(2) {
                let [first, second] = [round, round + 1].map(|round| sides(7, number, round)[0]);
                assert_eq!(first.other(), second);
            }
        }
        let first = (0..100).map(|number| sides(7, number, 1)[0]);
        let count = first.filter(|&side| side == Side::A).count();
        assert!((30..70).contains(&count), "{count}");
    }
}
