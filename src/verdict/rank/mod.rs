//! Ranks engines by speed and by CPU time, in each group of comparable rows and over all groups, with the uncertainty
//! of each rank.
//!
//! 1. Rows are grouped by machine, then by [`RowGroup`]. Engines are compared only under the same threads, payload, IP
//!    version, connection and buffers. Repeats from several files are averaged.
//! 2. An engine's place is 1 + the number of engines that are surely better, judged round by round. Without data per
//!    round, "surely better" means that the intervals do not overlap. Ties share a place. An engine without an interval
//!    has no place.
//! 3. Groups of one payload are averaged, groups of different payloads never are: see [`Averaged`].
//! 4. The advice follows by technique: [`BoardRanking::answer`].
//!
//! Round trips are ranked apart, at each load: see [`Load`]. Their advice is by load.

mod answer;
mod averaged;
mod bursts;
mod choices;
mod circumstances;
mod commands;
mod eligible;
mod estimate;
mod gain;
mod gains;
mod limit;
mod measure;
mod other_options;
mod remarks;
mod row_group;
mod shared_cpus;
pub mod table;
mod technique;

use std::collections::{BTreeMap, BTreeSet};

pub use self::answer::Answer;
pub use self::averaged::{Averaged, Conditions};
use self::bursts::Gaps;
use self::circumstances::Circumstances;
use self::eligible::EligibleRows;
use self::eligible::{Overloaded, Tails};
pub use self::estimate::Reading;
pub use self::gain::Gain;
use self::limit::{AllReached, Reached};
pub use self::measure::{By, Measure, Unit};
use self::other_options::OtherOptions;
pub(super) use self::other_options::{OptionOfCase, options_of_case};
pub use self::row_group::{Asked, RowGroup};
pub use self::shared_cpus::SharedCpus;
use self::technique::Pair;
pub(crate) use self::technique::Technique;
pub(super) use self::technique::{has_program, options as engine_options};
use crate::data::Case;
use crate::results::files::Results;
use crate::results::row::{Load, Machine, Row};
use crate::verdict::quality::Quality;

/// Ranks the engines in `results`, separately for each machine.
pub fn rank(results: &[Results]) -> Ranking {
    let mut machines: BTreeMap<Machine, Vec<&Row>> = BTreeMap::new();
    for row in results.iter().flat_map(|file| &file.rows) {
        machines.entry(Machine::of(row)).or_default().push(row);
    }
    let mut boards = Vec::new();
    for (machine, rows) in machines {
        let loads = Load::of_rows(&rows);
        let of_kind = |is_loaded: bool| -> Vec<(&Row, Option<Load>)> {
            let all = rows.iter().copied().zip(loads.iter().copied());
            all.filter(|(_, load)| load.is_some() == is_loaded)
                .collect()
        };
        for rows in [of_kind(false), of_kind(true)] {
            if !rows.is_empty() {
                boards.push(BoardRanking::new(machine.clone(), &rows));
            }
        }
    }
    Ranking { boards }
}

/// The rankings of all machines.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The rankings, in the order of the machines' names. A machine has one for throughput and one for round trips.
    pub boards: Vec<BoardRanking>,
}

impl Ranking {
    /// Returns whether no row could be ranked.
    pub fn is_empty(&self) -> bool {
        self.boards.iter().all(|board| board.groups.is_empty())
    }
}

