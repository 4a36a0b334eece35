//! Engines sorted by one measure.

use super::estimate::Reading;
use super::measure::{Measure, Unit};
use crate::data::EngineName;
use crate::verdict::quality::LOSSY_PCT;

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
    /// Datagrams lost, in percent of the datagrams sent: the lowest and the highest of the cases. `None` if unknown.
    pub loss_pct: Option<(f64, f64)>,
}

impl RankedEngine {
    /// Returns whether no engine is surely better.
    pub fn is_first(&self) -> bool {
        self.place == Some(1)
    }

    pub(super) fn is_std(&self) -> bool {
        self.label == EngineName::REFERENCE.as_str()
    }

    pub(super) fn most_lost_pct(&self) -> f64 {
        self.loss_pct.map_or(0.0, |(_, most)| most)
    }

    /// Returns whether an engine lost less than [`LOSSY_PCT`].
    pub(super) fn is_clean(&self) -> bool {
        self.most_lost_pct() < LOSSY_PCT
    }
}

impl Standing {
    /// Sorts the engines. Each pair of equal engines is told apart with the probability `risk`.
    pub(super) fn new(
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
    pub(super) fn of_these(&self, are_among: impl Fn(&RankedEngine) -> bool) -> Self {
        let places = self.places.iter().filter(|place| are_among(place));
        Self::new(self.measure, self.unit, places.cloned(), self.risk)
    }

    /// Returns the engines that tie for first place, and those whose values are before theirs: whoever is named, is not
    /// named before one that was better. Without intervals, that is everyone.
    pub(super) fn leaders(&self) -> &[RankedEngine] {
        let last = self.places.iter().rposition(RankedEngine::is_first);
        &self.places[..last.map_or(self.places.len(), |last| last + 1)]
    }

    pub(super) fn std(&self) -> Option<&RankedEngine> {
        self.places.iter().find(|place| place.is_std())
    }

    /// Returns `Some(true)` if an engine is surely better than std, `Some(false)` if it is surely worse: round by
    /// round, and by the interval of its ratio. `None` if neither is sure, the engine is std, or std was not
    /// measured.
    pub(super) fn surely_other_than_std(&self, place: &RankedEngine) -> Option<bool> {
        let std = self.std().filter(|_| !place.is_std())?;
        let (reading, measure) = (&place.reading, self.measure);
        let has_ratio = self.unit == Unit::TimesStd && reading.interval().is_some();
        let could_be = |is_better| !has_ratio || self.is_beyond_std(reading, is_better);
        if measure.is_ahead(reading, &std.reading, self.risk) {
            could_be(true).then_some(true)
        } else if measure.is_ahead(&std.reading, reading, self.risk) {
            could_be(false).then_some(false)
        } else {
            None
        }
    }

    /// Returns whether the whole interval of a ratio is on one side of std: the better one or the worse one.
    pub(super) fn is_beyond_std(&self, reading: &Reading, is_better: bool) -> bool {
        let interval = reading.interval().filter(|_| self.unit == Unit::TimesStd);
        interval.is_some_and(|(low, high)| {
            if is_better == (self.measure == Measure::Speed) {
                low > 1.0
            } else {
                high < 1.0
            }
        })
    }
}
