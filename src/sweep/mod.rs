//! The sweep: blocks in shuffled order, rounds within a block, cases shuffled within a round.
//!
//! What is compared is measured within seconds of each other, so that drift (heat, neighbours) cancels in
//! the ratio to the reference of the same round; and a block's rows are final when the block is done.

mod case;
mod thermal_settle;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::data::Case;
use crate::log::{Event, Header};
use crate::plan::{Block, Until};
use crate::platform::placement::Placement;
use crate::replay::Replay;
use crate::row::{EndedBy, Row};
use crate::sys::interrupt::{Interrupt, Interrupted};

/// What a sweep tells while it goes on. Errors of a journal end the sweep.
pub trait Journal {
    /// What is about to happen, for the progress display.
    fn doing(&mut self, what: &str);
    /// Something that takes a while and is not measuring, for the screen and for logs of it.
    fn waiting(&mut self, what: &str);
    /// A block is about to be measured.
    fn block(&mut self, block: &Block);
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every case of the plan has its row.
    Complete,
    /// It was asked to end; the blocks that were not begun have no rows.
    Interrupted,
}

/// Cases that were to run and cannot any more, by their keys, and why: of a sweep that is resumed elsewhere.
pub type Unable = HashMap<String, String>;

/// Measures everything that can run and that `done` has not.
///
/// # Errors
/// Only those of `journal`: a case that breaks becomes a row.
pub fn run(
    done: Replay,
    unable: &Unable,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let header = done.header().clone();
    let mut order = header.schedule.order_of_blocks(&header.plan);
    order.retain(|&block| !done.has_ended(block));
    let mut sweep = Sweep {
        header: &header,
        replay: done,
        unable,
        interrupt,
        journal,
    };
    match sweep.blocks(&order) {
        Ok(()) => Ok(Ending::Complete),
        Err(End::Unkept(error)) => Err(error),
        Err(End::Interrupted) => {
            sweep.journal.line(&Event::Interrupted {})?;
            sweep.journal.rows(sweep.replay.unfinished())?;
            Ok(Ending::Interrupted)
        }
    }
}

/// Why a sweep ends before it is complete.
enum End {
    Interrupted,
    /// What was measured cannot be kept.
    Unkept(anyhow::Error),
}

impl From<Interrupted> for End {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        Self::Unkept(error)
    }
}

struct Sweep<'a> {
    header: &'a Header,
    replay: Replay,
    unable: &'a Unable,
    interrupt: &'a Interrupt,
    journal: &'a mut dyn Journal,
}

impl Sweep<'_> {
    fn blocks(&mut self, order: &[usize]) -> Result<(), End> {
        let max_time = self.header.schedule.until.map(|until| until.max_time);
        let end = max_time.and_then(|max_time| Instant::now().checked_add(max_time));
        if let Some(&first) = order.first() {
            self.soak(first)?;
        }
        for (nth, &block) in order.iter().enumerate() {
            // What a block does not use is for those after it.
            let blocks_left = u32::try_from(order.len() - nth).unwrap_or(u32::MAX);
            let share = end.map(|end| end.saturating_duration_since(Instant::now()) / blocks_left);
            self.block(block, share)?;
        }
        Ok(())
    }

    fn block(&mut self, number: usize, share: Option<Duration>) -> Result<(), End> {
        let warning = self.cool_down()?;
        self.emit(&Event::BlockBegun {
            block: number,
            warning,
        })?;
        let block = &self.header.plan.blocks[number];
        self.journal.block(block);
        let cases: Vec<(&Case, &Placement)> = block.runnable().collect();
        for (case, _) in &cases {
            let key = case.key();
            if let Some(reason) = self
                .unable
                .get(&key)
                .filter(|_| !self.replay.has_failed(case))
            {
                self.fail(case, 0, reason.clone())?;
            }
        }
        if self.header.schedule.verify {
            self.verify(&cases)?;
        }
        let deadline = share.and_then(|share| Instant::now().checked_add(share));
        for round in 1.. {
            if let Some(by) = self.is_enough(number, &cases, round - 1, deadline) {
                return self.emit(&Event::BlockEnded { block: number, by });
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
        }
        Ok(())
    }

    /// Whether a block needs no more than these rounds, and why.
    fn is_enough(
        &mut self,
        number: usize,
        cases: &[(&Case, &Placement)],
        rounds: u32,
        deadline: Option<Instant>,
    ) -> Option<EndedBy> {
        let schedule = &self.header.schedule;
        let measured = |(case, _): &&(&Case, &Placement)| !self.replay.has_failed(case);
        let left = cases.iter().filter(measured).count();
        if left == 0 {
            return Some(EndedBy::Rounds);
        }
        // A sweep that is resumed may have begun a further round, which is then finished, too.
        let is_begun = |(case, _): &(&Case, &Placement)| self.replay.has_window(case, rounds + 1);
        if rounds < schedule.rounds || cases.iter().any(is_begun) {
            return None;
        }
        let Some(until) = schedule.until else {
            return Some(EndedBy::Rounds);
        };
        let rows = self.replay.preview(number);
        if rows.iter().all(|row| row.is_narrow(until.half_width_pct)) {
            return Some(EndedBy::Until);
        }
        let is_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over || rounds >= Until::MAX_ROUNDS {
            return Some(EndedBy::MaxTime);
        }
        self.journal
            .windows_to_come(i64::try_from(left).unwrap_or_default());
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