/// The ranking of one machine.
#[derive(Clone, Debug)]
pub struct BoardRanking {
    /// The machine.
    pub machine: Machine,
    /// Number of rows that were ranked.
    pub rows: usize,
    /// The ranking within each group, in the order of the groups.
    pub groups: Vec<GroupRanking>,
    /// The averages over groups with the same [`Conditions`], speed first. Empty if nothing could be averaged.
    pub averaged: Vec<Averaged>,
    /// Cases that did not answer the requests of their load.
    overloaded: Vec<Overloaded>,
    /// The 99th percentiles of round trips.
    tails: Tails,
    /// What is known of engines between two hosts: what kept them from being faster, and the CPUs that they took.
    reached: AllReached,
    /// The time between two datagrams of engines that send at a given rate.
    gaps: Gaps,
    /// Why loopback cuts no trains here. `None`: it does, it was not to, or it is not known.
    whole_trains: Option<String>,
    /// Facts about the rows with round trips, which the advice names. `None` for throughput.
    circumstances: Option<Circumstances>,
    /// The quality of the rows.
    pub quality: Quality,
    /// Rows whose cases were measured in earlier runs.
    earlier: Vec<Earlier>,
    /// Number of rows whose threads lost CPU time to other programs, and of all that were measured.
    disturbed: (usize, usize),
    /// A case of each label. All cases with a label have the same engines and options of engines.
    cases: BTreeMap<String, Case>,
    /// True if values are averaged over several runs.
    has_repeats: bool,
    /// Options of the cases beside engines, threads and payloads.
    other_options: OtherOptions,
    /// True if the machine is a virtual one: its host moves CPUs and other guests share caches, for seconds or minutes.
    is_virtual: bool,
    /// Remarks on rows that were left out and on rows that may mislead.
    pub remarks: Vec<String>,
}

/// Scatter of a case over earlier runs.
#[derive(Clone, Debug)]
struct Earlier {
    /// The row's label.
    engine: String,
    /// Number of earlier runs.
    runs: usize,
    /// Half of the 95 % prediction interval for the rate of the next run, in percent.
    half_pct: f64,
}

impl Earlier {
    fn of(row: &Row) -> Option<Self> {
        Some(Self {
            engine: row.label(),
            runs: row.earlier_runs?,
            half_pct: row.earlier_runs_pct?,
        })
    }
}

impl BoardRanking {
    fn new(machine: Machine, rows: &[(&Row, Option<Load>)]) -> Self {
        let quality = Quality::of(rows.iter().map(|(row, _)| *row));
        let circumstances = Circumstances::of(rows);
        let eligible = EligibleRows::new(rows);
        let groups = eligible.rankings();
        let averaged = Averaged::all(&groups);
        Self {
            machine,
            rows: eligible.rows().count(),
            averaged,
            quality,
            earlier: eligible.rows().filter_map(Earlier::of).collect(),
            disturbed: (
                eligible.rows().filter(|row| row.lost_cpu_time()).count(),
                eligible.rows().count(),
            ),
            cases: eligible.rows().map(|row| (row.label(), row.case)).collect(),
            has_repeats: eligible.has_repeats(),
            other_options: OtherOptions::of(eligible.rows().map(|row| &row.case)),
            is_virtual: rows.iter().any(|(row, _)| !row.virtualization.is_empty()),
            reached: Reached::of_all(eligible.rows()),
            gaps: bursts::gaps(eligible.rows()),
            whole_trains: rows
                .iter()
                .find_map(|(row, _)| row.why_trains_stay_whole().map(str::to_owned)),
            overloaded: eligible.overloaded.clone(),
            tails: eligible.tails.clone(),
            circumstances,
            remarks: remarks::of(&eligible),
            groups,
        }
    }

    /// Returns a case with this label.
    ///
    /// # Panics
    /// Panics if no ranked row has the label.
    fn case(&self, label: &str) -> &Case {
        &self.cases[label]
    }

    /// Returns the senders and receivers of these labels.
    fn pairs(&self, labels: &BTreeSet<&str>) -> BTreeSet<Pair> {
        let cases = labels.iter().map(|label| self.case(label));
        cases.map(|case| (case.sender, case.receiver)).collect()
    }

    /// Returns the advice: the engines to use, the certainty, and the gain of each technique. Every place that gives
    /// advice shows this answer.
    pub fn answer(&self, by: By) -> Answer {
        Answer::of(self, by)
    }

    /// Returns in how many cases other programs took the CPUs. `None`: in half of them or fewer.
    fn disturbed_in_words(&self) -> Option<String> {
        let (disturbed, all) = self.disturbed;
        (2 * disturbed > all).then(|| match all {
            1 => "meanwhile".to_owned(),
            _ => format!("in {disturbed} of {all} cases"),
        })
    }

