//! Decides on each frame in one direction: by the rules, the number of the datagram, the time and the size,
//! and of nothing else. No sockets and no clock are in here, so tests need none.

pub(crate) mod datagram;
mod fragments;
pub(crate) mod held;
mod numbers;
mod rate;
mod rule_state;
pub(crate) mod rules;

use std::time::Duration;

use datagram::{Content, Datagram};
use fragments::Fragments;
use rule_state::{CountedDatagram, Outcome, RuleState};
use rules::{Action, Counted, Direction, Effect, Rules};

/// Judges the frames of one direction.
#[derive(Debug)]
pub(crate) struct Judge {
    counted: Vec<Counted>,
    rules: Vec<RuleState>,
    /// Number of datagrams that have counted.
    number: u64,
    /// When the last one that counted came.
    last: Option<Duration>,
    /// None: of a datagram that does not count.
    fragments: Fragments<Option<Fate>>,
}

/// Kind of a frame, and the decision on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No UDP. It passes.
    Other,
    /// UDP that rules do not look at. It passes.
    Uncounted,
    /// A fragment whose first has not come, or long ago. It passes.
    Stray,
    /// A datagram that counts, or the first fragment of one.
    Datagram(Fate),
    /// A later fragment of such a datagram.
    Fragment(Fate),
}

/// Outcome of a datagram that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A rule drops it.
    Dropped,
    /// A datagram that passes.
    Passes(Passage),
}

/// The way in which a datagram passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When: at once if this is not later than now.
    pub(crate) at: Duration,
    /// After how many others that come later.
    pub(crate) behind: u64,
    /// Number of copies that follow it.
    pub(crate) copies: u32,
    /// True if it goes to a closed port.
    pub(crate) is_misdirected: bool,
}

impl Judge {
    /// With the rules of one direction, [`Direction::NearToFar`] or [`Direction::FarToNear`].
    ///
    /// Datagrams are dropped before anything else is done to them, and held back last; the order of rules that do
    /// the same is as typed.
    pub(crate) fn new(rules: &Rules, direction: Direction) -> Self {
        let holds = |held: &Direction| [direction, Direction::Both].contains(held);
        let own = rules.rules.iter().filter(|rule| holds(&rule.direction));
        let mut own: Vec<_> = own.cloned().collect();
        own.sort_by_key(|rule| stage(&rule.action));
        Self {
            counted: rules.counted.clone(),
            rules: own.into_iter().map(RuleState::new).collect(),
            number: 0,
            last: None,
            fragments: Fragments::new(),
        }
    }

    /// Judges a frame that came at `now`, and rewrites its port where a rule says so.
    pub(crate) fn judge(&mut self, frame: &mut [u8], now: Duration) -> Verdict {
        match datagram::read(frame) {
            Content::Other => Verdict::Other,
            Content::Fragment(of) => match self.fragments.fate(&of) {
                None => Verdict::Stray,
                Some(None) => Verdict::Uncounted,
                Some(Some(fate)) => Verdict::Fragment(fate),
            },
            Content::Datagram(datagram) => {
                let counts = self.counted.iter().all(|counted| counted.holds(&datagram));
                let fate = counts.then(|| self.fate(&datagram, now));
                if let Some(of) = datagram.rest {
                    self.fragments.begin(of, fate);
                }
                if let Some(Fate::Passes(passage)) = fate {
                    if passage.is_misdirected {
                        datagram::misdirect(frame, &datagram);
                    }
                }
                fate.map_or(Verdict::Uncounted, Verdict::Datagram)
            }
        }
    }

    fn fate(&mut self, datagram: &Datagram, now: Duration) -> Fate {
        self.number += 1;
        let silence = self
            .last
            .map_or(Duration::MAX, |last| now.saturating_sub(last));
        self.last = Some(now);
        let counted = CountedDatagram {
            datagram,
            number: self.number,
            now,
            silence,
        };
        let mut passage = Passage {
            at: now,
            ..Passage::default()
        };
        for rule in &mut self.rules {
            if rule.apply(&counted, &mut passage) == Outcome::Dropped {
                return Fate::Dropped;
            }
        }
        Fate::Passes(passage)
    }

    /// Returns the counts of each rule, in the order in which they are applied.
    pub(crate) fn report(&self) -> Vec<serde_json::Value> {
        self.rules.iter().map(RuleState::report).collect()
    }
}

/// Drops first: what is dropped takes nothing of a rate, and is not called late. Delays come after the rate, as the
/// bucket wants its datagrams in the order of time.
fn stage(action: &Action) -> u8 {
    match action {
        Action::OnMatch(_, Effect::Drop) => 0,
        Action::Police { .. } => 1,
        Action::Limit { .. } => 2,
        Action::OnMatch(_, Effect::Misdirect | Effect::Duplicate) => 3,
        Action::OnMatch(_, Effect::Delay(_)) => 4,
        Action::OnMatch(_, Effect::Reorder(_)) => 5,
    }
}

#[cfg(test)]
mod tests;
