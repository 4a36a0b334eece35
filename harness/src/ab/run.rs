//! The course of a comparison: rounds of fresh processes, looks at the results, windows that are measured again.

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::judge::{Question, judge};
use super::pairs::runnable;
use super::{Record, Side, order};
use crate::data::Sample;
use crate::log::{Event, Expected, Window};
use crate::measure::NoSample;
use crate::measure::agents::Agents;
use crate::measure::sound::possible;
use crate::measure::spec::TrialSpec;
use crate::row;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// What is told meanwhile. Errors of a journal end the comparison.
pub trait Journal {
    /// What is about to happen, for the progress display.
    fn doing(&mut self, what: &str);
    /// Something happened.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn event(&mut self, event: &Event) -> anyhow::Result<()>;
    /// There are to be so many windows in all.
    fn windows_in_all(&mut self, windows: u64);
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With all its rounds, or with its decision.
    Complete,
    /// With the time that it had.
    OutOfTime,
    /// It was asked to end.
    Interrupted,
}

/// Measures what `record` has not, up to the last round, or up to the look at which each verdict is found.
///
/// # Errors
/// Those of `journal`, programs that cannot be started, and commands that fail. A case that breaks is a verdict.
pub fn run(
    record: &mut Record,
    question: Question,
    sides: Sides,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let mut run = Run {
        record,
        sides,
        interrupt,
        journal,
    };
    match run.looks(question) {
        Ok(ending) => Ok(ending),
        Err(End::Broken(error)) => Err(error),
        Err(End::Interrupted) => {
            run.emit(&Event::Interrupted { lost: None })?;
            Ok(Ending::Interrupted)
        }
    }
}

/// Whether there is nothing left to measure.
pub fn is_complete(record: &Record, question: Question) -> bool {
    let (header, rounds) = (record.header(), record.rounds());
    let is_at_a_look = rounds > 0 && rounds % header.rounds == 0;
    rounds == header.most_rounds() || is_at_a_look && judge(record, question).is_decided()
}

/// Why it ends before it is complete.
enum End {
    Interrupted,
    Broken(anyhow::Error),
}

impl From<Interrupted> for End {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Interrupted>() {
            return Self::Interrupted;
        }
        Self::Broken(error)
    }
}

/// What makes the sides what they are.
pub struct Sides<'a> {
    /// What A's and B's trials run in: processes of their programs.
    pub agents: [Agents<'a>; 2],
    /// Has the machine be that of a side, by its command.
    pub prepare: &'a dyn Fn(Side, &str) -> anyhow::Result<()>,
}

struct Run<'a> {
    record: &'a mut Record,
    sides: Sides<'a>,
    interrupt: &'a Interrupt,
    journal: &'a mut dyn Journal,
}

impl Run<'_> {
    fn looks(&mut self, question: Question) -> Result<Ending, End> {
        let header = self.record.header();
        let (rounds, until) = (header.rounds, header.until);
        let looks = until.map_or(1, |until| until.looks);
        let end = until.and_then(|until| Instant::now().checked_add(until.max_time));
        for look in 1..=looks {
            self.journal
                .windows_in_all(self.windows_up_to(look * rounds));
            for round in (look - 1) * rounds + 1..=look * rounds {
                if end.is_some_and(|end| Instant::now() >= end) {
                    return Ok(Ending::OutOfTime);
                }
                self.round(round)?;
            }
            if judge(self.record, question).is_decided() {
                break;
            }
        }
        Ok(Ending::Complete)
    }

    /// How many windows there are once that many rounds are over.
    fn windows_up_to(&self, rounds: u32) -> u64 {
        let pairs = self.record.pairs();
        let run = (0..pairs.len())
            .filter(|&pair| pairs[pair].refusal().is_none() && !self.record.has_failed(pair));
        2 * u64::from(rounds) * run.count() as u64
    }

    fn round(&mut self, round: u32) -> Result<(), End> {
        self.sides.agents.iter_mut().for_each(Agents::renew);
        let mut position = 0;
        let header = self.record.header();
        for group in order::of_round(header, &self.record.pairs(), round) {
            for side in group.sides {
                let pairs: Vec<usize> = group
                    .pairs
                    .iter()
                    .copied()
                    .filter(|&pair| self.record.is_wanted(pair, round, side))
                    .collect();
                if pairs.is_empty() {
                    continue;
                }
                self.prepare(side)?;
                for pair in pairs {
                    position += 1;
                    self.window(side, pair, round, position)?;
                }
            }
        }
        Ok(())
    }

    /// Has the machine be that of this side.
    fn prepare(&mut self, side: Side) -> Result<(), End> {
        if let Some(command) = &self.record.header().setup(side).before {
            self.journal.doing(&format!("{side}: {command}"));
            let done = (self.sides.prepare)(side, command);
            // Ctrl-C goes to the command, too, which is no failure of it.
            self.interrupt.sleep(Duration::ZERO)?;
            done?;
        }
        Ok(())
    }

    fn window(&mut self, side: Side, pair: usize, round: u32, position: u32) -> Result<(), End> {
        let mut measured = self.measure(side, pair)?;
        let reason = match &measured {
            Ok(sample) => sample.link_fault(),
            Err(NoSample::Failed(reason)) => Some(format!("{reason:#}")),
            Err(NoSample::Interrupted) => None,
        };
        if let Some(reason) = reason {
            self.journal
                .doing(&format!("{side}, measured again: {reason}"));
            self.emit(&Event::Repeated {
                of: self.record.name(side, pair),
                round,
                reason,
                sample: None,
            })?;
            // Whatever was wrong with the process goes with it.
            self.sides.agents[side as usize].renew();
            measured = self.measure(side, pair)?;
        }
        match measured {
            Ok(sample) => self.emit(&Event::Window(Box::new(Window {
                side: Some(side),
                ..Window::from(Sample {
                    round,
                    position,
                    ..sample
                })
            })))?,
            Err(NoSample::Interrupted) => return Err(End::Interrupted),
            Err(NoSample::Failed(error)) => self.emit(&Event::Failed {
                of: self.record.name(side, pair),
                round,
                reason: format!("{error:#}"),
            })?,
        }
        Ok(())
    }

    fn measure(&mut self, side: Side, pair: usize) -> Result<Result<Sample, NoSample>, End> {
        let setup = self.record.header().setup(side);
        let planned = setup.plan.cases().nth(pair).context("a pair of the plan")?;
        let (case, engines, placement) = runnable(setup, planned).context("a case that runs")?;
        self.journal.doing(&format!("{side}: {}", case.key()));
        let spec = TrialSpec::new(case, placement, &setup.settings);
        let expected = Expected {
            case,
            engines,
            placement,
            window: setup.settings.window,
        };
        let measured = self.sides.agents[side as usize].run(&spec);
        Ok(possible(measured, expected).and_then(sound))
    }

    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        self.journal.event(event)?;
        self.record.take(event).map_err(anyhow::Error::msg)
    }
}

/// A window whose packet counts do not add up says nothing, and of nothing there is no ratio.
fn sound(sample: Sample) -> Result<Sample, NoSample> {
    let is_empty = row::received_pps(&sample).is_none_or(|pps| pps <= 0.0);
    let nothing = || is_empty.then(|| "nothing was received in a window".to_owned());
    match sample.fault().or_else(nothing) {
        None => Ok(sample),
        Some(fault) => Err(anyhow!(fault).into()),
    }
}