    /// Returns the remark on what the intervals hold for.
    fn remark_on_intervals(&self) -> String {
        if self.is_virtual {
            return "On a virtual machine, another run may differ, also in who is ahead".to_owned();
        }
        format!("+-% is {}", self.reach_of_intervals())
    }

    /// Returns what the intervals hold for.
    fn reach_of_intervals(&self) -> &'static str {
        if self.has_repeats {
            "over these runs"
        } else {
            "within this run"
        }
    }

    /// Returns the average by one measure under these conditions.
    fn average(&self, measure: Measure, conditions: Conditions) -> Option<&Averaged> {
        let mut all = self.averaged_by(measure);
        all.find(|averaged| averaged.conditions == conditions)
    }

    /// Returns the averages by one measure.
    pub fn averaged_by(&self, measure: Measure) -> impl Iterator<Item = &Averaged> {
        let all = self.averaged.iter();
        all.filter(move |averaged| averaged.standing.measure == measure)
    }

    /// Returns the label of each of the conditions.
    pub fn labels(&self) -> BTreeMap<Conditions, String> {
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

/// Engines sorted by one measure.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The measure that the engines are sorted by.
    pub measure: Measure,
    /// The unit of the values.
    pub unit: Unit,
    /// The engines, the best first.
    pub places: Vec<RankedEngine>,
    /// Probability that two equal engines are told apart.
    risk: f64,
}

/// An engine and its place in a standing.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedEngine {
    /// 1 + the number of engines that are surely better. `None` without an interval.
    pub place: Option<usize>,
    /// The row's label: the engine, or sender and receiver, with the options that tell it from other rows.
    pub label: String,
    /// The engine's value with its uncertainty.
    pub reading: Reading,
    /// The lowest and the highest value in any group.
    pub range: (f64, f64),
    /// Datagrams lost, in percent of the datagrams sent: the lowest and the highest of the cases. `None` if unknown.
    pub loss_pct: Option<(f64, f64)>,
}

impl RankedEngine {
    /// Returns whether no engine is surely better.
    pub fn is_first(&self) -> bool {
        self.place == Some(1)
    }
}

impl Standing {
    /// Sorts the engines. Each pair of equal engines is told apart with the probability `risk`.
    fn new(
        measure: Measure,
        unit: Unit,
        places: impl IntoIterator<Item = RankedEngine>,
        risk: f64,
    ) -> Self {
        let mut places: Vec<RankedEngine> = places.into_iter().collect();
        let badness = |place: &RankedEngine| match measure {
            Measure::Speed => -place.reading.value(),
            Measure::RoundTrip | Measure::Cpu => place.reading.value(),
        };
        // Stable sort: engines of the same value stay in the order of their names.
        places.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
        let readings: Vec<Reading> = places.iter().map(|place| place.reading).collect();
        for place in &mut places {
            let ahead = readings
                .iter()
                .filter(|other| measure.is_ahead(other, &place.reading, risk));
            place.place = place.reading.has_error().then(|| 1 + ahead.count());
        }
        Self {
            measure,
            unit,
            places,
            risk,
        }
    }

    /// Returns a standing of these engines alone, with their places among each other.
    fn of_these(&self, places: &[&RankedEngine]) -> Self {
        let places = places.iter().map(|&place| place.clone());
        Self::new(self.measure, self.unit, places, self.risk)
    }

    /// Returns the engines that tie for first place, and those whose values are between theirs: whoever is named, is not
    /// named before one that was better. Empty if no engine has an interval.
    pub fn leaders(&self) -> impl Iterator<Item = &RankedEngine> {
        let last = self.places.iter().rposition(RankedEngine::is_first);
        let leaders = &self.places[..last.map_or(0, |last| last + 1)];
        leaders.iter().filter(|place| place.place.is_some())
    }
}

/// Returns the engines that were measured, sorted by name.
fn engines(board: &BoardRanking) -> Vec<&str> {
    let places = board.averaged.iter().flat_map(|one| &one.standing.places);
    let ranked = places.map(|place| place.label.as_str());
    let left_out = board.averaged.iter().flat_map(|one| &one.left_out);
    let left_out = left_out.map(|(engine, _)| engine.as_str());
    let all: BTreeSet<&str> = ranked.chain(left_out).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests;
