//! State of a rule: its queue or bucket, and the datagrams that it dropped or changed.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::Passage;
use super::datagram::Datagram;
use super::numbers::Numbers;
use super::rate::Bucket;
use super::rules::{Action, Effect, Rule, Which};

/// A datagram that counts, with the facts that rules use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedDatagram<'a> {
    /// The datagram.
    pub(crate) datagram: &'a Datagram,
    /// Number of the datagram in its direction, from 1.
    pub(crate) number: u64,
    /// Time of arrival.
    pub(crate) now: Duration,
    /// Time since the previous counted datagram.
    pub(crate) silence: Duration,
}

/// Effect of a rule on a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The rule dropped the datagram.
    Dropped,
    /// The datagram passes, with a changed [`Passage`].
    Changed,
    /// The rule did nothing.
    Untouched,
}

/// A rule with its state and counts.
#[derive(Debug)]
pub(crate) struct RuleState {
    text: String,
    action: ActionState,
    dropped: u64,
    changed: u64,
    /// Numbers of dropped or changed datagrams. Delays by a queue are not listed.
    numbers: Numbers,
    /// False if there were more ranges of numbers than are kept.
    numbers_complete: bool,
}

/// State of the action of a rule.
#[derive(Debug)]
enum ActionState {
    OnMatch(Which, Effect),
    Queue(Queue),
    Police(Bucket),
}

/// Queue in front of a rate limit.
#[derive(Debug)]
struct Queue {
    bucket: Bucket,
    /// Start times of the waiting datagrams, the next one first.
    starts: VecDeque<Duration>,
    /// Maximum number of waiting datagrams.
    capacity: usize,
}

impl RuleState {
    /// Creates the state of a rule before its first datagram.
    pub(crate) fn new(rule: Rule) -> Self {
        Self {
            text: rule.text,
            action: match rule.action {
                Action::OnMatch(which, effect) => ActionState::OnMatch(which, effect),
                Action::Police { rate, burst } => ActionState::Police(Bucket::new(rate, burst)),
                Action::Limit { rate, queue, burst } => ActionState::Queue(Queue {
                    bucket: Bucket::new(rate, burst),
                    starts: VecDeque::new(),
                    capacity: queue,
                }),
            },
            dropped: 0,
            changed: 0,
            numbers: Numbers::default(),
            numbers_complete: true,
        }
    }

    /// Drops a datagram, or changes how it passes.
    pub(crate) fn apply(&mut self, counted: &CountedDatagram, passage: &mut Passage) -> Outcome {
        let outcome = match &mut self.action {
            ActionState::OnMatch(which, effect) => {
                if which.holds(counted.datagram, counted.number, counted.silence) {
                    effect.change(passage)
                } else {
                    Outcome::Untouched
                }
            }
            ActionState::Queue(queue) => queue.delay(counted, passage),
            ActionState::Police(bucket) => police(bucket, counted),
        };
        let is_listed = match outcome {
            Outcome::Dropped => {
                self.dropped += 1;
                true
            }
            Outcome::Changed => {
                self.changed += 1;
                matches!(self.action, ActionState::OnMatch(..))
            }
            Outcome::Untouched => false,
        };
        if is_listed {
            self.numbers_complete &= self.numbers.push(counted.number);
        }
        outcome
    }

    /// Returns the text of the rule and its counts, for the report.
    pub(crate) fn report(&self) -> Value {
        json!({
            "rule": self.text,
            "dropped": self.dropped,
            "changed": self.changed,
            "numbers": self.numbers.to_string(),
            "numbers_complete": self.numbers_complete,
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
    /// Delays a datagram until the rate allows it, or drops it if the queue is full.
    fn delay(&mut self, counted: &CountedDatagram, passage: &mut Passage) -> Outcome {
        // Not `counted.now`: an earlier queue may have delayed the datagram.
        let now = passage.at;
        while self.starts.front().is_some_and(|start| *start <= now) {
            self.starts.pop_front();
        }
        let start = self.bucket.earliest_start(counted.datagram, now);
        if start > now && self.starts.len() >= self.capacity {
            return Outcome::Dropped;
        }
        self.bucket.take(counted.datagram, start);
        if start == now {
            return Outcome::Untouched;
        }
        self.starts.push_back(start);
        passage.at = start;
        Outcome::Changed
    }
}

/// Drops a datagram that comes before the rate allows it.
fn police(bucket: &mut Bucket, counted: &CountedDatagram) -> Outcome {
    if bucket.earliest_start(counted.datagram, counted.now) > counted.now {
        return Outcome::Dropped;
    }
    bucket.take(counted.datagram, counted.now);
    Outcome::Untouched
}
