//! The course of a search: trial after trial, each in a process of its own.

use std::time::Instant;

use super::knob::{During, Measured};
use super::{Next, Record};
use crate::data::Sample;
use crate::log::{Event, Expected, Window};
use crate::measure::NoSample;
use crate::measure::agents::{Agents, End};
use crate::measure::sound::possible;
use crate::measure::spec::TrialSpec;
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

/// Makes the trials that `record` lacks: each in processes of its own.
///
/// # Errors
/// Only those of `journal`: a case that breaks is an answer.
pub fn run(
    record: &mut Record,
    agents: Agents,
    interrupt: &Interrupt,
    journal: &mut dyn Journal,
) -> anyhow::Result<Ending> {
    let root = record.header().settings.root.clone();
    let knobs = record.header().knobs.as_ref();
    let knobs = knobs.map_or_else(Vec::new, |knobs| knobs.tried.clone());
    let mut run = Run {
        during: During::new(knobs, &root, interrupt),
        agents,
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
    let lost = match &ending {
        Ending::Lost(reason) => Some(reason.clone()),
        _ => None,
    };
    run.emit(&Event::Interrupted { lost })?;
    Ok(ending)
}

/// A trial that others disturb is made again so often.
const MOST_AGAIN: usize = 2;

struct Run<'a> {
    record: &'a mut Record,
    agents: Agents<'a>,
    during: During<'a>,
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
                self.trial(case, &next, end)?;
            }
            self.journal.case_is_over();
        }
        Ok(ending)
    }

    fn trial(&mut self, case: usize, next: &Next, end: Option<Instant>) -> Result<(), End> {
        let knob = self.record.cases()[case].search.knob();
        let changed = knob.and_then(|knob| self.during.name(knob));
        let changed = changed.map_or_else(String::new, |name| format!(" with {name}"));
        self.journal.doing(&(next.case.key() + &changed));
        let mut measured = self.measure_with(knob, case, next)?;
        for left in (0..MOST_AGAIN).rev() {
            let fault = measured.fault();
            let is_faulty = fault.is_some();
            let Some(reason) = fault.or_else(|| self.spoilt(case, &measured, end)) else {
                break;
            };
            self.emit(&Event::Repeated {
                of: self.record.name(case, knob),
                round: 0,
                reason,
                sample: None,
            })?;
            measured = self.measure_with(knob, case, next)?;
            if is_faulty || left == 0 {
                break;
            }
        }
        if let (Some(knob), Some(reason)) = (knob, measured.fault()) {
            return self.give_up(case, knob, &measured, &reason);
        }
        if let Some(reason) = measured.fault() {
            if self.agents.has_lost_the_other_host(self.interrupt)? {
                return Err(End::Lost(reason));
            }
            self.fail(case, None, reason)?;
            return Ok(());
        }
        let Measured::Trial(Ok(sample)) = measured else {
            return Err(End::Interrupted);
        };
        Ok(self.emit(&Event::Window(Box::new(Window {
            searched: Some(self.record.cases()[case].case.key()),
            knob,
            ..Window::from(*sample)
        })))?)
    }

    /// Why a trial is to be made again although nothing is wrong with it, while there is time.
    fn spoilt(&self, case: usize, measured: &Measured, end: Option<Instant>) -> Option<String> {
        let Measured::Trial(Ok(sample)) = measured else {
            return None;
        };
        let is_time = end.is_none_or(|end| Instant::now() < end);
        let is_spoilt = is_time && self.record.cases()[case].search.is_spoilt(sample);
        is_spoilt.then(|| "it lost while other programs took the CPUs of its threads".to_owned())
    }

    /// With that setting changed meanwhile.
    fn measure_with(
        &mut self,
        knob: Option<usize>,
        case: usize,
        next: &Next,
    ) -> Result<Measured, End> {
        let Some(knob) = knob else {
            let measured = measure(self.record, &mut self.agents, case, next);
            return Ok(Measured::Trial(measured.map(Box::new)));
        };
        let time = self.record.header().settings.warmup + next.window;
        // Beside what the closure borrows.
        let Self {
            during,
            record,
            agents,
            ..
        } = self;
        during.with(knob, time, || measure(record, agents, case, next))
    }

    /// A setting with which no trial can be made is no reason to give up its case. One that cannot be changed cannot be
    /// later, either. Whether the other host was lost by it, the next trial shows: it is as it was.
    fn give_up(
        &mut self,
        case: usize,
        knob: usize,
        measured: &Measured,
        reason: &str,
    ) -> Result<(), End> {
        let last = match measured {
            Measured::NotSet(_) => self.record.cases().len(),
            Measured::Trial(_) => case + 1,
        };
        for case in case..last {
            self.fail(case, Some(knob), reason.to_owned())?;
        }
        Ok(())
    }

    fn fail(&mut self, case: usize, knob: Option<usize>, reason: String) -> anyhow::Result<()> {
        self.emit(&Event::Failed {
            of: self.record.name(case, knob),
            round: 0,
            reason,
        })
    }

    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        self.journal.event(event)?;
        self.record.take(event).map_err(anyhow::Error::msg)
    }
}

fn measure(
    record: &Record,
    agents: &mut Agents,
    case: usize,
    next: &Next,
) -> Result<Sample, NoSample> {
    let header = record.header();
    let settings = Settings {
        window: next.window,
        ..header.settings.clone()
    };
    let none = || NoSample::Failed(anyhow::anyhow!("it runs nowhere"));
    let placement = record.placement(case).ok_or_else(none)?;
    let wire = header.wire.as_ref();
    let between = wire.and_then(|wire| wire.between(&next.case));
    let spec = TrialSpec::new(&next.case, placement, &settings).between(between);
    let expected = Expected {
        case: &next.case,
        engines: header.plan.pair(&next.case),
        placement,
        window: next.window,
    };
    agents.renew();
    possible(agents.run(&spec), expected)
}
