//! Which engines are the fastest and the cheapest, setting by setting and over all, and how sure that is.
//!
//! 1. Rows are told apart by machine, and on each machine by [`Setting`]: only what had the same threads,
//!    payload, ip, connection and buffers is held side by side. What several files measured is averaged.
//! 2. An engine's place is one more than the number of engines that are surely better: that were so round by round, or
//!    where rows do not say, whose whole interval is. So those that cannot be told apart share a place. An engine
//!    without an interval has no place.
//! 3. Over all, the geometric means of the same settings are compared, never those of different ones: see
//!    [`OverAll`].

mod eligible;
mod estimate;
mod measure;
mod over_all;
mod recommend;
mod remarks;
pub mod table;

use std::collections::BTreeMap;

use self::eligible::Field;
pub use self::estimate::Reading;
pub use self::measure::{By, Measure, Unit};
pub use self::over_all::OverAll;
use crate::data::{BlockKey, Connection};
use crate::results::Results;
use crate::row::{Machine, Row};

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
    /// Over all settings, the speed first. Empty: there are none.
    pub over_all: Vec<OverAll>,
    /// What was left out, and what may mislead.
    pub remarks: Vec<String>,
}

impl BoardRanking {
    fn new(machine: Machine, rows: Vec<&Row>) -> Self {
        let field = Field::new(rows);
        let settings = field.rankings();
        let over_all = Measure::ALL.map(|measure| OverAll::new(measure, &settings));
        Self {
            machine,
            rows: field.rows().count(),
            over_all: over_all.into_iter().flatten().collect(),
            remarks: remarks::of(&field),
            settings,
        }
    }

    /// What to use, and how sure that is: one sentence.
    pub fn recommendation(&self, by: By) -> String {
        format!("{}.", self.claims(by).join("; "))
    }

    /// The parts of that sentence: the fastest, the cheapest, and what speaks against them.
    pub fn claims(&self, by: By) -> Vec<String> {
        recommend::claims(self, by)
    }

    fn over_all_by(&self, measure: Measure) -> Option<&OverAll> {
        let mut all = self.over_all.iter();
        all.find(|over_all| over_all.standing.measure == measure)
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
    /// Datagrams lost, in percent of the sent ones; of several cases the most. `None`: not known.
    pub loss_pct: Option<f64>,
}

impl Place {
    /// Whether no engine is known to be better.
    pub fn is_first(&self) -> bool {
        self.place == Some(1)
    }
}

impl Standing {
    fn new(
        measure: Measure,
        unit: Unit,
        readings: impl Iterator<Item = (String, Reading, Option<f64>)>,
    ) -> Self {
        let mut places: Vec<Place> = readings
            .map(|(engine, reading, loss_pct)| Place {
                place: None,
                engine,
                reading,
                loss_pct,
            })
            .collect();
        let badness = |place: &Place| match measure {
            Measure::Speed => -place.reading.value(),
            Measure::Cpu => place.reading.value(),
        };
        // Stable: engines of the same value stay in the order of their names.
        places.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
        let readings: Vec<Reading> = places.iter().map(|place| place.reading).collect();
        for place in places.iter_mut().filter(|place| place.reading.has_error()) {
            let ahead = readings
                .iter()
                .filter(|other| measure.is_ahead(other, &place.reading));
            place.place = Some(1 + ahead.count());
        }
        Self {
            measure,
            unit,
            places,
        }
    }

    /// Those on the first place, which cannot be told apart. None: no engine has an interval.
    pub fn leaders(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.is_first())
    }
}

#[cfg(test)]
mod tests;
