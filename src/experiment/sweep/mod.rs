//! Order of a sweep. Each round measures all blocks in shuffled order, and the cases of a block in shuffled order.
//!
//! Cases that are compared are measured within a second of each other. So drift (heat, neighbours) cancels in the
//! ratio to the reference of the same round. The rounds of a case are spread over the whole sweep. So they differ by
//! as much as the ratios of another sweep would.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use crate::data::{self, Case, Sample};
use crate::host::board::Cooldown;
use crate::host::placement::Placement;
use crate::plan::Until;
use crate::results::log::{Event, Header, Of};
use crate::results::replay::Replay;
use crate::results::row::{EndedBy, Failure, Row};
use crate::session::{Begin, Experiment, Logged, Step, Trial, Work};
use crate::trial::spec::TrialSpec;

/// Reasons why cases that could run at the start cannot run now, by key. Filled when a sweep is resumed.
pub type Unable = HashMap<String, String>;

/// State of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    replay: Replay,
    /// Cases that cannot run any more.
    pub unable: Unable,
    /// Round in hand, from 1. 0: none has begun.
    round: u32,
    /// Blocks of the round that are still to come.
    blocks: VecDeque<usize>,
    /// Block in hand.
    block: Option<usize>,
    /// Remaining steps of the block in this round.
    steps: VecDeque<Step>,
    /// Time at which `--until` gives up.
    end: Option<Instant>,
    /// True once the idle power was measured at the end.
    has_idled_at_end: bool,
}

impl Logged for Sweep {
    type Header = Header;

    fn begin(header: Header) -> Result<Self, String> {
        Ok(Self {
            replay: Replay::new(header),
            unable: Unable::new(),
            round: 0,
            blocks: VecDeque::new(),
            block: None,
            steps: VecDeque::new(),
            end: None,
            has_idled_at_end: false,
        })
    }

    fn header(&self) -> &Header {
        self.replay.header()
    }
}

impl Experiment for Sweep {
    // The row shows inconsistent counts.
    fn keeps_faulty(&self) -> bool {
        true
    }

    fn next(&mut self, now: Instant) -> Option<Step> {
        if self.round == 0 {
            let max_time = self.header().schedule.until.map(|until| until.max_time);
            self.end = max_time.and_then(|max_time| now.checked_add(max_time));
            self.begin_round();
            if !self.blocks.is_empty() {
                self.steps.extend(self.idle_power());
                self.steps.extend(self.heat());
            }
        }
        loop {
            while let Some(step) = self.steps.pop_front() {
                if self.is_wanted(&step) {
                    return Some(step);
                }
            }
            if let Some(block) = self.block.take() {
                if let Some(by) = self.is_enough(block, now) {
                    // The first rows that are final need it; it then holds for all.
                    if !self.has_idled_at_end {
                        self.has_idled_at_end = true;
                        if let Some(step) = self.idle_power() {
                            self.block = Some(block);
                            return Some(step);
                        }
                    }
                    return Some(Step::Note(Box::new(Event::BlockEnded { block, by })));
                }
            } else if let Some(block) = self.blocks.pop_front() {
                self.block = Some(block);
                self.steps = self.round_of(block);
            } else if self.begin_round() {
                return Some(Step::Restart);
            } else {
                return None;
            }
        }
    }

    fn take(&mut self, event: &Event) -> Result<Vec<Row>, String> {
        self.replay.take(event)
    }

    fn is_complete(&self) -> bool {
        self.blocks_of(1).is_empty()
    }

    fn work(&self) -> Work {
        let (done, all) = self.replay.window_counts();
        let Header { schedule, plan, .. } = self.header();
        let each = schedule.time_per_window(plan);
        Work { done, all, each }
    }

    fn rest(&self) -> Vec<Row> {
        self.replay.rest()
    }

    fn fault(&self, trial: &Trial, sample: &Sample) -> Option<String> {
        // A receiver that is known to starve would starve again.
        let receiver = self.header().plan.pair(&trial.spec.case).receiver;
        let is_expected = sample.accounting.unread > 0 && receiver.starves.is_some();
        let fault = || sample.fault().filter(|_| !is_expected);
        sample.link_fault().or_else(fault)
    }
}

