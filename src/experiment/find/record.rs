//! Keeps the trials of a log: each case with its search. Chooses the next step.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::header::{FindHeader, SearchQuestion};
use super::load_search::LoadDoubt;
use super::names::Names;
use super::turns::Turns;
use super::{NextTrial, Search};
use crate::data::{Case, Sample};
use crate::plan::{Planned, Settings};
use crate::results::log::{Event, Of};
use crate::results::row::Row;
use crate::session::{Experiment, Logged, Step, Trial, Work};
use crate::text::digits::counted;
use crate::trial::spec::TrialSpec;

/// Header and results so far of all searches.
#[derive(Debug)]
pub struct Record {
    /// Header of the log.
    pub header: FindHeader,
    /// Every case, including cases that do not run.
    pub cases: Vec<SearchedCase>,
    turns: Turns,
    /// Number of trials that were made again, by reason.
    pub(super) repeats: BTreeMap<String, u64>,
    /// True if a signal or the loss of the remote host ended the search, and it was not resumed.
    pub is_interrupted: bool,
}

/// One in this many trials that other programs disturbed is enough for a doubt.
const ONE_IN: u64 = 4;
/// Fewer of them say nothing.
const FEWEST: u64 = 3;

/// Results so far of a case.
#[derive(Debug)]
pub struct SearchedCase {
    /// Case from the plan.
    pub case: Case,
    /// Search of the case.
    pub search: Search,
    /// Reason why the case has no search, or no more trials.
    pub refusal: Option<String>,
    /// Number of trials.
    pub trials: u64,
    /// Number of trials that were made again.
    repeated: u64,
    /// Number of them that lost while other programs took the CPUs of their threads.
    disturbed: u64,
    /// Sum of the windows of the trials.
    pub time: Duration,
}

impl Logged for Record {
    type Header = FindHeader;

    fn begin(header: FindHeader) -> Result<Self, String> {
        Ok(Self::new(header))
    }

    fn header(&self) -> &FindHeader {
        &self.header
    }
}

impl Experiment for Record {
    /// Searches case by case, each for at most `max_time`. While a case pauses, others go on.
    fn next(&mut self, now: Instant) -> Option<Step> {
        let cases = self.cases.iter();
        let pauses = cases.map(|case| case.next().map(|_| case.search.pause()));
        let (number, ready) = self.turns.next(now, pauses)?;
        if ready > now {
            let seconds = (ready - now).as_secs_f64().ceil();
            let name = self.names().name(&self.cases[number].case);
            return Some(Step::Wait {
                until: ready,
                told: format!("{name}: both bounds are tried again in {seconds} s"),
            });
        }
        self.step(number, &self.cases[number].next()?)
    }

    fn take(&mut self, event: &Event) -> Result<Vec<Row>, String> {
        match event {
            Event::Window(window) => {
                let searched = window.searched.as_ref().unwrap_or(&window.sample.case);
                self.trial(self.number(searched)?, &window.sample)?;
            }
            Event::Repeated {
                of,
                reason,
                is_disturbed,
                ..
            } => {
                let number = self.number(&of.case)?;
                self.cases[number].repeated += 1;
                self.cases[number].disturbed += u64::from(*is_disturbed);
                *self.repeats.entry(reason.clone()).or_default() += 1;
            }
            Event::Failed { of, reason, .. } => {
                let number = self.number(&of.case)?;
                self.cases[number].refusal = Some(reason.to_string());
            }
            Event::Interrupted { .. } => self.is_interrupted = true,
            Event::Resumed { .. } => self.is_interrupted = false,
            _ => return Err("it is of a sweep".to_owned()),
        }
        Ok(Vec::new())
    }

    fn is_complete(&self) -> bool {
        self.cases.iter().all(|case| case.next().is_none())
    }

    /// Counts in milliseconds. A case that takes longer than expected stays just short of its end.
    fn work(&self) -> Work {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let each = ms(self.expected_time().0 / self.searches().max(1)).max(1);
        let overhead = ms(self.header.trial_overhead());
        let done = |case: &SearchedCase| match case.next() {
            Some(_) => (ms(case.time) + case.trials * overhead).min(each - 1),
            None => each,
        };
        Work {
            done: self.cases.iter().map(done).sum(),
            all: each.saturating_mul(self.cases.len() as u64),
            each: Duration::from_millis(1),
        }
    }

    fn lost_while_disturbed(&self, _trial: &Trial, sample: &Sample, now: Instant) -> bool {
        let current = self.turns.current(now);
        current.is_some_and(|case| self.cases[case].search.lost_while_disturbed(sample))
    }
}

