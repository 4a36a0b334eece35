//! Events of the logs of sweeps, searches and comparisons.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::counts;
use crate::data::{Case, Sample};
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
    /// A case, or a setting in it, could not be measured and is not tried again. In a comparison: a window, and later
    /// rounds try again.
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
    /// Returns the event of a window of a sweep.
    pub fn window(sample: Sample) -> Self {
        Self::Window(Box::new(sample.into()))
    }

    /// Returns what cannot be in the counts of its window, if that is in rows.
    pub(crate) fn impossible(&self) -> Option<String> {
        let sample = match self {
            Self::Verified(sample) => sample,
            Self::Window(window) => &window.sample,
            _ => return None,
        };
        let problem = counts::impossible(sample)?;
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

impl From<Sample> for Window {
    fn from(sample: Sample) -> Self {
        Self {
            searched: None,
            side: None,
            tuning: None,
            sample,
        }
    }
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
