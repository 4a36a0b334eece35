//! Validation of the header of a log.

use std::collections::HashSet;

use super::{First, Header};
use crate::data::{Case, EngineName};
use crate::plan::{Block, Decision, Planned};

impl First for Header {
    const KEY: &'static str = "header";
    const WHAT: &'static str = "raw samples of udpbench";

    fn contradiction(&self) -> Option<String> {
        let (schedule, environment) = (&self.schedule, &self.environment);
        if schedule.rounds == 0 {
            return Some("a schedule of 0 rounds".to_owned());
        }
        if schedule.settings.window.is_zero() {
            return Some("a schedule of windows that are never open".to_owned());
        }
        if schedule.seed != environment.seed {
            return Some(format!(
                "the seed is {} in the schedule and {} in the environment",
                schedule.seed, environment.seed
            ));
        }
        let warmup_ms = 1000.0 * schedule.settings.warmup.as_secs_f64();
        // The tolerance allows for rounding, because the value is stored as a decimal number.
        if (warmup_ms - environment.warmup_ms).abs() > 1e-3 * warmup_ms.max(1.0) {
            return Some(format!(
                "the warm-up is {warmup_ms} ms in the schedule and {} ms in the environment",
                environment.warmup_ms
            ));
        }
        if let Some(name) = self.unknown_engine() {
            return Some(format!("the plan does not list the engine {name}"));
        }
        let blocks = self.plan.blocks.iter().enumerate();
        blocks
            .filter_map(|(number, block)| Some((number, wrong_block(block)?)))
            .map(|(number, problem)| format!("block {number}: {problem}"))
            .next()
            .or_else(|| self.repeated_case())
    }
}

impl Header {
    /// Returns the rates of a case in earlier runs, in datagrams received per second.
    pub fn earlier_pps(&self, case: &Case) -> &[f64] {
        let key = case.key();
        let found = self.earlier_runs.iter().find(|runs| runs.case == key);
        found.map_or(&[], |runs| &runs.received_pps)
    }

    fn unknown_engine(&self) -> Option<EngineName> {
        let cases = self.plan.cases().map(|planned| planned.case);
        let mut names = cases.flat_map(|case| [case.sender, case.receiver]);
        names.find(|&name| self.plan.properties(name).is_none())
    }

    fn repeated_case(&self) -> Option<String> {
        let mut seen = HashSet::new();
        let mut keys = self.plan.cases().map(|planned| planned.case.key());
        let key = keys.find(|key| !seen.insert(key.clone()))?;
        Some(format!("the plan has {key} twice"))
    }
}

fn wrong_block(block: &Block) -> Option<String> {
    block.cases.iter().find_map(|planned| {
        let case = &planned.case;
        if case.block() != block.key {
            return Some(format!(
                "its key is {}, but {} belongs to another block",
                block.key,
                case.key()
            ));
        }
        if case.sharing.is_some() != block.key.receivers_share() {
            return Some(format!(
                "{}: a port is shared by two receivers or more",
                case.key()
            ));
        }
        (!is_placed(planned)).then(|| {
            format!(
                "{}: its placement does not have one CPU per thread",
                case.key()
            )
        })
    })
}

fn is_placed(planned: &Planned) -> bool {
    let threads = planned.case.threads;
    let receivers = if threads.is_alone() {
        0
    } else {
        threads.receivers()
    };
    match &planned.verdict {
        Decision::Run(placement, _) => {
            let placed = (placement.senders.len(), placement.receivers.len());
            placed == (threads.senders(), receivers)
        }
        Decision::Skip(_) => true,
    }
}