impl Record {
    /// Creates a record without results.
    pub fn new(header: FindHeader) -> Self {
        let searched = |planned: &Planned| {
            let (case, sender) = (planned.case, header.plan.pair(&planned.case).sender);
            SearchedCase {
                case,
                search: Search::of(header.question, case, sender),
                refusal: planned.refusal().map(str::to_owned),
                trials: 0,
                repeated: 0,
                disturbed: 0,
                time: Duration::ZERO,
            }
        };
        let cases: Vec<SearchedCase> = header.plan.cases().map(searched).collect();
        Self {
            turns: Turns::new(cases.len(), header.max_time),
            header,
            cases,
            repeats: BTreeMap::new(),
            is_interrupted: false,
        }
    }

    /// Returns the limiting place of a case. `None`: it is unknown, or it may be the disturbance by other programs or
    /// the CPU that both ends share.
    pub fn limit(&self, case: &SearchedCase) -> Option<&'static str> {
        let is_disturbed = case.doubt().is_some_and(|doubt| doubt.is_disturbance);
        let is_hidden = is_disturbed || self.header.shared_cpu(&case.case).is_some();
        let search = case.search.of_loads().filter(|_| !is_hidden)?;
        search.load_search.limiting_place()
    }

    /// Returns the names of the cases for people.
    pub fn names(&self) -> Names {
        let searched = match self.header.question {
            SearchQuestion::Axis(asked) => Some(asked.parameter),
            _ => None,
        };
        Names::new(self.cases.iter().map(|case| &case.case), searched)
    }

    /// Returns whether a case failed, or no case can run.
    pub fn has_failed(&self) -> bool {
        let planned = self.header.plan.cases().zip(&self.cases);
        let mut failed = planned.filter(|(planned, _)| planned.runs()).peekable();
        failed.peek().is_none() || failed.any(|(_, case)| case.refusal.is_some())
    }

    /// Returns the number of cases that can be searched.
    pub fn searches(&self) -> u32 {
        let cases = self.cases.iter().filter(|case| case.refusal.is_none());
        u32::try_from(cases.count()).unwrap_or(u32::MAX)
    }

    /// Returns the estimated time of all searches, and the time that they take at most.
    pub fn expected_time(&self) -> (Duration, Duration) {
        let searches = self.searches();
        let question = self.header.question;
        let most = self.header.max_time.saturating_mul(searches);
        let time = question.expected_time(searches, self.header.trial_overhead());
        (time.min(most), most)
    }

    /// Returns the number of the case with this key, from 0.
    fn number(&self, key: &str) -> Result<usize, String> {
        let number = self.cases.iter().position(|it| it.case.key() == key);
        number.ok_or_else(|| format!("there is no case {key}"))
    }

    fn trial(&mut self, number: usize, sample: &Sample) -> Result<(), String> {
        let case = &mut self.cases[number];
        let next = case.next().map(|next| next.case.key());
        let next = next.ok_or_else(|| format!("{}: nothing was left to try", sample.case))?;
        if sample.case != next {
            return Err(format!("{}: {next} was to be tried", sample.case));
        }
        case.search.take(sample);
        case.trials += 1;
        case.time += Duration::from_nanos(sample.window_ns);
        Ok(())
    }

    /// Returns the step that makes the next trial of a case.
    fn step(&self, number: usize, next: &NextTrial) -> Option<Step> {
        let header = &self.header;
        let settings = Settings {
            window: next.window,
            ..header.settings.clone()
        };
        let placement = header.plan.cases().nth(number)?.placement()?;
        let spec = TrialSpec::new(&next.case, placement, &settings).over(header.wire.as_ref());
        let cases = self.cases.iter().map(|case| &case.case);
        let name = Names::new(cases, None).name(&next.case);
        Some(Step::Trial(Box::new(Trial {
            of: Of::case(&self.cases[number].case),
            is_alone: true,
            ..Trial::new(&next.case, spec, name)
        })))
    }
}

impl SearchedCase {
    /// Returns the next trial. `None`: the search is over, or cannot go on.
    pub fn next(&self) -> Option<NextTrial> {
        self.search.next().filter(|_| self.refusal.is_none())
    }

    /// Returns the reason why the result may be wrong, if the trials give one.
    pub fn doubt(&self) -> Option<LoadDoubt> {
        let (disturbed, all) = (self.disturbed, self.repeated + self.trials);
        if disturbed >= FEWEST && ONE_IN * disturbed >= all {
            let why = format!(
                "other programs took the CPUs in {disturbed} of {}, which were made again",
                counted(all, "trial")
            );
            return Some(LoadDoubt {
                is_disturbance: true,
                why,
            });
        }
        self.search.of_loads()?.load_search.doubt()
    }
}
