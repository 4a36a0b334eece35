//! Turns the events of a sweep's log into rows, one by one. A sweep passes its events as they happen, `summarize`
//! passes the events of a file, and both get the same rows.

mod blocks;

use std::collections::HashMap;
use std::time::Duration;

use self::blocks::{Measured, Progress, Stage};
use crate::data::{Case, Sample};
use crate::results::log::{Event, Header, Of};
use crate::results::row::{CaseWarning, Failure, Interruption, Row};
use crate::sys::power::IdlePower;

/// State of a sweep after the events so far.
#[derive(Clone, Debug)]
pub struct Replay {
    header: Header,
    blocks: Vec<Progress>,
    /// Number of windows measured.
    measured_windows: u64,
    /// Time that traffic takes to settle on this machine, if measured.
    settles_after: Option<Duration>,
    /// Idle powers of the machine, in the order of their measurement.
    idle_powers: Vec<IdlePower>,
    /// Reason why the sweep ended before it was complete. `Unknown` also while it goes on.
    interruption: Interruption,
    /// Index of the block of each case that runs, and of the case among those of the block that run, by key.
    case_indices: HashMap<String, (usize, usize)>,
}

impl Replay {
    /// Creates the state before the first event.
    pub fn new(header: Header) -> Self {
        let mut case_indices = HashMap::new();
        let mut blocks = Vec::new();
        for (number, block) in header.plan.blocks.iter().enumerate() {
            let mut progress = Progress::default();
            for (case, _) in block.runnable() {
                case_indices.insert(case.key(), (number, progress.cases.len()));
                progress.cases.push(Measured::default());
            }
            blocks.push(progress);
        }
        Self {
            header,
            blocks,
            measured_windows: 0,
            settles_after: None,
            idle_powers: Vec::new(),
            interruption: Interruption::default(),
            case_indices,
        }
    }

    /// Returns the first line of the log, which describes the plan.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Processes an event, and returns the rows that it makes final.
    ///
    /// # Errors
    /// Fails if the event is impossible after the events before it.
    pub fn take(&mut self, event: &Event) -> Result<Vec<Row>, String> {
        match event {
            Event::Settled { case, after } => {
                if !self.case_indices.contains_key(case) {
                    return Err(format!("the case {case} is not one of the plan that runs"));
                }
                self.settles_after.get_or_insert(*after);
            }
            Event::IdlePower(idle) => self.idle_powers.push(*idle),
            Event::BlockBegun { block, warning } => {
                let progress = self.block_mut(*block)?;
                if progress.stage == Stage::Ended {
                    return Err(format!("block {block} begins, but it had ended"));
                }
                progress.stage = Stage::Begun;
                warning.iter().cloned().for_each(|it| progress.warn(it));
            }
            Event::Verified(sample) => self.verified(sample)?,
            Event::Window(window) => self.add_window(&window.sample)?,
            Event::Repeated {
                of, round, reason, ..
            } => {
                let repeated = &mut self.running(&of.case)?.repeated;
                repeated.push((*round, reason.clone()));
            }
            Event::Failed {
                of: Of { case, .. },
                reason,
                ..
            } => self.running(case)?.failure = Some(reason.clone()),
            Event::BlockEnded { block, by } => {
                if self.block_mut(*block)?.stage != Stage::Begun {
                    return Err(format!("block {block} ends, but it had not begun"));
                }
                self.blocks[*block].stage = Stage::Ended;
                let rows = self.rows(*block, Some(*by));
                self.blocks[*block].cases.clear();
                return Ok(rows);
            }
            Event::Interrupted { lost } => {
                let lost = lost.clone().map(|why| Interruption::Lost { why });
                self.interruption = lost.unwrap_or(Interruption::Signal);
            }
            Event::Resumed { unlike, .. } => self.resume(unlike),
        }
        Ok(Vec::new())
    }