impl Sweep {
    /// Goes on to the next round. Returns whether there is one.
    fn begin_round(&mut self) -> bool {
        self.round += 1;
        self.blocks = self.blocks_of(self.round).into();
        !self.blocks.is_empty()
    }

    /// Returns the blocks of a round, in their order.
    fn blocks_of(&self, round: u32) -> Vec<usize> {
        let schedule = &self.header().schedule;
        let mut blocks = schedule.order_of_blocks(&self.header().plan, round);
        blocks.retain(|&block| !self.replay.has_ended(block));
        blocks
    }

    /// Returns the step that measures the idle power. `None`: the power is not metered.
    fn idle_power(&self) -> Option<Step> {
        let Header { schedule, plan, .. } = self.header();
        schedule.idle_time(plan).map(Step::IdlePower)
    }

    /// Returns the heating up with traffic of a case that does not depend on the seed. It is mostly the reference.
    fn heat(&self) -> Option<Step> {
        let Header { schedule, plan, .. } = self.header();
        let first = plan.runnable().next()?;
        let mut spec = self.spec(&first.case, first.placement()?);
        (spec.settings.warmup, spec.settings.window) = (std::time::Duration::ZERO, schedule.heat);
        (!schedule.heat.is_zero()).then(|| Step::Heat(Box::new(spec)))
    }

    fn spec(&self, case: &Case, placement: &Placement) -> TrialSpec {
        let Header { schedule, wire, .. } = self.header();
        TrialSpec::new(case, placement, &schedule.settings).over(wire.as_ref())
    }

    /// Returns the steps of a block in the round in hand.
    fn round_of(&self, number: usize) -> VecDeque<Step> {
        let (header, round) = (self.header(), self.round);
        let (schedule, block) = (&header.schedule, &header.plan.blocks[number]);
        let cases: Vec<(&Case, &Placement)> = block.runnable().collect();
        if cases.iter().all(|(case, _)| !self.is_to_come(case)) {
            return VecDeque::new();
        }
        let of_all_rounds = |cooldown: Cooldown| Cooldown {
            at_most: cooldown.at_most / schedule.rounds.max(1),
            ..cooldown
        };
        let begin = Step::Begin(Begin {
            block: number,
            has_begun: self.replay.has_begun(number),
            cooldown: schedule.cooldown.map(of_all_rounds),
        });
        let unable = cases.iter().filter_map(|(case, _)| self.unable(case));
        // Checks the datagrams that a case delivers, before anything is measured.
        let verified = cases.iter().filter(|_| schedule.verify);
        let verified = verified.map(|(case, placement)| {
            let mut spec = self.spec(case, placement);
            spec.verifies = true;
            let told = format!("verifying {}", case.label());
            Step::Trial(Box::new(Trial::new(case, spec, told)))
        });
        let order = schedule.order_of_round(number, round, cases.len());
        let windows = (1..).zip(order).map(|(position, place)| {
            let (case, placement) = cases[place];
            let told = format!("{}: {}", block.key, case.label());
            let trial = Trial::new(case, self.spec(case, placement), told);
            Step::Trial(Box::new(Trial {
                round,
                position,
                is_repeated: self.replay.is_repeated(case, round),
                ..trial
            }))
        });
        let steps = std::iter::once(begin).chain(unable);
        steps.chain(verified).chain(windows).collect()
    }

    fn unable(&self, case: &Case) -> Option<Step> {
        let reason = self.unable.get(&case.key())?;
        let failed = Event::Failed {
            of: Of::case(case),
            round: 0,
            reason: Failure::told(reason),
            other_programs: None,
        };
        (!self.replay.has_failed(case)).then(|| Step::Note(Box::new(failed)))
    }

    /// Returns whether the window of a case in the round in hand is still to be measured.
    fn is_to_come(&self, case: &Case) -> bool {
        !self.replay.has_failed(case) && !self.replay.has_window(case, self.round)
    }

    /// Returns whether a planned step is still needed. Its case may have failed meanwhile.
    fn is_wanted(&self, step: &Step) -> bool {
        let Step::Trial(trial) = step else {
            return true;
        };
        let case = &trial.spec.case;
        if !trial.spec.verifies {
            return self.is_to_come(case);
        }
        let sender = self.header().plan.pair(case).sender;
        let is_there = self.replay.is_verified(case) || self.replay.has_failed(case);
        !is_there && data::refusal(case.payload, sender).is_none()
    }

