//! The plan: every case of the matrix, each runnable or skipped with its reason. A pure function of
//! axes, board and host.

mod axes;
mod schedule;
mod verdict;
mod wire;

use serde::{Deserialize, Serialize};

pub use self::axes::Axes;
pub use self::schedule::{Schedule, Settings, Until};
pub use self::verdict::Verdict;
use self::verdict::can_run_nowhere;
pub use self::wire::{Between, LinkEnd, OtherHost, Wire, WireLink};
use crate::data::{BlockKey, Case, EngineName, Pair, Traits};
use crate::engines::{self, Entry};
use crate::host::board::Board;
use crate::host::facts::Host;
use crate::host::placement::{Pin, Placement};

/// The rates at which `udpbench latency` asks, in percent of what clients that wait for each answer reach.
pub const LOADS_PCT: [f64; 3] = [10.0, 50.0, 90.0];

/// What the cases meet.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The machine.
    pub host: &'a Host,
    /// Its profile.
    pub board: &'a Board,
    /// What `--pin` said.
    pub pin: &'a Pin,
    /// Why the kernel cannot be told how to spread flows, if it cannot.
    pub steering_refusal: Option<&'a str>,
    /// The engines that cannot run here, and why.
    pub engine_refusals: &'a [(&'static Entry, String)],
    /// The other host. `None`: all threads are on this one.
    pub there: Option<There<'a>>,
}

/// The other host of cases across a wire.
#[derive(Clone, Copy, Debug)]
pub struct There<'a> {
    /// It, and the ways to it.
    pub wire: &'a Wire,
    /// Its profile.
    pub board: &'a Board,
    /// As of this host.
    pub steering_refusal: Option<&'a str>,
    /// As of this host.
    pub engine_refusals: &'a [(&'static Entry, String)],
}

/// Every case, in blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// What is known of its engines, each once.
    pub engines: Vec<Traits>,
    /// In the order of the axes; the sweep shuffles them.
    pub blocks: Vec<Block>,
}

/// The cases that people hold side by side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// What they have in common.
    pub key: BlockKey,
    /// The reference first, where it is wanted.
    pub cases: Vec<Planned>,
}

/// A case, and whether it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Planned {
    /// The case.
    pub case: Case,
    /// Whether it runs.
    pub verdict: Verdict,
}

impl Plan {
    /// Lays out the matrix.
    pub fn new(axes: &Axes, conditions: &Conditions) -> Self {
        let blocks = axes.blocks().into_iter();
        Self {
            engines: axes.traits(),
            blocks: blocks
                .map(|key| Block::new(key, axes, conditions))
                .collect(),
        }
    }

    /// What is known of the engine of that name, if its cases have it.
    pub fn traits(&self, name: EngineName) -> Option<&Traits> {
        self.engines.iter().find(|traits| traits.name == name)
    }

    /// What is known of the engines of one of its cases.
    pub fn pair(&self, case: &Case) -> Pair<'_> {
        static UNKNOWN: Traits = Traits::PLAIN;
        Pair {
            sender: self.traits(case.sender).unwrap_or(&UNKNOWN),
            receiver: self.traits(case.receiver).unwrap_or(&UNKNOWN),
        }
    }

    /// The same cases, judged by these conditions.
    pub fn judged_again(&self, conditions: &Conditions) -> Self {
        let judge = |planned: &Planned| Planned {
            verdict: Verdict::of(&planned.case, conditions),
            case: planned.case,
        };
        let block = |block: &Block| Block {
            key: block.key,
            cases: block.cases.iter().map(judge).collect(),
        };
        Self {
            engines: self.engines.clone(),
            blocks: self.blocks.iter().map(block).collect(),
        }
    }

    /// Every case with its verdict.
    pub fn cases(&self) -> impl Iterator<Item = &Planned> {
        self.blocks.iter().flat_map(|block| &block.cases)
    }

    /// The cases that run.
    pub fn runnable(&self) -> impl Iterator<Item = &Planned> {
        self.cases().filter(|planned| planned.runs())
    }

    /// The cases that do not run, and why.
    pub fn skipped(&self) -> impl Iterator<Item = (&Case, &str)> {
        self.cases().filter_map(|planned| match &planned.verdict {
            Verdict::Run(..) => None,
            Verdict::Skip(reason) => Some((&planned.case, reason.as_str())),
        })
    }
}

impl Block {
    fn new(key: BlockKey, axes: &Axes, conditions: &Conditions) -> Self {
        let pairs = axes.engines.iter();
        let mut cases: Vec<Case> = pairs
            .flat_map(|&engines| axes.cases(&key, engines))
            .collect();
        if !axes.engines_are_asked {
            cases = those_that_run_somewhere(cases, conditions);
        }
        // Where it was not asked for, the reference comes first; where it was, it stays in its place.
        if let Some(first) = cases.first().filter(|_| axes.reference) {
            let reference = first.reference();
            if !cases.contains(&reference) {
                cases.insert(0, reference);
            }
        }
        let plan = |case| Planned {
            verdict: Verdict::of(&case, conditions),
            case,
        };
        Self {
            key,
            cases: cases.into_iter().map(plan).collect(),
        }
    }
}

/// The cases that make sense; all, where none does: the reason is then the answer.
fn those_that_run_somewhere(cases: Vec<Case>, conditions: &Conditions) -> Vec<Case> {
    let runs = |case: &&Case| {
        engines::of(case).is_ok_and(|pair| can_run_nowhere(case, pair, conditions).is_none())
    };
    let some: Vec<Case> = cases.iter().filter(runs).copied().collect();
    if some.is_empty() { cases } else { some }
}

impl Block {
    /// The cases that run, and where.
    pub fn runnable(&self) -> impl Iterator<Item = (&Case, &Placement)> {
        self.cases
            .iter()
            .filter_map(|planned| match &planned.verdict {
                Verdict::Run(placement, _) => Some((&planned.case, placement)),
                Verdict::Skip(_) => None,
            })
    }
}

impl Planned {
    /// Whether it runs.
    pub fn runs(&self) -> bool {
        matches!(self.verdict, Verdict::Run(..))
    }
}

#[cfg(test)]
mod tests;
