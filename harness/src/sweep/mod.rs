//! The sweep: rounds; in each of them all blocks in shuffled order, and the cases of a block, shuffled.
//!
//! What is compared is measured within a second of each other, so that drift (heat, neighbours) cancels in the
//! ratio to the reference of the same round. The rounds of a case lie as far apart as the sweep is long: what they
//! differ by is what ratios of another sweep would differ by.

mod case;
mod settling;
mod thermal_settle;

use std::collections::HashMap;
use std::time::Instant;

use crate::data::Case;
use crate::log::{Event, Header};
use crate::measure::agents::{Agents, End};
use crate::plan::{Block, Until};
use crate::platform::placement::Placement;
use crate::replay::Replay;
use crate::row::{EndedBy, Row};
use crate::sys::interrupt::Interrupt;

/// What a sweep tells while it goes on. Errors of a journal end the sweep.
pub trait Journal {
    /// What is about to happen, for the progress display.
    fn doing(&mut self, what: &str);
    /// Something that takes a while and is not measuring, for the screen and for logs of it.
    fn waiting(&mut self, what: &str);
    /// A round of a block is about to be measured.
    fn block(&mut self, block: &Block);
    /// A round is over.
    ///
    /// # Errors
    /// When what happened in it cannot be kept.
    fn round(&mut self) -> anyhow::Result<()>;
    /// Something happened.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn line(&mut self, line: &Event) -> anyhow::Result<()>;
    /// So many windows more are to come than was thought; fewer, where it is negative.
    fn windows_to_come(&mut self, more: i64);
    /// These rows are final.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn rows(&mut self, rows: Vec<Row>) -> anyhow::Result<()>;
}

/// How a sweep ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every case of the plan has its row.
    Complete,
    /// It was asked to end; the blocks that were not begun have no rows.
    Interrupted,
    /// The other host was not heard of any more, and why; the rest as if it had been asked to end.
    Lost(String),
}

/// Cases that were to run and cannot any more, by their keys, and why: of a sweep that is resumed elsewhere.
pub type Unable = HashMap<String, String>;

/// Measures everything that can run and that `done` has not: each round in processes of its own.
///
/// # Errors
/// Only those of `journal`: a case that breaks becomes a row.
pub fn run(
    done: Replay,
    unable: &Unable,
    agents: Agents,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let header = done.header().clone();
    let mut sweep = Sweep {
        header: &header,
        replay: done,
        unable,
        agents,
        interrupt,
        journal,
    };
    let ending = match sweep.rounds() {
        Ok(()) => Ending::Complete,
        Err(End::Unkept(error)) => return Err(error),
        Err(End::Interrupted) => {
            sweep.interrupted(None)?;
            Ending::Interrupted
        }
        Err(End::Lost(reason)) => {
            sweep.interrupted(Some(reason.clone()))?;
            Ending::Lost(reason)
        }
    };
    // They are known from the beginning, and come last: what was measured is what people look for.
    sweep.journal.rows(sweep.replay.skipped())?;
    Ok(ending)
}

struct Sweep<'a> {
    header: &'a Header,
    replay: Replay,
    unable: &'a Unable,
    agents: Agents<'a>,
    interrupt: &'a Interrupt,
    journal: &'a mut dyn Journal,
}

