//! The plan: every case of the matrix, each runnable or skipped with its reason.
//!
//! A pure function of axes, board and host.

mod axes;
mod decision;
mod remarks;
mod schedule;
mod warning;
mod wire;

use serde::{Deserialize, Serialize};

pub use self::axes::{Axes, once_each};
pub use self::decision::Decision;
use self::decision::Question;
pub use self::schedule::{
    Meter, QUIET_ON_A_PATH, REST_SHARE, Schedule, Settings, Until, VERIFYING,
};
pub use self::warning::{Location, PlanWarning};
pub use self::wire::{EndAddresses, LinkEnd, Wire, WireLink};
use crate::data::{BlockKey, Case, EngineName, EnginePair, EngineProperties, LoopbackTrains};
use crate::engines::{Entry, exec};
use crate::host::board::Board;
use crate::host::facts::Host;
use crate::host::placement::{Pin, Placement};

/// Request rates of `udpbench latency`, in percent of the rate that closed-loop clients reach.
pub const LOADS_PCT: [f64; 3] = [10.0, 50.0, 90.0];

/// Facts about the hosts that decide which cases run, and on which CPUs.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The local machine.
    pub host: &'a Host,
    /// Profile of the local machine.
    pub board: &'a Board,
    /// Value of `--pin`.
    pub pin: &'a Pin,
    /// Reason why the kernel cannot be told how to spread flows, if it cannot.
    pub steering_refusal: Option<&'a str>,
    /// Reason why trials can have no loopback of their own, which cuts trains, if they cannot.
    pub loopback_refusal: Option<&'a str>,
    /// Engines that cannot run on this host, each with the reason.
    pub engine_refusals: &'a [(&'static Entry, String)],
    /// The remote host. `None`: all threads are on this host.
    pub remote: Option<Remote<'a>>,
}

/// The remote host of cases across a wire.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'a> {
    /// The remote host, and the links to it.
    pub wire: &'a Wire,
    /// Profile of the remote host.
    pub board: &'a Board,
    /// Reason why its kernel cannot be told how to spread flows, if it cannot.
    pub steering_refusal: Option<&'a str>,
    /// Engines that cannot run on the remote host, each with the reason.
    pub engine_refusals: &'a [(&'static Entry, String)],
}

/// Every case, in blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Properties of the plan's engines, each once.
    pub engines: Vec<EngineProperties>,
    /// Blocks in the order of the axes; the sweep shuffles them.
    pub blocks: Vec<Block>,
}

/// Cases that are compared with each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Parameters that all cases of the block have in common.
    pub key: BlockKey,
    /// The cases; the reference comes first if it is wanted.
    pub cases: Vec<Planned>,
}

/// A case, and the decision to run or to skip it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Planned {
    /// The case.
    pub case: Case,
    /// Decision to run or to skip the case.
    pub verdict: Decision,
}

impl Plan {
    /// Lays out the matrix of cases.
    pub fn new(axes: &Axes, conditions: &Conditions) -> Self {
        let blocks = axes.blocks().into_iter();
        Self {
            engines: axes.properties(),
            blocks: blocks
                .map(|key| Block::new(key, axes, conditions))
                .collect(),
        }
    }

    /// Makes the programs among the engines known to this process, as `--engine exec:PROGRAM` does. For plans of a log.
    ///
    /// # Errors
    /// Fails if this process knows another engine by the name of one of them.
    pub fn add_programs(&self) -> Result<(), String> {
        let programs = self.engines.iter();
        let mut programs = programs.filter_map(|it| Some((it.name, it.executable.as_ref()?)));
        programs.try_for_each(|(name, path)| exec::add(Some(name), path).map(drop))
    }

    /// Returns the first program of a case that cannot be started on the host of its threads, where, and why.
    pub fn missing_program(
        &self,
        conditions: &Conditions,
    ) -> Option<(&'static Entry, &'static str, String)> {
        let mut refused = self.cases().filter_map(|planned| {
            Question::of(&planned.case, conditions)
                .ok()?
                .refused_engine()
        });
        refused.find(|(entry, ..)| entry.executable.is_some())
    }

