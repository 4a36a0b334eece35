//! The raw samples: JSON Lines, one for each thing that happened, as soon as it had. Everything that is
//! reported follows from this file: see [`crate::results::replay`].
//!
//! `docs/RESULTS.md` says the same for people who only have the file, `docs/raw.schema.json` for programs.

mod check;
pub(crate) mod counts;
mod header;
mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use self::check::Expected;
pub use self::read::{Log, is_of};
use crate::data::{Case, Sample};
use crate::host::facts::Host;
use crate::plan::{Plan, Schedule, Wire};
use crate::results::row::{EndedBy, Environment};
use crate::term::duration::ns;

/// The only format that is read. Counts up when a reader of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// The first line of a log: what is to be done. It is an object with one key, `KEY`.
pub trait First: Clone + Serialize + DeserializeOwned {
    /// By which a log of this kind is known.
    const KEY: &'static str;
    /// What messages call such a log.
    const WHAT: &'static str;

    /// What about that of a file cannot be, if anything.
    fn contradiction(&self) -> Option<String> {
        None
    }

    /// The line.
    ///
    /// # Errors
    /// When it cannot be made.
    fn line(&self) -> anyhow::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(&BTreeMap::from([(Self::KEY, self)]))?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Any other line: what happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// It is known how long traffic takes to become what it then stays.
    Settled {
        /// The key of the case in which it was found.
        case: String,
        /// The time since the start of the threads.
        #[serde(rename = "after_ns", with = "ns")]
        after: Duration,
    },
    /// A block is measured from now on.
    BlockBegun {
        /// Its place in the plan, from 0.
        block: usize,
        /// What its rows should say about how it began.
        warning: Option<String>,
    },
    /// The window in which the datagrams of a case were looked at is over. It is in no speed.
    Verified(Box<Sample>),
    /// A window is over.
    Window(Box<Window>),
    /// A window could not be measured, or its packet counts did not add up: it is measured once more.
    Repeated {
        /// Of what.
        #[serde(flatten)]
        of: Of,
        /// In which round; 0: there are none.
        round: u32,
        /// Why.
        reason: String,
        /// What was counted, if it was measured. It is in no row.
        sample: Option<Box<Sample>>,
    },
    /// It could not be measured, and is not tried again: a case, or a setting in it.
    Failed {
        /// What.
        #[serde(flatten)]
        of: Of,
        /// In which round; 0: before the first, or there are none.
        round: u32,
        /// Why.
        reason: String,
    },
    /// A block is done: its rows are final.
    BlockEnded {
        /// Its place in the plan, from 0.
        block: usize,
        /// Why no more rounds were measured.
        by: EndedBy,
    },
    /// It ended before it was complete.
    Interrupted {
        /// Why the other host was given up. `None`: a signal ended it.
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
    },
    /// It goes on.
    Resumed {
        /// When, UTC.
        at: String,
        /// The differences that `--force` accepted.
        unlike: Vec<String>,
    },
}

impl Event {
    /// A window of a sweep.
    pub fn window(sample: Sample) -> Self {
        Self::Window(Box::new(sample.into()))
    }
}

/// Which window of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Of {
    /// The key of its case, as it is planned.
    pub case: String,
    /// Of which side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// With which setting of the machine changed, by its number, from 0. Absent: all were as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knob: Option<usize>,
}

impl Of {
    /// A case of a sweep.
    pub fn case(case: &Case) -> Self {
        Self {
            case: case.key(),
            side: None,
            knob: None,
        }
    }
}

/// A window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
    /// The key of the case that is searched. Absent: that of the sample, in which a search chooses something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
    /// Of which side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// See [`Of::knob`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knob: Option<usize>,
    /// What was counted.
    #[serde(flatten)]
    pub sample: Sample,
}

impl From<Sample> for Window {
    fn from(sample: Sample) -> Self {
        Self {
            searched: None,
            side: None,
            knob: None,
            sample,
        }
    }
}

/// One of two that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What was there before.
    A,
    /// What is asked about.
    B,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The other one.
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

/// What all windows of a sweep share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// As it was typed.
    pub command_line: Vec<String>,
    /// When the program started, UTC.
    pub started_at: String,
    /// The board as it was asked for: `auto`, a name or a file.
    pub board_asked: String,
    /// The CPUs as they were asked for (`--pin`). Empty: as the board's profile says.
    pub pin_asked: String,
    /// How the plan is gone through.
    pub schedule: Schedule,
    /// Every case, in blocks, and whether it runs.
    pub plan: Plan,
    /// What all rows share.
    pub environment: Environment,
    /// The machine.
    pub host: Host,
    /// The other one, across a wire. Absent: all threads are on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}
