//! What of a log counts: the trials of each case, and what its search makes of them.

use std::time::{Duration, Instant};

use super::log::Header;
use super::{Next, Search};
use crate::data::{Case, Sample};
use crate::host::placement::Placement;
use crate::plan::{Planned, Settings, Verdict};
use crate::results::log::{Event, Expected, Of, Window};
use crate::results::row::Row;
use crate::session::{Experiment, Logged, Step, Trial, Work};
use crate::trial::spec::TrialSpec;

/// Processes, sockets, threads, and until nothing moves any more.
const BESIDES: Duration = Duration::from_millis(250);

/// All that is known so far.
#[derive(Clone, Debug)]
pub struct Record {
    header: Header,
    cases: Vec<Searched>,
    /// Cases that were gone through, of those that this process searches.
    over: usize,
    /// When the time of the case in hand is over.
    end: Option<Instant>,
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

impl Logged for Record {
    type Header = Header;

    fn begin(header: Header) -> Result<Self, String> {
        Ok(Self::new(header))
    }

    fn header(&self) -> &Header {
        self.header()
    }

    fn contradiction(&self, event: &Event) -> Option<String> {
        let Event::Window(window) = event else {
            return None;
        };
        let Window {
            searched, sample, ..
        } = &**window;
        let number = self
            .number(searched.as_ref().unwrap_or(&sample.case))
            .ok()?;
        let next = self.cases[number].next()?;
        let expected = Expected {
            case: &next.case,
            engines: self.header.plan.pair(&next.case),
            placement: self.placement(number)?,
            window: next.window,
        };
        let problem = expected.contradiction(sample)?;
        Some(format!("{}: {problem}", sample.case))
    }
}

impl Experiment for Record {
    /// Case by case, each for as long as it may take.
    fn next(&mut self, now: Instant) -> Option<Step> {
        while self.over < self.cases.len() {
            let next = self.cases[self.over].next();
            if next.is_some() && self.end.is_none() {
                self.end = now.checked_add(self.header.max_time);
            }
            if let Some(next) = next.filter(|_| self.has_time(now)) {
                return self.step(self.over, &next);
            }
            self.over += 1;
            self.end = None;
        }
        None
    }

    fn take(&mut self, event: &Event) -> Result<Vec<Row>, String> {
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
        Ok(Vec::new())
    }

    fn is_complete(&self) -> bool {
        self.cases.iter().all(|case| case.next().is_none())
    }

    /// In milliseconds. A case that takes longer than usual has its end still before it.
    fn work(&self) -> Work {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let each = ms(self.expected_time()).max(1);
        let besides = self.header.settings.warmup + BESIDES;
        let done = |case: &Searched| {
            let trials = u32::try_from(case.trials).unwrap_or(u32::MAX);
            let spent = ms(case.time + besides.saturating_mul(trials));
            match case.next() {
                Some(_) => spent.min(each - 1),
                None => each,
            }
        };
        Work {
            done: self.cases.iter().map(done).sum(),
            all: each.saturating_mul(self.cases.len() as u64),
            each: Duration::from_millis(1),
        }
    }

    fn is_spoilt(&self, _trial: &Trial, sample: &Sample, now: Instant) -> bool {
        let case = self.cases.get(self.over);
        self.has_time(now) && case.is_some_and(|case| case.search.is_spoilt(sample))
    }
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
        Self {
            header,
            cases,
            over: 0,
            end: None,
        }
    }

    /// What is to be done.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every case, also those that do not run.
    pub fn cases(&self) -> &[Searched] {
        &self.cases
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
    fn placement(&self, case: usize) -> Option<&Placement> {
        match &self.header.plan.cases().nth(case)?.verdict {
            Verdict::Run(placement, _) => Some(placement),
            Verdict::Skip(_) => None,
        }
    }

    /// The place of the case with that key, from 0.
    fn number(&self, key: &str) -> Result<usize, String> {
        let number = self.cases.iter().position(|it| it.case.key() == key);
        number.ok_or_else(|| format!("there is no case {key}"))
    }

    /// What the log calls a trial of a case.
    fn name(&self, number: usize, knob: Option<usize>) -> Of {
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

    fn has_time(&self, now: Instant) -> bool {
        self.end.is_none_or(|end| now < end)
    }

    fn trial(&mut self, number: usize, knob: Option<usize>, sample: &Sample) -> Result<(), String> {
        let case = &mut self.cases[number];
        let Some(next) = case.next() else {
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
        case.search.take(sample);
        case.trials += 1;
        case.time += Duration::from_nanos(sample.window_ns);
        Ok(())
    }

    /// The trial of a case that tells most.
    fn step(&self, number: usize, next: &Next) -> Option<Step> {
        let header = &self.header;
        let settings = Settings {
            window: next.window,
            ..header.settings.clone()
        };
        let wire = header.wire.as_ref();
        let between = wire.and_then(|wire| wire.between(&next.case));
        let spec = TrialSpec::new(&next.case, self.placement(number)?, &settings).between(between);
        let tried = self.cases[number].search.knob();
        let knob = tried.and_then(|knob| header.knobs.as_ref()?.tried.get(knob));
        if tried.is_some() && knob.is_none() {
            return Some(Step::Note(Box::new(Event::Failed {
                of: self.name(number, tried),
                round: 0,
                reason: "there is no such setting".to_owned(),
            })));
        }
        let changed = knob.map_or_else(String::new, |knob| format!(" with {}", knob.name.text()));
        Some(Step::Trial(Box::new(Trial {
            of: self.name(number, tried),
            knob: knob.cloned(),
            is_alone: true,
            ..Trial::new(&next.case, spec, next.case.key() + &changed)
        })))
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
