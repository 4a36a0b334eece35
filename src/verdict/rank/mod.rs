//! Which engines are the fastest and the cheapest, setting by setting and over all, and how sure that is.
//!
//! 1. Rows are told apart by machine, and on each machine by [`Setting`]: only what had the same threads,
//!    payload, ip, connection and buffers is held side by side. What several files measured is averaged.
//! 2. An engine's place is one more than the number of engines that are surely better: that were so round by round, or
//!    where rows do not say, whose whole interval is. So those that cannot be told apart share a place. An engine
//!    without an interval has no place.
//! 3. Settings of one payload are averaged, those of several never: see [`Averaged`].
//! 4. What to use follows by technique: [`BoardRanking::answer`].

mod answer;
mod averaged;
mod choices;
mod eligible;
mod estimate;
mod gain;
mod gains;
mod measure;
mod remarks;
pub mod table;
mod technique;

use std::collections::BTreeMap;

pub use self::answer::Answer;
pub use self::averaged::{Averaged, Conditions};
use self::eligible::Field;
pub use self::estimate::Reading;
pub use self::gain::Gain;
pub use self::measure::{By, Measure, Unit};
use crate::data::{BlockKey, Connection};
use crate::results::files::Results;
use crate::results::row::{Machine, Row};
use crate::verdict::quality::Quality;

/// Ranks what was measured, each machine apart.
pub fn rank(results: &[Results]) -> Ranking {
    let mut machines: BTreeMap<Machine, Vec<&Row>> = BTreeMap::new();
    for row in results.iter().flat_map(|file| &file.rows) {
        machines.entry(Machine::of(row)).or_default().push(row);
    }
    let boards = machines.into_iter();
    Ranking {
        boards: boards
            .map(|(machine, rows)| BoardRanking::new(machine, rows))
            .collect(),
    }
}

/// Every machine's ranking.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// In the order of their names.
    pub boards: Vec<BoardRanking>,
}

impl Ranking {
    /// Whether no row could be ranked.
    pub fn is_empty(&self) -> bool {
        self.boards.iter().all(|board| board.settings.is_empty())
    }
}

/// What has to be the same for two engines to be held side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// Threads, payload, ip, and the buffers that were asked for.
    pub block: BlockKey,
    /// Whether the sockets were connected.
    pub connection: Connection,
    /// SO_RCVBUF and SO_SNDBUF as they were granted, in bytes: loss, and so speed, depends on them.
    pub granted: (Option<u64>, Option<u64>),
}

impl Setting {
    fn of(row: &Row) -> Self {
        Self {
            block: row.block(),
            connection: row.connection,
            granted: (row.rcvbuf_bytes, row.sndbuf_bytes),
        }
    }
}

/// The ranking of one machine.
#[derive(Clone, Debug)]
pub struct BoardRanking {
    /// The machine.
    pub machine: Machine,
    /// How many rows were ranked.
    pub rows: usize,
    /// Setting by setting, in their order.
    pub settings: Vec<SettingRanking>,
    /// Over the settings of one payload and the like, by speed first. Empty: there are none.
    pub averaged: Vec<Averaged>,
    /// How far the rows can be believed.
    pub quality: Quality,
    /// Whether any row had a rate to keep to.
    pub is_at_given_rates: bool,
    /// What was left out, and what may mislead.
    pub remarks: Vec<String>,
}

impl BoardRanking {
    fn new(machine: Machine, rows: Vec<&Row>) -> Self {
        let quality = Quality::of(rows.iter().copied());
        let is_at_given_rates = rows.iter().any(|row| row.rate_asked_rps.is_some());
        let field = Field::new(rows);
        let settings = field.rankings();
        let averaged = Measure::ALL.map(|measure| Averaged::each(measure, &settings));
        Self {
            machine,
            rows: field.rows().count(),
            averaged: averaged.into_iter().flatten().collect(),
            quality,
            is_at_given_rates,
            remarks: remarks::of(&field),
            settings,
        }
    }

    /// What to use, how sure that is, and what each technique gains. Every place that gives advice shows that.
    pub fn answer(&self, by: By) -> Answer {
        Answer::of(self, by)
    }

    /// The averages by one measure.
    pub fn averaged_by(&self, measure: Measure) -> impl Iterator<Item = &Averaged> {
        let all = self.averaged.iter();
        all.filter(move |averaged| averaged.standing.measure == measure)
    }

    /// The words for each of the conditions.
    pub fn labels(&self) -> BTreeMap<Conditions, String> {
        let all: Vec<Conditions> = self.averaged.iter().map(|one| one.conditions).collect();
        Conditions::labels(&all)
    }
}

/// The ranking within one setting.
#[derive(Clone, Debug)]
pub struct SettingRanking {
    /// The setting.
    pub setting: Setting,
    /// By speed, then by CPU time; without a measure that no engine has.
    pub standings: Vec<Standing>,
}

/// Engines in their order.
#[derive(Clone, Debug)]
pub struct Standing {
    /// By what.
    pub measure: Measure,
    /// What the values are.
    pub unit: Unit,
    /// The best first.
    pub places: Vec<Place>,
}

/// An engine's place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// One more than the number of engines that are surely better. `None`: it has no interval.
    pub place: Option<usize>,
    /// The row's label: the engine, or both, with what else tells it from others.
    pub engine: String,
    /// Its value, with the uncertainty.
    pub reading: Reading,
    /// Its lowest and its highest value in any setting.
    pub range: (f64, f64),
    /// Datagrams lost, in percent of the sent ones: of several cases the least and the most. `None`: not known.
    pub loss_pct: Option<(f64, f64)>,
}

impl Place {
    /// Whether no engine is known to be better.
    pub fn is_first(&self) -> bool {
        self.place == Some(1)
    }
}

impl Standing {
    fn new(measure: Measure, unit: Unit, places: impl Iterator<Item = Place>) -> Self {
        let mut places: Vec<Place> = places.collect();
        let badness = |place: &Place| match measure {
            Measure::Speed => -place.reading.value(),
            Measure::Cpu => place.reading.value(),
        };
        // Stable: engines of the same value stay in the order of their names.
        places.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
        let readings: Vec<Reading> = places.iter().map(|place| place.reading).collect();
        for place in &mut places {
            let ahead = readings
                .iter()
                .filter(|other| measure.is_ahead(other, &place.reading));
            place.place = place.reading.has_error().then(|| 1 + ahead.count());
        }
        Self {
            measure,
            unit,
            places,
        }
    }

    /// Some of its engines alone: each with the place that it has among them.
    fn of_these(&self, places: &[&Place]) -> Self {
        let places = places.iter().map(|&place| place.clone());
        Self::new(self.measure, self.unit, places)
    }

    /// Those on the first place, which cannot be told apart. None: no engine has an interval.
    pub fn leaders(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.is_first())
    }
}

#[cfg(test)]
mod tests;
