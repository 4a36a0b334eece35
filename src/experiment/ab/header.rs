//! First line of the log of a comparison: what to measure.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::tuning::{Setting, Tunings};
use crate::plan::{Plan, Settings, Wire};
use crate::results::log::{Event, Kind, Run, Side};
use crate::results::row::Environment;
use crate::text::duration::ns;

/// Highest number of rounds that can be asked for.
pub const MOST_ROUNDS: u32 = 1000;

/// First line of the log: what to measure, and on which machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Circumstances of the run.
    #[serde(flatten)]
    pub run: Run,
    /// Number of rounds. With [`Header::until`], the number of rounds from one look to the next.
    pub rounds: u32,
    /// Rule for measuring more rounds. `None`: there are no more.
    pub until: Option<Until>,
    /// Seed of the shuffles.
    pub seed: u32,
    /// Setup of side A: the state before the change.
    pub a: Setup,
    /// Setup of side B: the change in question.
    pub b: Setup,
    /// The machine.
    pub environment: Environment,
    /// Settings of the machine, each of which B changes in pairs of its own. Absent: no setting is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunings: Option<Tunings>,
    /// Remote host and its links. Absent: all threads are on one host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

/// Rule to measure more rounds until each pair and each part has a verdict.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Until {
    /// Highest number of looks at the results. All looks share the errors equally.
    pub looks: u32,
    /// Time after which no new round begins.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
}

/// Setup of one side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Program of this side. `None`: this program.
    pub program: Option<String>,
    /// Version that the program reports.
    pub version: String,
    /// Options of this side alone, in the words of the command line.
    pub options: Vec<String>,
    /// Command that puts the machine into the state of this side.
    pub before: Option<String>,
    /// Settings of the windows.
    pub settings: Settings,
    /// Cases of this side.
    pub plan: Plan,
}

impl Setup {
    /// Returns the name of the program.
    pub fn name(&self) -> &str {
        self.program.as_deref().unwrap_or("this udpbench")
    }
}

impl Header {
    /// Returns the setup of a side.
    pub fn setup(&self, side: Side) -> &Setup {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// Returns every value of the machine that B changes.
    pub fn settings(&self) -> Vec<Setting> {
        let tried = self.tunings.iter().flat_map(|it| &it.tried);
        tried.flat_map(|tuning| tuning.settings.clone()).collect()
    }

    /// Returns the highest possible number of rounds.
    pub fn most_rounds(&self) -> u32 {
        let looks = self.until.map_or(1, |until| until.looks);
        self.rounds.saturating_mul(looks)
    }
}

impl Kind for Header {
    type Event = Event;
    const NAME: &'static str = "ab";
    const WHAT: &'static str = "a log of udpbench ab";

    fn impossible(event: &Event) -> Option<String> {
        event.impossible()
    }
}
