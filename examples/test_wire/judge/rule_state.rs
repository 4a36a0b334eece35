//! A rule at work: what it remembers of the datagrams before, and what it has done.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::Passage;
use super::datagram::Datagram;
use super::numbers::Numbers;
use super::rate::Bucket;
use super::rules::{Action, Effect, Rule, Which};

/// A datagram that counts, as rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// It.
    pub(crate) datagram: &'a Datagram,
    /// Its number in its direction, from 1.
    pub(crate) number: u64,
    /// When it came.
    pub(crate) now: Duration,
    /// How long none had come before.
    pub(crate) silence: Duration,
}

/// What a rule did to a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ends here.
    Dropped,
    /// It passes otherwise.
    Changed,
    /// Nothing.
    Untouched,
}

/// A rule, and what it has done.
#[derive(Debug)]
pub(crate) struct RuleState {
    text: String,
    work: Work,
    dropped: u64,
    changed: u64,
    /// Which datagrams it dropped or changed; of a queue only those that it dropped, as all others waited.
    numbers: Numbers,
    has_all_numbers: bool,
}

#[derive(Debug)]
enum Work {
    To(Which, Effect),
    Queue(Queue),
    Police(Bucket),
}

#[derive(Debug)]
struct Queue {
    bucket: Bucket,
    /// When those that wait start, the next one first.
    waiting: VecDeque<Duration>,
    most: usize,
}

impl RuleState {
    /// One that has done nothing yet.
    pub(crate) fn new(rule: Rule) -> Self {
        Self {
            text: rule.text,
            work: match rule.action {
                Action::To(which, effect) => Work::To(which, effect),
                Action::Police { rate, burst } => Work::Police(Bucket::new(rate, burst)),
                Action::Limit { rate, queue, burst } => Work::Queue(Queue {
                    bucket: Bucket::new(rate, burst),
                    waiting: VecDeque::new(),
                    most: queue,
                }),
            },
            dropped: 0,
            changed: 0,
            numbers: Numbers::default(),
            has_all_numbers: true,
        }
    }

    /// Drops a datagram, or changes how it passes.
    pub(crate) fn apply(&mut self, seen: &Seen, passage: &mut Passage) -> Outcome {
        let outcome = match &mut self.work {
            Work::To(which, effect) => {
                if which.holds(seen.datagram, seen.number, seen.silence) {
                    effect.change(passage)
                } else {
                    Outcome::Untouched
                }
            }
            Work::Queue(queue) => queue.take(seen, passage),
            Work::Police(bucket) => police(bucket, seen),
        };
        let is_listed = match outcome {
            Outcome::Dropped => {
                self.dropped += 1;
                true
            }
            Outcome::Changed => {
                self.changed += 1;
                matches!(self.work, Work::To(..))
            }
            Outcome::Untouched => false,
        };
        if is_listed {
            self.has_all_numbers &= self.numbers.push(seen.number);
        }
        outcome
    }

    /// For the report.
    pub(crate) fn report(&self) -> Value {
        json!({
            "rule": self.text,
            "dropped": self.dropped,
            "changed": self.changed,
            "numbers": self.numbers.to_string(),
            "has_all_numbers": self.has_all_numbers,
        })
    }
}

impl Effect {
    fn change(self, passage: &mut Passage) -> Outcome {
        match self {
            Self::Drop => return Outcome::Dropped,
            Self::Duplicate => passage.copies += 1,
            Self::Misdirect => passage.is_misdirected = true,
            Self::Delay(time) => passage.at += time,
            Self::Reorder(others) => passage.behind += others,
        }
        Outcome::Changed
    }
}

impl Queue {
    fn take(&mut self, seen: &Seen, passage: &mut Passage) -> Outcome {
        // It comes from the queue before, if there are several.
        let now = passage.at;
        while self.waiting.front().is_some_and(|start| *start <= now) {
            self.waiting.pop_front();
        }
        let start = self.bucket.starts(seen.datagram, now);
        if start > now && self.waiting.len() >= self.most {
            return Outcome::Dropped;
        }
        self.bucket.take(seen.datagram, start);
        if start == now {
            return Outcome::Untouched;
        }
        self.waiting.push_back(start);
        passage.at = start;
        Outcome::Changed
    }
}

fn police(bucket: &mut Bucket, seen: &Seen) -> Outcome {
    if bucket.starts(seen.datagram, seen.now) > seen.now {
        return Outcome::Dropped;
    }
    bucket.take(seen.datagram, seen.now);
    Outcome::Untouched
}
