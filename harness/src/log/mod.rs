//! The raw samples: JSON Lines, one for each thing that happened, as soon as it had. Everything that is
//! reported follows from this file: see [`crate::replay`].
//!
//! `docs/RESULTS.md` says the same for people who only have the file, `docs/raw.schema.json` for programs.

mod check;
pub(crate) mod counts;
mod header;
mod read;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use self::check::Expected;
pub(crate) use self::read::Kind;
pub use self::read::Log;
use crate::data::Sample;
use crate::duration::ns;
use crate::plan::{Plan, Schedule, Wire};
use crate::platform::host::Host;
use crate::row::{EndedBy, Environment};

/// The only format that is read. Counts up when a reader of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// One line: what happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first line, and only that: what is to be done, and where.
    Header(Box<Header>),
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
    Window(Box<Sample>),
    /// A window could not be measured, or its packet counts did not add up: it is measured once more.
    Repeated {
        /// The key of its case.
        case: String,
        /// In which round.
        round: u32,
        /// Why.
        reason: String,
        /// What was counted, if it was measured. It is in no row.
        sample: Option<Box<Sample>>,
    },
    /// A case could not be measured, and is not tried again.
    Failed {
        /// Its key.
        case: String,
        /// In which round; 0: before the first.
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
    /// The sweep ended before it was complete.
    Interrupted {
        /// Why the other host was given up. `None`: a signal ended the sweep.
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
    },
    /// The sweep goes on.
    Resumed {
        /// When, UTC.
        at: String,
        /// The differences that `--force` accepted.
        unlike: Vec<String>,
    },
}

/// What all windows share.
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
