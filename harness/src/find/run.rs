//! The course of a search: trial after trial, each in a process of its own.

use std::path::Path;
use std::time::Instant;

use super::log::Event;
use super::{Next, Record};
use crate::data::Sample;
use crate::log::Expected;
use crate::measure::far::Far;
use crate::measure::process::{End, Process};
use crate::measure::sound::possible;
use crate::measure::{NoSample, Trial};
use crate::plan::Settings;
use crate::sys::interrupt::Interrupt;

/// What is told meanwhile. Errors of a journal end the search.
pub trait Journal {
    /// What is about to happen, for the progress display.
    fn doing(&mut self, what: &str);
    /// Something happened.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn event(&mut self, event: &Event) -> anyhow::Result<()>;
    /// A case is over.
    fn case_is_over(&mut self);
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer for each case.
    Complete,
    /// Some cases had no more time.
    OutOfTime,
    /// It was asked to end.
    Interrupted,
    /// The other host was not heard of any more, and why.
    Lost(String),
}

/// Makes the trials that `record` lacks: each in a process of its own that runs `program`. Across a wire, `far` is the other
/// host.
///
/// # Errors
/// Only those of `journal`: a case that breaks is an answer.
pub fn run(
    record: &mut Record,
    (program, far): (Option<&Path>, Option<&mut Far>),
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let root = record.header().settings.root.clone();
    let mut run = Run {
        process: Process::new(program, &root, far),
        record,
        interrupt,
        journal,
    };
    let ending = match run.cases() {
        Ok(ending) => return Ok(ending),
        Err(End::Unkept(error)) => return Err(error),
        Err(End::Interrupted) => Ending::Interrupted,
        Err(End::Lost(reason)) => Ending::Lost(reason),
    };
    run.emit(&Event::Interrupted {})?;
    Ok(ending)
}

struct Run<'a> {
    record: &'a mut Record,
    process: Process<'a>,
    interrupt: &'a Interrupt,
    journal: &'a mut dyn Journal,
}

impl Run<'_> {
    fn cases(&mut self) -> Result<Ending, End> {
        let mut ending = Ending::Complete;
        for case in 0..self.record.cases().len() {
            if self.record.cases()[case].next().is_none() {
                continue;
            }
            let end = Instant::now().checked_add(self.record.header().max_time);
            while let Some(next) = self.record.cases()[case].next() {
                if end.is_some_and(|end| Instant::now() >= end) {
                    ending = Ending::OutOfTime;
                    break;
                }
                self.trial(case, &next)?;
            }
            self.journal.case_is_over();
        }
        Ok(ending)
    }

    fn trial(&mut self, case: usize, next: &Next) -> Result<(), End> {
        self.journal.doing(&next.case.key());
        let mut measured = self.measure(case, next);
        if let Some(reason) = fault(&measured) {
            self.emit(&Event::Repeated { case, reason })?;
            measured = self.measure(case, next);
        }
        if let Some(reason) = fault(&measured) {
            if self.process.has_lost_the_other_host() {
                return Err(End::Lost(reason));
            }
            self.emit(&Event::Failed { case, reason })?;
            return Ok(());
        }
        let sample = Box::new(measured.map_err(|_| End::Interrupted)?);
        Ok(self.emit(&Event::Trial { case, sample })?)
    }

    fn measure(&mut self, case: usize, next: &Next) -> Result<Sample, NoSample> {
        let header = self.record.header();
        let settings = Settings {
            window: next.window,
            ..header.settings.clone()
        };
        let none = || NoSample::Failed(anyhow::anyhow!("it runs nowhere"));
        let placement = self.record.placement(case).ok_or_else(none)?;
        let trial = Trial {
            case: &next.case,
            placement,
            settings: &settings,
            between: header
                .wire
                .as_ref()
                .and_then(|wire| wire.between(&next.case)),
        };
        let expected = Expected {
            case: &next.case,
            engines: header.plan.pair(&next.case),
            placement,
            window: next.window,
        };
        self.process.end();
        let interrupt = self.interrupt;
        let measured = self
            .process
            .at_site(&next.case, |sites| trial.window(sites, interrupt));
        possible(measured, expected)
    }

    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        self.journal.event(event)?;
        self.record.take(event).map_err(anyhow::Error::msg)
    }
}

/// What is wrong with a trial, if anything.
fn fault(measured: &Result<Sample, NoSample>) -> Option<String> {
    match measured {
        Ok(sample) => sample.fault(),
        Err(NoSample::Failed(error)) => Some(format!("{error:#}")),
        Err(NoSample::Interrupted) => None,
    }
}
