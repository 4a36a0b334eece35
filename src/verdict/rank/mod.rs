//! Ranks engines by speed and by CPU time, in each group of comparable rows and over all groups, with the uncertainty
//! of each rank.
//!
//! 1. Rows are grouped by machine, then by `RowGroup`. Engines are compared only under the same threads, payload, IP
//!    version, connection and buffers. Repeats from several files are averaged.
//! 2. An engine's place is 1 + the number of engines that are surely better, judged round by round. Without data per
//!    round, "surely better" means that the intervals do not overlap. Ties share a place. An engine without an interval
//!    has no place.
//! 3. Groups of one payload are averaged, groups of different payloads never are: see `Averaged`.
//! 4. The advice follows by technique: [`BoardRanking::answer`].
//!
//! Round trips are ranked apart, at each load: see [`Load`]. Their advice is by load.

mod answer;
mod averaged;
mod choices;
mod commands;
mod estimate;
mod gains;
mod group;
mod limit;
mod rows;
mod standing;
pub mod table;
mod technique;

use std::collections::{BTreeMap, BTreeSet};

pub use self::answer::Answer;
use self::averaged::Averaged;
pub use self::gains::Gain;
use self::group::{Conditions, RowGroup};
use self::rows::{EligibleRows, Overloaded};
pub use self::standing::RankBy;
use self::standing::{Measure, Standing};
pub(crate) use self::technique::Technique;
use crate::data::{Case, LoopbackTrains};
use crate::results::files::Results;
use crate::results::row::{Load, Machine, Network, Row};
use crate::verdict::grouped;
use crate::verdict::quality::Quality;

/// Ranks the engines in `results`, separately for each machine, in the order of the machines' names. A machine has a
/// ranking for throughput and one for round trips.
pub fn rank(results: &[Results]) -> Vec<BoardRanking> {
    let command_line = match results {
        [only] => &only.run.command_line[..],
        _ => &[],
    };
    let rows = results.iter().flat_map(|file| &file.rows);
    let mut boards = Vec::new();
    for (machine, rows) in grouped(rows.map(|row| (Machine::of(row), row))) {
        let loads = Load::of_rows(&rows);
        let all = rows.into_iter().zip(loads);
        let (loaded, others): (Vec<_>, Vec<_>) = all.partition(|(_, load)| load.is_some());
        let some = [others, loaded].into_iter().filter(|rows| !rows.is_empty());
        boards.extend(some.map(|rows| BoardRanking {
            command_line: command_line.to_vec(),
            ..BoardRanking::new(machine.clone(), &rows)
        }));
    }
    boards
}

/// The ranking of one machine.
#[derive(Clone, Debug)]
pub struct BoardRanking {
    /// The machine.
    pub machine: Machine,
    /// The ranking within each group, in the order of the groups.
    pub groups: Vec<GroupRanking>,
    /// The averages over groups with the same [`Conditions`], speed first. Empty if nothing could be averaged.
    averaged: Vec<Averaged>,
    /// The quality of the rows.
    pub quality: Quality,
    /// Remarks on rows that were left out and on rows that may mislead.
    pub remarks: Vec<String>,
    /// The rows that are ranked, by conditions and label.
    rows: BTreeMap<(Conditions, String), Vec<Row>>,
    /// Cases that did not answer the requests of their load.
    overloaded: Vec<Overloaded>,
    /// Words of the command line of the run. Empty: there are several runs, or it is not known.
    command_line: Vec<String>,
    /// True if round trips are ranked, else throughput.
    is_latency: bool,
    /// True if the machine is a virtual one: its host moves CPUs and other guests share caches, for seconds or minutes.
    is_virtual: bool,
}

impl BoardRanking {
    fn new(machine: Machine, rows: &[(&Row, Option<Load>)]) -> Self {
        let eligible = EligibleRows::new(rows);
        let groups = eligible.rankings();
        let ranked = eligible.rows();
        let ranked =
            ranked.map(|(group, row)| ((Conditions::of(&group), row.label()), row.clone()));
        let mut all = rows.iter().map(|(row, _)| *row);
        Self {
            machine,
            averaged: Averaged::all(&groups),
            groups,
            quality: Quality::of(all.clone()),
            remarks: eligible.remarks(),
            rows: grouped(ranked),
            command_line: Vec::new(),
            is_latency: rows.iter().any(|(_, load)| load.is_some()),
            is_virtual: all.any(|row| !row.virtualization.is_empty()),
            overloaded: eligible.overloaded,
        }
    }

    /// Returns the rows that are ranked.
    fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.rows.values().flatten()
    }

    /// Returns the rows of an engine under some conditions.
    fn rows_of(&self, conditions: Conditions, label: &str) -> &[Row] {
        let own = self.rows.get(&(conditions, label.to_owned()));
        own.map_or(&[], Vec::as_slice)
    }

    /// Returns the engines that were measured.
    fn engines(&self) -> BTreeSet<&str> {
        self.rows.keys().map(|(_, label)| label.as_str()).collect()
    }

    /// Returns the engines whose gain is unknown: offload over veth, or over a loopback that does not cut trains, where
    /// the kernel copies even what zero copy sends. Requests are too few for trains.
    fn unknown(&self) -> BTreeSet<&str> {
        if self.is_latency || self.machine.network == Network::Wire {
            return BTreeSet::new();
        }
        let is_unknown = |label: &&str| {
            let case = self.case(label);
            case.loopback != Some(LoopbackTrains::Cut) && Technique::of(case) == Technique::Offload
        };
        self.engines().into_iter().filter(is_unknown).collect()
    }

    /// Returns the engines that keep a CPU busy even when nothing comes. Empty if all that were measured do.
    fn spinning(&self) -> BTreeSet<&str> {
        let (all, none) = (self.engines(), BTreeSet::new());
        let spin = all.iter().copied();
        let spin: BTreeSet<&str> = spin.filter(|it| technique::spins(self.case(it))).collect();
        if spin == all { none } else { spin }
    }

    /// Returns a case with this label. All cases with a label have the same engines and options of engines.
    ///
    /// # Panics
    /// Panics if no ranked row has the label.
    fn case(&self, label: &str) -> &Case {
        let mut all = self.rows.iter();
        let own = all.find(|((_, other), _)| other == label);
        let row = own.and_then(|(_, rows)| rows.first());
        &row.expect("a label of a ranked row").case
    }

    /// Returns the standing by one measure under these conditions.
    fn standing(&self, measure: Measure, conditions: Conditions) -> Option<&Standing> {
        let mut all = self.averaged_by(measure);
        all.find(|one| one.conditions == conditions)
            .map(|one| &one.standing)
    }

    /// Returns the averages by one measure.
    fn averaged_by(&self, measure: Measure) -> impl Iterator<Item = &Averaged> {
        let all = self.averaged.iter();
        all.filter(move |averaged| averaged.standing.measure == measure)
    }

    /// Returns the label of each of the conditions.
    fn labels(&self) -> BTreeMap<Conditions, String> {
        let averaged = self.averaged.iter().map(|one| one.conditions);
        let overloaded = self.overloaded.iter().map(|one| one.conditions);
        let all: Vec<Conditions> = averaged.chain(overloaded).collect();
        Conditions::labels(&all)
    }
}

/// The ranking within one group of rows.
#[derive(Clone, Debug)]
pub struct GroupRanking {
    /// The group.
    pub group: RowGroup,
    /// The standings by speed and by CPU time. A measure that no engine has is absent.
    pub standings: Vec<Standing>,
}

#[cfg(test)]
mod tests;
