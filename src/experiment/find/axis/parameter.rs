//! The parameter that a search chooses, and its grid.

use serde::{Deserialize, Serialize};

use crate::data::{Batch, Case, Payload, ThinkTime, Train};

/// Shortest length of a window, in silences.
pub(super) const PROBES: f64 = 3.2;
/// Relative increase from one payload of the grid to the next.
const PAYLOAD_STEP: f64 = 0.4;

/// Parameter that a search chooses, with its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// `--payload`.
    Payload {
        /// Shortest payload.
        from: Payload,
        /// Longest payload.
        to: Payload,
    },
    /// `--think-time`.
    Silence {
        /// Shortest silence.
        from: ThinkTime,
        /// Longest silence.
        to: ThinkTime,
    },
    /// `--train` of a case that has one, else `--batch`. The case has the highest value.
    Call,
}

impl Parameter {
    /// Returns the name of the parameter in a case.
    pub fn name(self, case: &Case) -> &'static str {
        match self {
            Self::Payload { .. } => "payload",
            Self::Silence { .. } => "silence",
            Self::Call if case.train.is_some() => "train",
            Self::Call => "batch",
        }
    }

    /// Returns the text of a value.
    pub fn text(self, value: u64) -> String {
        match self {
            Self::Silence { .. } => ThinkTime { ns: value }.to_string(),
            _ => value.to_string(),
        }
    }

    /// Returns the datagrams per call of a case.
    pub fn per_call(case: &Case) -> u16 {
        match (case.train, case.batch) {
            (Some(train), _) => train.into(),
            (None, batch) => batch.map_or(1, u16::from),
        }
    }

    /// Returns the case without its datagrams per call.
    pub fn without_call(case: &Case) -> Case {
        let mut case = *case;
        if case.train.take().is_none() {
            case.batch = None;
        }
        case
    }

    /// Returns the case with a value of the parameter. `None`: the parameter cannot have it.
    pub(super) fn set(self, case: &Case, value: u64) -> Option<Case> {
        let mut case = *case;
        let datagrams = u16::try_from(value);
        match self {
            Self::Payload { .. } => {
                case.payload = Payload::try_from(u32::try_from(value).ok()?).ok()?;
            }
            Self::Silence { .. } => case.think_time = Some(ThinkTime { ns: value }),
            Self::Call if case.train.is_some() => {
                case.train = Some(Train::try_from(datagrams.ok()?).ok()?);
            }
            Self::Call => case.batch = Some(Batch::try_from(datagrams.ok()?).ok()?),
        }
        Some(case)
    }

    /// Returns the grid: payloads of which each is 40 % longer than the one before, silences of 1, 2 and 5 in each
    /// decade, or powers of two. Both ends of the range are in it.
    pub(super) fn grid(self, most_per_call: u16) -> Vec<u64> {
        match self {
            Self::Payload { from, to } => {
                growing(u32::from(from).into(), u32::from(to).into(), PAYLOAD_STEP)
            }
            Self::Silence { from, to } => {
                let decades = (0..).map_while(|power| 10_u64.checked_pow(power));
                let all = decades.flat_map(|ten| [1, 2, 5].map(|times| ten.saturating_mul(times)));
                let between = all.take_while(|ns| *ns < to.ns).filter(|ns| *ns > from.ns);
                let below = std::iter::once(from.ns).chain(between);
                below.chain([to.ns]).collect()
            }
            Self::Call => growing(1, most_per_call.into(), 1.0),
        }
    }

    /// Returns the value between two ones that are compared. `None`: there is none, or it is no value of the grid of
    /// silences.
    pub(super) fn middle(self, low: u64, high: u64) -> Option<u64> {
        let is_divisible = matches!(self, Self::Payload { .. }) && high - low > 1;
        is_divisible.then(|| u64::midpoint(low, high))
    }
}

/// Returns values from one to the other, both included, of which each is larger than the one before by a fraction.
fn growing(from: u64, to: u64, by: f64) -> Vec<u64> {
    let grow = |last: &u64| {
        let step = crate::text::digits::whole(by * *last as f64).max(1);
        (*last < to).then(|| (last + step).min(to))
    };
    std::iter::successors(Some(from), grow).collect()
}