    /// Returns the number of windows measured, and the number expected in all. With `--until`, the total grows by
    /// one round at a time.
    pub fn window_counts(&self) -> (u64, u64) {
        let schedule = &self.header.schedule;
        let left = |block: &Progress| -> u64 {
            if block.stage == Stage::Ended {
                return 0;
            }
            let is_one_more = schedule.until.is_some() && block.round >= schedule.rounds;
            let rounds = schedule.rounds.max(block.round + u32::from(is_one_more));
            let goes_on = block.cases.iter().filter(|case| case.failure.is_none());
            let left =
                goes_on.map(|case| u64::from(rounds).saturating_sub(case.samples.len() as u64));
            left.sum()
        };
        let left: u64 = self.blocks.iter().map(left).sum();
        (self.measured_windows, self.measured_windows + left)
    }

    /// Returns whether a block was begun, including blocks that have ended.
    pub fn has_begun(&self, block: usize) -> bool {
        self.blocks[block].stage != Stage::Waiting
    }

    /// Returns whether a block has ended.
    pub fn has_ended(&self, block: usize) -> bool {
        self.blocks[block].stage == Stage::Ended
    }

    /// Returns whether the window of a case in this round was measured.
    pub fn has_window(&self, case: &Case, round: u32) -> bool {
        self.is(case, |it| it.samples.iter().any(|it| it.round == round))
    }

    /// Returns whether the window of a case in this round is measured for the second time.
    pub fn is_repeated(&self, case: &Case, round: u32) -> bool {
        self.is(case, |it| it.repeated.iter().any(|it| it.0 == round))
    }

    /// Returns whether a case has failed. A failed case is not measured any more.
    pub fn has_failed(&self, case: &Case) -> bool {
        self.is(case, |it| it.failure.is_some())
    }

    /// Returns whether the datagrams of a case were verified.
    pub fn is_verified(&self, case: &Case) -> bool {
        self.is(case, |it| it.verified.is_some())
    }

    fn is(&self, case: &Case, so: impl FnOnce(&Measured) -> bool) -> bool {
        let index = self.case_indices.get(&case.key());
        let case = index.and_then(|&(block, case)| self.blocks[block].cases.get(case));
        case.is_some_and(so)
    }

    fn block_mut(&mut self, block: usize) -> Result<&mut Progress, String> {
        let progress = self.blocks.get_mut(block);
        progress.ok_or_else(|| format!("the plan has no block {block}"))
    }

    /// Returns the state of a case.
    ///
    /// # Errors
    /// Fails if the case does not run, has failed, or is in a block that has not begun or has ended.
    fn running(&mut self, case: &str) -> Result<&mut Measured, String> {
        let &(block, case_index) = self
            .case_indices
            .get(case)
            .ok_or_else(|| format!("the case {case} is not one of the plan that runs"))?;
        let progress = &mut self.blocks[block];
        if progress.stage != Stage::Begun {
            return Err(format!(
                "block {block}, that of {case}, is not being measured"
            ));
        }
        let measured = &mut progress.cases[case_index];
        if measured.failure.is_some() {
            return Err(format!("{case} goes on, but it had failed"));
        }
        Ok(measured)
    }

    fn verified(&mut self, sample: &Sample) -> Result<(), String> {
        let direction = Case::of_key(&sample.case).and_then(|case| case.direction);
        let measured = self.running(&sample.case)?;
        measured.verified = sample.verified;
        measured.failure = sample
            .verified
            .and_then(|found| found.fault(direction))
            .map(Failure::told);
        Ok(())
    }

    fn resume(&mut self, differences: &[String]) {
        self.interruption = Interruption::Unknown;
        let blocks = self.blocks.iter_mut();
        for block in blocks.filter(|block| block.stage != Stage::Ended) {
            if block.is_within_a_round() {
                block.warn(CaseWarning::InTwoParts);
            }
            for what in differences {
                block.warn(CaseWarning::ResumedWithDifference { what: what.clone() });
            }
        }
    }

    fn add_window(&mut self, sample: &Sample) -> Result<(), String> {
        let (case, round) = (&sample.case, sample.round);
        let most = self.header.schedule.most_rounds();
        if !(1..=most).contains(&round) {
            let has = format!("the schedule has rounds 1 to {most}");
            return Err(format!("round {round} of {case}, but {has}"));
        }
        self.running(case)?.add(sample)?;
        let (block, _) = self.case_indices[case];
        self.blocks[block].round = round;
        self.measured_windows += 1;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
