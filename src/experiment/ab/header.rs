//! First line of the log of a comparison: what to measure, and which case of A is compared with which case of B.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::tuning::{Setting, Tuning, Tunings};
use crate::plan::{Plan, Planned, Settings, Wire};
use crate::results::log::{Event, Kind, Run, Side};
use crate::results::row::Environment;
use crate::text::duration::ns;

/// Highest number of rounds that can be asked for.
pub const MOST_ROUNDS: u32 = 1000;

/// First line of the log: what to measure, and on which machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AbHeader {
    /// Circumstances of the run.
    #[serde(flatten)]
    pub run: Run,
    /// Number of rounds. With [`AbHeader::until`], the number of rounds from one look to the next.
    pub rounds: u32,
    /// Rule for measuring more rounds. `None`: there are no more.
    pub until: Option<Looks>,
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
pub struct Looks {
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

impl AbHeader {
    /// Returns the setup of a side.
    pub fn setup(&self, side: Side) -> &Setup {
        [&self.a, &self.b][side as usize]
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

impl Kind for AbHeader {
    type Event = Event;
    const NAME: &'static str = "ab";
    const WHAT: &'static str = "a log of udpbench ab";

    fn impossible(event: &Event) -> Option<String> {
        event.impossible()
    }
}

/// A case of A and its counterpart in B. The two are equal if both sides have the same options.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Case of A.
    pub a: &'a Planned,
    /// Case of B.
    pub b: &'a Planned,
    /// Setting of the machine that B changes.
    pub tuning: Option<&'a Tuning>,
}

/// Matches the n-th case of A with the n-th case of B: plans list cases in the order of the options. If settings are
/// tried, all cases come once for each setting.
///
/// # Errors
/// Returns an error if the sides have different numbers of cases, or if a case has a rate.
pub fn pairs(header: &AbHeader) -> Result<Vec<Pair<'_>>, String> {
    let AbHeader { a, b, .. } = header;
    let (of_a, of_b) = (a.plan.cases().count(), b.plan.cases().count());
    if of_a != of_b {
        return Err(format!(
            "A has {of_a} cases and B has {of_b}: give both as many values of each option"
        ));
    }
    let mut cases = a.plan.cases().chain(b.plan.cases());
    if let Some(rate) = cases.find_map(|planned| planned.case.rate) {
        return Err(format!(
            "--rate {rate}: at a rate the speed is what was asked for, and so the same on both sides: leave out --rate, \
             or compare round trips of two runs"
        ));
    }
    let with = |tuning| {
        let pairs = a.plan.cases().zip(b.plan.cases());
        pairs.map(move |(a, b)| Pair { a, b, tuning })
    };
    Ok(match &header.tunings {
        None => with(None).collect(),
        Some(tunings) => tunings.tried.iter().map(Some).flat_map(with).collect(),
    })
}

impl<'a> Pair<'a> {
    /// Returns the case of a side.
    pub(super) fn side(&self, side: Side) -> &'a Planned {
        [self.a, self.b][side as usize]
    }

    /// Returns the reason why the pair does not run, or `None`.
    pub fn refusal(&self) -> Option<&str> {
        self.a.refusal().or_else(|| self.b.refusal())
    }

    /// Returns the name of what is judged as one in tables: the engines, or a setting and the workload that it is to
    /// help.
    pub fn label(&self) -> String {
        match self.tuning {
            Some(tuning) => {
                let workload = if self.a.case.is_rr() { "rr" } else { "flood" };
                format!("{}, {workload}", tuning.name.text())
            }
            None => both(self.a.case.label(), &self.b.case.label()),
        }
    }

    /// Returns the key of its case, or both keys if they differ. A setting that is tried follows it.
    pub fn key(&self) -> String {
        let key = both(self.a.case.key(), &self.b.case.key());
        match self.tuning {
            Some(tuning) => format!("{key} with {}", tuning.name.text()),
            None => key,
        }
    }
}

/// Returns one text if both are equal, else both.
fn both(a: String, b: &str) -> String {
    if a == b { a } else { format!("{a} | {b}") }
}
