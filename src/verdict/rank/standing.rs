//! Engines sorted by a measure, and the columns of a row that it is from.

use super::estimate::Reading;
use crate::data::EngineName;
use crate::results::row::Row;
use crate::verdict::quality::LOSSY_PCT;

/// A measure that engines are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Datagrams received per second; never datagrams sent.
    Speed,
    /// Median round trip of requests, in microseconds.
    RoundTrip,
    /// CPU time of all threads per datagram received.
    Cpu,
}

/// Choice of `--by`: one measure or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RankBy {
    /// Datagrams received per second, or round trips
    Speed,
    /// CPU time per datagram received
    Cpu,
    /// Both
    Both,
}

impl RankBy {
    /// Returns whether this choice includes the measure.
    pub fn includes(self, measure: Measure) -> bool {
        match self {
            Self::Both => true,
            Self::Speed => measure != Measure::Cpu,
            Self::Cpu => measure == Measure::Cpu,
        }
    }
}

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ratio to std on connected sockets in the same round.
    TimesStd,
    /// Datagrams per second, or nanoseconds: used where std was not measured.
    Absolute,
}

impl Measure {
    /// Every measure, in the order of display.
    pub const ALL: [Self; 3] = [Self::Speed, Self::RoundTrip, Self::Cpu];
    /// Largest ratio of two medians of round trips that may be due to the buckets of their histograms. Each median is
    /// known to within 0.4 %.
    const BUCKETS: f64 = 1.008;

    /// Returns whether one value is surely better than the other: see [`Reading::exceeds`].
    pub(super) fn is_ahead(self, one: &Reading, other: &Reading, risk: f64) -> bool {
        match self {
            Self::Speed => one.exceeds(other, risk),
            Self::RoundTrip => {
                other.exceeds(one, risk)
                    && other.value() > Self::BUCKETS * one.value()
                    && one.excludes(other)
                    && other.excludes(one)
            }
            Self::Cpu => other.exceeds(one, risk),
        }
    }

    /// Returns a row's value with its uncertainty. `None` if the row has no positive number.
    pub(super) fn of(self, row: &Row, unit: Unit) -> Option<Reading> {
        let windows = row.counted_windows();
        let (value, scatter) = match (self, unit) {
            (Self::Speed, Unit::TimesStd) => (row.to_std(), row.ratio_sd_pct.zip(row.ratio_pairs)),
            (Self::Speed, Unit::Absolute) => (row.pps(), row.cv_pct.map(|pct| (pct, windows))),
            // Rows have no such ratio.
            (Self::RoundTrip, Unit::TimesStd) => return None,
            (Self::RoundTrip, Unit::Absolute) => (row.p50_us(), None),
            (Self::Cpu, Unit::TimesStd) => {
                let scatter = row.cpu_ratio_sd_pct.zip(row.ratio_pairs);
                (row.cpu_to_std(), scatter)
            }
            (Self::Cpu, Unit::Absolute) => (row.cpu_ns(), None),
        };
        let residual_pct = match self {
            Self::Speed => row.residual_sd_pct,
            Self::RoundTrip => row.residual_rtt_sd_pct,
            Self::Cpu => row.residual_cpu_sd_pct,
        };
        Reading::of(value, scatter, residual_pct.map(|pct| (pct, windows)))
    }
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

/// Returns the lowest and the highest of some losses.
pub(super) fn range(losses: impl IntoIterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    let losses = losses.into_iter();
    losses.reduce(|(low, high), (lower, higher)| (low.min(lower), high.max(higher)))
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

    pub(super) fn of(&self, label: &str) -> Option<&RankedEngine> {
        self.places.iter().find(|place| place.label == label)
    }

    pub(super) fn std(&self) -> Option<&RankedEngine> {
        self.of(EngineName::REFERENCE.as_str())
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
