//! What of a log counts: the trials of each case, and what its search makes of them.

use std::time::Duration;

use super::log::{Event, Header, Log};
use super::{Next, Search};
use crate::data::{Case, Sample};
use crate::error::UsageError;
use crate::log::Expected;
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
    pub fn of(log: Log) -> Result<Self, UsageError> {
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
            Event::Find(_) => return Err("a second header: one file, one search".to_owned()),
            Event::Trial { case, knob, sample } => self.trial(*case, *knob, sample)?,
            Event::Repeated { case, .. } => self.case(*case)?.repeated += 1,
            Event::Failed { case, reason } => self.case(*case)?.refusal = Some(reason.clone()),
            Event::GivenUp { case, knob, reason } => self.give_up(*case, *knob, reason)?,
            Event::Interrupted {} | Event::Resumed { .. } => {}
        }
        Ok(())
    }

    fn case(&mut self, number: usize) -> Result<&mut Searched, String> {
        let case = self.cases.get_mut(number);
        case.ok_or_else(|| format!("there is no case {number}"))
    }

    fn give_up(&mut self, number: usize, knob: usize, reason: &str) -> Result<(), String> {
        let is_there = match &mut self.case(number)?.search {
            Search::Knob(search) => search.give_up(knob, reason),
            _ => false,
        };
        let none = || format!("there is no setting {knob}");
        is_there.then_some(()).ok_or_else(none)
    }

    fn trial(&mut self, number: usize, knob: Option<usize>, sample: &Sample) -> Result<(), String> {
        let placement = self.placement(number).cloned();
        let plan = self.header.plan.clone();
        let case = self.case(number)?;
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