impl Sweep<'_> {
    /// What there is of the cases that are not done.
    fn interrupted(&mut self, lost: Option<String>) -> anyhow::Result<()> {
        let line = Event::Interrupted { lost };
        self.journal.line(&line)?;
        self.replay.take(&line).map_err(anyhow::Error::msg)?;
        self.journal.rows(self.replay.unfinished())
    }

    /// Rounds, until no block needs another one.
    fn rounds(&mut self) -> Result<(), End> {
        let max_time = self.header.schedule.until.map(|until| until.max_time);
        let end = max_time.and_then(|max_time| Instant::now().checked_add(max_time));
        if !self.blocks_of(1).is_empty() {
            self.soak()?;
        }
        for round in 1.. {
            let blocks = self.blocks_of(round);
            if blocks.is_empty() {
                return Ok(());
            }
            self.agents.renew();
            for block in blocks {
                self.block(block, round)?;
                if let Some(by) = self.is_enough(block, round, end) {
                    self.emit(&Event::BlockEnded { block, by })?;
                }
            }
            self.journal.round()?;
        }
        Ok(())
    }

    /// The blocks that are measured in a round, in its order.
    fn blocks_of(&self, round: u32) -> Vec<usize> {
        let schedule = &self.header.schedule;
        let mut blocks = schedule.order_of_blocks(&self.header.plan, round);
        blocks.retain(|&block| !self.replay.has_ended(block));
        blocks
    }

    /// One round of a block, or what is missing of it.
    fn block(&mut self, number: usize, round: u32) -> Result<(), End> {
        let block = &self.header.plan.blocks[number];
        let cases: Vec<(&Case, &Placement)> = block.runnable().collect();
        if cases
            .iter()
            .all(|(case, _)| self.replay.has_window(case, round) || self.replay.has_failed(case))
        {
            return Ok(());
        }
        let warnings = [self.cool_down(number)?, self.agents.warning()];
        for warning in warnings.into_iter().flatten() {
            self.emit(&Event::BlockBegun {
                block: number,
                warning: Some(warning),
            })?;
        }
        if !self.replay.has_begun(number) {
            self.emit(&Event::BlockBegun {
                block: number,
                warning: None,
            })?;
        }
        self.journal.block(block);
        self.fail_the_unable(&cases)?;
        if self.header.schedule.verify {
            self.verify(&cases)?;
        }
        let order = self
            .header
            .schedule
            .order_of_round(number, round, cases.len());
        for (position, place) in (1..).zip(order) {
            let (case, placement) = cases[place];
            if !self.replay.has_failed(case) && !self.replay.has_window(case, round) {
                self.journal
                    .doing(&format!("{}: {}", block.key, case.label()));
                self.window(case, placement, round, position)?;
            }
        }
        Ok(())
    }

    fn fail_the_unable(&mut self, cases: &[(&Case, &Placement)]) -> Result<(), End> {
        for (case, _) in cases {
            let reason = self.unable.get(&case.key());
            if let Some(reason) = reason.filter(|_| !self.replay.has_failed(case)) {
                self.fail(case, 0, reason.clone())?;
            }
        }
        Ok(())
    }

    /// Whether a block needs no more than these rounds, and why.
    fn is_enough(&mut self, number: usize, rounds: u32, end: Option<Instant>) -> Option<EndedBy> {
        let schedule = &self.header.schedule;
        let mut cases: Vec<&Case> = self.header.plan.blocks[number]
            .runnable()
            .map(|(case, _)| case)
            .collect();
        cases.retain(|case| !self.replay.has_failed(case));
        if cases.is_empty() {
            return Some(EndedBy::Rounds);
        }
        // A sweep that is resumed may have begun a further round, which is then finished, too.
        let is_begun = |case: &&Case| self.replay.has_window(case, rounds + 1);
        if rounds < schedule.rounds || cases.iter().any(is_begun) {
            return None;
        }
        let Some(until) = schedule.until else {
            return Some(EndedBy::Rounds);
        };
        let is_over = end.is_some_and(|end| Instant::now() >= end);
        let is_last = is_over || rounds >= Until::MAX_ROUNDS;
        // A look at thousands of rounds takes as long as a window.
        let is_a_look = is_last || rounds == schedule.rounds || rounds % (rounds / 10).max(1) == 0;
        let is_narrow = |row: &Row| row.is_narrow(until.half_width_pct);
        if is_a_look && self.replay.preview(number).iter().all(is_narrow) {
            return Some(EndedBy::Until);
        }
        if is_last {
            return Some(EndedBy::MaxTime);
        }
        self.journal
            .windows_to_come(i64::try_from(cases.len()).unwrap_or_default());
        None
    }

    /// Writes down what happened, and the rows that follow from it.
    fn emit(&mut self, line: &Event) -> Result<(), End> {
        self.journal.line(line)?;
        let rows = self.replay.take(line).map_err(anyhow::Error::msg)?;
        if !rows.is_empty() {
            self.journal.rows(rows)?;
        }
        Ok(())
    }
}
