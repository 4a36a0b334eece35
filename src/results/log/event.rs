//! Events of the logs of sweeps, searches and comparisons, and the limits of the counts of a window: no sum and no
//! difference of them overflows, whatever a program counted.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Case, Counts, Histogram, Sample};
use crate::results::row::{CaseWarning, EndedBy, Failure};
use crate::sys::power::IdlePower;
use crate::text::duration::ns;

/// A line of a log other than the first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The time that traffic takes to settle was measured.
    Settled {
        /// Key of the case in which it was measured.
        case: String,
        /// Time since the start of the threads.
        #[serde(rename = "after_ns", with = "ns")]
        after: Duration,
    },
    /// The idle power was measured: before the first window, or after the last one.
    IdlePower(IdlePower),
    /// The measurement of a block began.
    BlockBegun {
        /// Index of the block in the plan, from 0.
        block: usize,
        /// Warning about the start of the block, for its rows.
        warning: Option<CaseWarning>,
    },
    /// The verification window of a case ended. It counts in no measured rate.
    Verified(Box<Sample>),
    /// A window ended.
    Window(Box<Window>),
    /// A window could not be measured, or its packet counts did not add up, so it is measured once more.
    Repeated {
        /// The window to measure again.
        #[serde(flatten)]
        of: Of,
        /// Round, from 1. 0: the log has no rounds.
        round: u32,
        /// Reason.
        reason: String,
        /// True if it had no fault, but lost while other programs took the CPUs of its threads. Only in searches.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_disturbed: bool,
        /// Counts of the window, if it was measured. They are in no row.
        sample: Option<Box<Sample>>,
    },
    /// A case, or a setting in it, could not be measured and is not tried again. In a comparison, only this
    /// window failed: later rounds try again.
    Failed {
        /// The case, or the setting in it.
        #[serde(flatten)]
        of: Of,
        /// Round, from 1. 0: before the first round, or the log has no rounds.
        round: u32,
        /// Reason.
        reason: Failure,
        /// Other programs that used CPU time at that moment. Only in comparisons.
        #[serde(skip_serializing_if = "Option::is_none")]
        other_programs: Option<String>,
    },
    /// A block is complete, and its rows are final.
    BlockEnded {
        /// Index of the block in the plan, from 0.
        block: usize,
        /// Reason why no more rounds were measured.
        by: EndedBy,
    },
    /// The run ended before it was complete.
    Interrupted {
        /// Reason why the remote host was given up. `None`: a signal ended the run.
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
    },
    /// The run was resumed.
    Resumed {
        /// Time of the resumption, UTC.
        at: String,
        /// Differences that `--accept-changes` accepted.
        unlike: Vec<String>,
    },
}

impl Event {
    /// Returns what cannot be in the counts of its window, if that is in rows.
    pub(crate) fn impossible(&self) -> Option<String> {
        let sample = match self {
            Self::Verified(sample) => sample,
            Self::Window(window) => &window.sample,
            _ => return None,
        };
        let problem = impossible(sample)?;
        Some(format!("{}: {problem}", sample.case))
    }
}

/// Identification of a window within a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Of {
    /// Key of the case, as planned.
    pub case: String,
    /// Side, in a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Index of the setting of the machine that side B changes, from 0. Absent: none is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<usize>,
}

impl Of {
    /// Identifies a case of a sweep.
    pub fn case(case: &Case) -> Self {
        Self {
            case: case.key(),
            side: None,
            tuning: None,
        }
    }
}

/// A window, and its place in a search or a comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
    /// Key of the case that is searched. Absent: the key of the sample. A search chooses a parameter of the case, so
    /// the two keys differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
    /// Side, in a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Changed setting of the machine: see [`Of::tuning`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<usize>,
    /// Counts of the window.
    pub sample: Sample,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The baseline.
    A,
    /// The candidate.
    B,
}

impl Side {
    /// Both sides.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// Returns the other side.
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// Limit that no counter of a window reaches. 2^53 datagrams are a year at 100 Mpps, and spreadsheets and JSON
/// readers count no further.
const MOST: u64 = 1 << 53;
/// Limit that the sum of all counters of all windows of a case does not reach, so that no sum or difference of them
/// overflows. The largest counters are nanoseconds: 2^60 ns are a year of CPU time on 36 CPUs.
const MOST_IN_ALL: u64 = 1 << 60;
/// Last millisecond of the year 9999, where RFC 3339 ends, as Unix time.
const LAST_MS: u64 = 253_402_300_799_999;
const MOST_THREADS: usize = 4096;

/// Returns the first impossible count of a window, for any case.
fn impossible(sample: &Sample) -> Option<&'static str> {
    let (counts, threads) = (&sample.accounting, &sample.threads);
    let grow =
        follows(counts.at_opening, counts.at_closing) && follows(counts.at_closing, counts.at_end);
    let mut paces = threads.iter().filter_map(|thread| thread.pace);
    let problems = [
        (
            numbers_of(sample).into_iter().any(|count| count >= MOST),
            "a count of 2^53 or more",
        ),
        (sample.window_ns == 0, "a window that was never open"),
        (
            sample.opened_unix_ms > LAST_MS,
            "a window after the year 9999",
        ),
        (
            !(1..=MOST_THREADS).contains(&threads.len()),
            "a window with no threads, or too many",
        ),
        (!grow, "counts that decrease"),
        (
            counts.at_end.refused > counts.at_end.sent,
            "more datagrams refused than sent",
        ),
        (
            !histograms(sample).all(Histogram::is_valid),
            "times in buckets that cannot be",
        ),
        (paces.any(|pace| pace.chain_ns == 0), "a pace of 0 ns"),
    ];
    let found = problems.into_iter().find(|(is_so, _)| *is_so);
    found.map(|(_, problem)| problem)
}

/// Adds the counters of a window to the total of its case. `None`: the total exceeds its limit.
pub(crate) fn added(total: u64, sample: &Sample) -> Option<u64> {
    let all = numbers_of(sample).into_iter();
    let total = all.fold(total, u64::saturating_add);
    (total < MOST_IN_ALL).then_some(total)
}

/// Returns the numbers in a window that are counts of the case: no date, and no counters that other traffic moves and
/// drivers invent.
fn numbers_of(sample: &Sample) -> Vec<u64> {
    let mut window = serde_json::to_value(sample).unwrap_or_default();
    for field in ["opened_unix_ms", "paths"] {
        window[field].take();
    }
    numbers(&window)
}

fn numbers(value: &Value) -> Vec<u64> {
    match value {
        Value::Number(number) => number.as_u64().into_iter().collect(),
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values().flat_map(numbers).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}

fn histograms(sample: &Sample) -> impl Iterator<Item = &Histogram> {
    let round_trips = sample.round_trips.iter();
    let round_trips = round_trips.flat_map(|found| [&found.times, &found.wakeups]);
    let pacing = sample.pacing.iter();
    round_trips.chain(pacing.flat_map(|found| [&found.transmit_gaps, &found.call_end_gaps]))
}

fn follows(before: Counts, after: Counts) -> bool {
    before.sent <= after.sent
        && before.refused <= after.refused
        && before.received <= after.received
        && before.dropped_socket <= after.dropped_socket
}