    /// Returns why a block needs no more rounds, or `None` if it does.
    fn is_enough(&self, number: usize, now: Instant) -> Option<EndedBy> {
        let (rounds, schedule) = (self.round, &self.header().schedule);
        let cases = self.header().plan.blocks[number].runnable();
        let mut cases = cases
            .filter(|(case, _)| !self.replay.has_failed(case))
            .peekable();
        let has_cases = cases.peek().is_some();
        // A resumed sweep may have begun a further round, which is then finished.
        let is_begun = cases.any(|(case, _)| self.replay.has_window(case, rounds + 1));
        if has_cases && (rounds < schedule.rounds || is_begun) {
            return None;
        }
        let Some(until) = schedule.until.filter(|_| has_cases) else {
            return Some(EndedBy::Rounds);
        };
        let is_over = self.end.is_some_and(|end| now >= end);
        let is_last = is_over || rounds >= Until::MAX_ROUNDS;
        // With thousands of rounds, an evaluation takes the time of a window.
        let is_a_look = is_last || rounds == schedule.rounds || rounds % (rounds / 10).max(1) == 0;
        let is_narrow = |row: &Row| row.is_narrow(until.half_width_pct);
        if is_a_look && self.replay.preview(number).iter().all(is_narrow) {
            return Some(EndedBy::Until);
        }
        is_last.then_some(EndedBy::MaxTime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Meter;
    use crate::results::replay::tests::{event, header};
    use crate::results::row::tests::{case, window};

    fn sweep(rounds: u32) -> Sweep {
        let mut header = header();
        (header.schedule.rounds, header.schedule.verify) = (rounds, false);
        Sweep::begin(header).expect("a plan")
    }

    /// Runs a sweep to its end. `end` gives the event after a trial. Returns the steps in short.
    fn course(sweep: &mut Sweep, end: impl Fn(&Trial) -> Event) -> Vec<String> {
        let mut asked = Vec::new();
        while let Some(step) = sweep.next(Instant::now()) {
            let (short, event) = match step {
                Step::Restart => ("restart".to_owned(), None),
                Step::IdlePower(_) => ("idle".to_owned(), None),
                Step::Begin(Begin {
                    block, has_begun, ..
                }) => {
                    let warning = None;
                    let begun = Event::BlockBegun { block, warning };
                    ("begin".to_owned(), (!has_begun).then_some(begun))
                }
                Step::Trial(trial) => (format!("trial {}", trial.round), Some(end(&trial))),
                Step::Note(event) => (String::from("note"), Some(*event)),
                other => panic!("{other:?}"),
            };
            asked.push(short);
            if let Some(event) = event {
                sweep.take(&event).expect("it can happen");
            }
        }
        asked
    }

    #[test]
    fn a_round_is_asked_for_after_the_other_and_the_end_of_the_block_written_down() {
        let mut sweep = sweep(2);
        let asked = course(&mut sweep, |trial| event(window(trial.round)));
        let rounds = ["begin", "trial 1", "restart", "begin", "trial 2", "note"];
        assert_eq!(asked, rounds);
        assert!(sweep.is_complete());
        let Work { done, all, .. } = sweep.work();
        assert_eq!((done, all), (2, 2));
    }

    #[test]
    fn the_idle_power_of_a_metered_machine_is_measured_first_and_last() {
        let mut header = header();
        (header.schedule.rounds, header.schedule.verify) = (2, false);
        header.schedule.settings.meter = Some(Meter::Sensor("vin".to_owned()));
        let mut sweep = Sweep::begin(header).expect("a plan");
        let asked = course(&mut sweep, |trial| event(window(trial.round)));
        let rounds = [
            "idle", "begin", "trial 1", "restart", "begin", "trial 2", "idle", "note",
        ];
        assert_eq!(asked, rounds);
    }

    #[test]
    fn a_case_that_failed_is_asked_for_no_more() {
        let mut sweep = sweep(2);
        let failed = |trial: &Trial| Event::Failed {
            of: Of::case(&case()),
            round: trial.round,
            reason: Failure::told("it broke"),
            other_programs: None,
        };
        assert_eq!(course(&mut sweep, failed), ["begin", "trial 1", "note"]);
        assert!(sweep.is_complete());
    }
}
