//! What of a log counts: the trials of each case, and what its search makes of them.

use std::time::Duration;

use super::log::Header;
use super::{Next, Search};
use crate::data::{Case, Sample};
use crate::error::UsageError;
use crate::log::{Event, Expected, Log, Of};
use crate::plan::{Planned, Verdict};
use crate::platform::placement::Placement;

/// Processes, sockets, threads, and until nothing moves any more.
const BESIDES: Duration = Duration::from_millis(250);

/// All that is known so far.
#[derive(Clone, Debug)]
pub struct Record {
    header: Header,
    cases: Vec<Searched>,
}

/// What is known of a case.
#[derive(Clone, Debug)]
pub struct Searched {
    /// As it was planned.
    pub case: Case,
    /// Its search.
    pub search: Search,
    /// Why it has none, or no more trials.
    pub refusal: Option<String>,
    /// Trials that were made.
    pub trials: u64,
    /// Trials that were made twice.
    pub repeated: u64,
    /// How long the trials were together.
    pub time: Duration,
}

impl Record {
    /// Nothing has happened yet.
    pub fn new(header: Header) -> Self {
        let searched = |planned: &Planned| Searched {
            case: planned.case,
            search: Search::of(
                header.question,
                planned.case,
                header.plan.pair(&planned.case).sender,
            ),
            refusal: match &planned.verdict {
                Verdict::Run(..) => None,
                Verdict::Skip(reason) => Some(reason.clone()),
            },
            trials: 0,
            repeated: 0,
            time: Duration::ZERO,
        };
        let cases = header.plan.cases().map(searched).collect();
        Self { header, cases }
    }

    /// What a log says.
    ///
    /// # Errors
    /// The line that says what cannot have happened.
    pub fn of(log: Log<Header>) -> Result<Self, UsageError> {
        let mut record = Self::new(log.header);
        for (number, event) in (2..).zip(&log.lines) {
            let taken = record.take(event);
            taken.map_err(|problem| UsageError::file(&log.name, number, &problem))?;
        }
        Ok(record)
    }

    /// What is to be done.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every case, also those that do not run.
    pub fn cases(&self) -> &[Searched] {
        &self.cases
    }

    /// Whether there is nothing left to try.
    pub fn is_complete(&self) -> bool {
        self.cases.iter().all(|case| case.next().is_none())
    }

    /// Whether a case failed, or none can run.
    pub fn has_failed(&self) -> bool {
        let planned = self.header.plan.cases().zip(&self.cases);
        let mut failed = planned.filter(|(planned, _)| planned.runs()).peekable();
        failed.peek().is_none() || failed.any(|(_, case)| case.refusal.is_some())
    }

    /// About how long the search of a case takes.
    pub fn expected_time(&self) -> Duration {
        let besides = self.header.settings.warmup + BESIDES;
        self.header.question.expected_time(besides)
    }

    /// Where the threads of a case run.
    pub(super) fn placement(&self, case: usize) -> Option<&Placement> {
        match &self.header.plan.cases().nth(case)?.verdict {
            Verdict::Run(placement, _) => Some(placement),
            Verdict::Skip(_) => None,
        }
    }

    /// Takes what happened.
    ///
    /// # Errors
    /// Why that cannot have happened.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Window(window) => {
                let searched = window.searched.as_ref().unwrap_or(&window.sample.case);
                self.trial(self.number(searched)?, window.knob, &window.sample)?;
            }
            Event::Repeated { of, .. } => {
                let number = self.number(&of.case)?;
                self.cases[number].repeated += 1;
            }
            Event::Failed { of, reason, .. } => {
                let number = self.number(&of.case)?;
                match of.knob {
                    None => self.cases[number].refusal = Some(reason.clone()),
                    Some(knob) => self.give_up(number, knob, reason)?,
                }
            }
            Event::Interrupted { .. } | Event::Resumed { .. } => {}
            Event::Settled { .. }
            | Event::BlockBegun { .. }
            | Event::Verified(_)
            | Event::BlockEnded { .. } => return Err("it is of a sweep".to_owned()),
        }
        Ok(())
    }

    /// The place of the case with that key, from 0.
    fn number(&self, key: &str) -> Result<usize, String> {
        let number = self.cases.iter().position(|it| it.case.key() == key);
        number.ok_or_else(|| format!("there is no case {key}"))
    }

    /// What the log calls a trial of a case.
    pub(super) fn name(&self, number: usize, knob: Option<usize>) -> Of {
        Of {
            knob,
            ..Of::case(&self.cases[number].case)
        }
    }

    fn give_up(&mut self, number: usize, knob: usize, reason: &str) -> Result<(), String> {
        let is_there = match &mut self.cases[number].search {
            Search::Knob(search) => search.give_up(knob, reason),
            _ => false,
        };
        let none = || format!("there is no setting {knob}");
        is_there.then_some(()).ok_or_else(none)
    }

    fn trial(&mut self, number: usize, knob: Option<usize>, sample: &Sample) -> Result<(), String> {
        let placement = self.placement(number).cloned();
        let plan = self.header.plan.clone();
        let case = &mut self.cases[number];
        let (Some(next), Some(placement)) = (case.next(), placement) else {
            return Err(format!("{}: nothing was left to try", sample.case));
        };
        if sample.case != next.case.key() {
            return Err(format!(
                "{}: {} was to be tried",
                sample.case,
                next.case.key()
            ));
        }
        if knob != case.search.knob() {
            return Err(format!("{}: another setting was to be tried", sample.case));
        }
        let expected = Expected {
            case: &next.case,
            engines: plan.pair(&next.case),
            placement: &placement,
            window: next.window,
        };
        if let Some(problem) = expected.contradiction(sample) {
            return Err(format!("{}: {problem}", sample.case));
        }
        case.search.take(sample);
        case.trials += 1;
        case.time += Duration::from_nanos(sample.window_ns);
        Ok(())
    }
}

impl Searched {
    /// The trial that tells most. `None`: it is found, or there is no way to find it.
    pub fn next(&self) -> Option<Next> {
        if self.refusal.is_some() {
            return None;
        }
        self.search.next()
    }
}