    /// Returns whether a case that runs needs a loopback of its own, which cuts trains. All cases are then measured on
    /// it, so that they have the same loopback.
    pub fn has_own_loopback(&self) -> bool {
        let mut cases = self.runnable();
        cases.any(|planned| planned.case.loopback == Some(LoopbackTrains::Cut))
    }

    /// Returns the properties of the engine with this name, if the plan has it.
    pub fn properties(&self, name: EngineName) -> Option<&EngineProperties> {
        self.engines.iter().find(|engine| engine.name == name)
    }

    /// Returns the properties of both engines of a case.
    pub fn pair(&self, case: &Case) -> EnginePair<'_> {
        static UNKNOWN: EngineProperties = EngineProperties::PLAIN;
        EnginePair {
            sender: self.properties(case.sender).unwrap_or(&UNKNOWN),
            receiver: self.properties(case.receiver).unwrap_or(&UNKNOWN),
        }
    }

    /// Decides again, under other conditions, which of the same cases run.
    pub fn judged_again(&self, conditions: &Conditions) -> Self {
        let mut plan = self.clone();
        for planned in plan.blocks.iter_mut().flat_map(|it| &mut it.cases) {
            planned.verdict = Decision::of(&planned.case, conditions);
        }
        plan
    }

    /// Iterates over all cases with their verdicts.
    pub fn cases(&self) -> impl Iterator<Item = &Planned> {
        self.blocks.iter().flat_map(|block| &block.cases)
    }

    /// Iterates over the cases that run.
    pub fn runnable(&self) -> impl Iterator<Item = &Planned> {
        self.cases().filter(|planned| planned.runs())
    }

    /// Iterates over the cases that do not run, with the reasons.
    pub fn skipped(&self) -> impl Iterator<Item = (&Case, &str)> {
        let cases = self.cases();
        cases.filter_map(|planned| Some((&planned.case, planned.refusal()?)))
    }
}

impl Block {
    /// Iterates over the cases that run, with the CPUs of their threads.
    pub fn runnable(&self) -> impl Iterator<Item = (&Case, &Placement)> {
        let cases = self.cases.iter();
        cases.filter_map(|planned| Some((&planned.case, planned.placement()?)))
    }

    fn new(key: BlockKey, axes: &Axes, conditions: &Conditions) -> Self {
        let pairs = axes.engines.iter();
        let mut cases: Vec<Case> = pairs
            .flat_map(|&engines| axes.cases(&key, engines))
            .collect();
        let makes_sense = |case: &Case| {
            let question = Question::of(case, conditions);
            question.is_ok_and(|question| question.makes_sense().is_ok())
        };
        // If none makes sense, all stay, for their reasons to be shown.
        if !axes.engines_are_asked && cases.iter().any(makes_sense) {
            cases.retain(makes_sense);
        }
        // A reference that the user did not name comes first; one that the user named stays in its place.
        if let Some(first) = cases.first().filter(|_| axes.reference) {
            let reference = first.reference();
            if !cases.contains(&reference) {
                cases.insert(0, reference);
            }
        }
        let plan = |case| Planned {
            verdict: Decision::of(&case, conditions),
            case,
        };
        Self {
            key,
            cases: cases.into_iter().map(plan).collect(),
        }
    }
}

impl Planned {
    /// Returns a CPU that senders and receivers share. `None`: they share none, or are on two machines.
    pub fn shared_cpu(&self, wire: Option<&Wire>) -> Option<usize> {
        let is_one_machine = wire.is_none_or(|wire| wire.is_one_machine(&self.case));
        self.placement().filter(|_| is_one_machine)?.shared_cpu()
    }

    /// Returns the CPUs of the threads. `None`: the case does not run.
    pub fn placement(&self) -> Option<&Placement> {
        match &self.verdict {
            Decision::Run(placement, _) => Some(placement),
            Decision::Skip(_) => None,
        }
    }

    /// Returns the reason why the case does not run, or `None`.
    pub fn refusal(&self) -> Option<&str> {
        match &self.verdict {
            Decision::Run(..) => None,
            Decision::Skip(reason) => Some(reason),
        }
    }

    /// Returns whether the case runs.
    pub fn runs(&self) -> bool {
        self.placement().is_some()
    }
}

#[cfg(test)]
mod tests;
