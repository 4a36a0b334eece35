//! Selects the rows of one machine to rank, by group and engine, and says which were left out and which may mislead.

use std::collections::BTreeMap;

use super::GroupRanking;
use super::estimate::{RISK, Reading};
use super::group::{Conditions, RowGroup};
use super::standing::{Measure, RankedEngine, Standing, Unit, range};
use crate::data::Duplex;
use crate::engines;
use crate::results::row::{Load, Row, Status};
use crate::text::digits::counted;

/// The rows to rank.
pub(super) struct EligibleRows<'a> {
    groups: BTreeMap<RowGroup, Engines<'a>>,
    /// Reasons for leaving rows out, with the number of rows.
    left_out: BTreeMap<String, usize>,
    /// Cases that did not answer the requests of their load.
    pub(super) overloaded: Vec<Overloaded>,
}

/// A case that did not answer the requests of its load.
#[derive(Clone, Debug)]
pub(super) struct Overloaded {
    pub(super) conditions: Conditions,
    /// The row's label.
    pub(super) engine: String,
    /// Requests that got a response, in percent of those that were due.
    pub(super) answered_pct: f64,
    /// True if the engine kept up at a higher load, so that something else disturbed this measurement.
    pub(super) is_disturbed: bool,
}

/// The rows of each engine: several if several files have the engine.
type Engines<'a> = BTreeMap<String, Vec<&'a Row>>;

impl<'a> EligibleRows<'a> {
    pub(super) fn new(rows: &[(&'a Row, Option<Load>)]) -> Self {
        let mut eligible = Self {
            groups: BTreeMap::new(),
            left_out: BTreeMap::new(),
            overloaded: Vec::new(),
        };
        for &(row, load) in rows {
            let group = RowGroup::new(row, load);
            let answered = row.answered_of_overload_pct().filter(|_| load.is_some());
            if let Some(answered_pct) = answered {
                eligible.overloaded.push(Overloaded {
                    conditions: Conditions::of(&group),
                    engine: row.label(),
                    answered_pct,
                    is_disturbed: rows.iter().any(|(other, _)| other.kept_up_above(row)),
                });
            }
            let engines = eligible.groups.get(&group);
            let beside = engines.and_then(|engines| engines.get(&row.label()));
            let is_there = beside.is_some_and(|rows| rows.iter().any(|it| are_same_run(it, row)));
            let twice = is_there.then(|| "the same run is in several files".to_owned());
            if let Some(why) = obstacle(row, load).or(twice) {
                *eligible.left_out.entry(why).or_default() += 1;
                continue;
            }
            let engines = eligible.groups.entry(group).or_default();
            engines.entry(row.label()).or_default().push(row);
        }
        // Round trips are of interest even if nothing is beside them.
        if rows.iter().all(|(_, load)| load.is_none()) {
            eligible.leave_out_lone_references();
        }
        eligible
    }

    /// Removes groups that have only the reference. If only unconnected cases were requested, the reference is
    /// measured on connected sockets all the same, and has no rival in its group. If it was measured alone, it stays.
    fn leave_out_lone_references(&mut self) {
        if self.rows().all(|(_, row)| row.is_reference()) {
            return;
        }
        let before = self.rows().count();
        self.groups
            .retain(|_, engines| !engines.values().flatten().all(|row| row.is_reference()));
        let lone = before - self.rows().count();
        if lone > 0 {
            let why = "std on connected sockets, with nothing beside it in its group";
            self.left_out.insert(why.to_owned(), lone);
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (RowGroup, &'a Row)> {
        let engines = self.groups.iter();
        engines.flat_map(|(group, engines)| {
            let rows = engines.values().flatten();
            rows.map(|row| (*group, *row))
        })
    }

    pub(super) fn rankings(&self) -> Vec<GroupRanking> {
        let rankings = self.groups.iter().map(|(&group, engines)| {
            let measures = Measure::ALL.into_iter().filter(|measure| match measure {
                // Who keeps a given rate is as fast as all others.
                Measure::Speed => group.asked.is_none() && group.block.rate.is_none(),
                Measure::RoundTrip => group.asked.is_some(),
                Measure::Cpu => true,
            });
            let standings = measures.map(|measure| {
                // Under load, each engine has a block of its own, without a reference.
                let unit = match group.asked {
                    Some(_) => Unit::Absolute,
                    None => unit(measure, engines),
                };
                standing(measure, unit, engines)
            });
            GroupRanking {
                group,
                standings: standings.filter(|one| !one.places.is_empty()).collect(),
            }
        });
        rankings.collect()
    }

    /// Returns the remarks on rows that were left out, and on rows that may mislead.
    pub(super) fn remarks(&self) -> Vec<String> {
        let of_rows = |count: usize, what: String| (count, counted(count, "row") + &what);
        let left_out = self.left_out.iter();
        let left_out = left_out.map(|(why, &count)| of_rows(count, format!(" left out: {why}")));
        let without_ratio = of_rows(self.without_ratio(), WITHOUT_RATIO.to_owned());
        let cases = self.groups.values().flat_map(|engines| engines.values());
        let repeated = cases.filter(|rows| rows.len() > 1).count();
        let cases = counted(repeated, "case");
        let repeated = (repeated, cases + " measured more than once and averaged");
        let all = counted(self.rows().count(), "row");
        let cautions = CAUTIONS.map(|(is_so, what)| {
            let count = self.rows().filter(|(_, row)| is_so(row)).count();
            (count, format!("{count} of {all} {what}"))
        });
        let remarks = left_out.chain([without_ratio, repeated]).chain(cautions);
        let some = remarks.filter(|(count, _)| *count > 0);
        some.map(|(_, remark)| remark).collect()
    }

    /// Returns the number of rows without a ratio to std in groups where others have one. Ratios and speeds cannot be
    /// compared.
    fn without_ratio(&self) -> usize {
        let groups = self.groups.iter();
        let groups = groups.filter(|(group, _)| group.asked.is_none());
        let without = groups.map(|(_, engines)| {
            let unit = unit(Measure::Speed, engines);
            let rows = engines.values().flatten();
            rows.filter(|row| Measure::Speed.of(row, unit).is_none())
                .count()
        });
        without.sum()
    }
}

const WITHOUT_RATIO: &str = " left out: no ratio to std, but others of its group have one";

type Caution = fn(&Row) -> bool;

/// Tests for rows that ask for caution, with their remarks.
const CAUTIONS: [(Caution, &str); 4] = [
    (
        lacks_interval,
        "with a value that has no interval, and no place",
    ),
    (
        |row| row.contaminated_windows.is_some_and(|windows| windows > 0),
        "with contaminated windows (contaminated_windows)",
    ),
    (
        Row::was_throttled,
        "measured on a throttled board (throttled)",
    ),
    (|row| !row.warnings.is_empty(), "with warnings (warnings)"),
];

fn lacks_interval(row: &Row) -> bool {
    let mut readings = Measure::ALL.into_iter().filter_map(|measure| {
        let ratio = measure.of(row, Unit::TimesStd);
        ratio.or_else(|| measure.of(row, Unit::Absolute))
    });
    readings.any(|reading| reading.interval().is_none())
}

/// Returns whether two rows are of the same run, such as one from its CSV and one from its raw samples, or from a
/// file that combines several.
fn are_same_run(one: &Row, other: &Row) -> bool {
    !one.started_at.is_empty() && (one.seed, &one.started_at) == (other.seed, &other.started_at)
}

/// Returns the reason why a row cannot be ranked.
fn obstacle(row: &Row, load: Option<Load>) -> Option<String> {
    if row.status != Status::Ok {
        return Some(row.status.to_string());
    }
    if load.is_none() && !keeps_rate(row) {
        return Some("the given rate was not kept".to_owned());
    }
    if row.duplex == Some(Duplex::Half) {
        return Some("one direction only, measured as the base of ratio_to_half".to_owned());
    }
    for name in [row.case.sender, row.case.receiver] {
        match engines::properties(name) {
            Some(engine) if !engine.moves_datagrams => {
                return Some(format!("{name} moves no datagrams"));
            }
            Some(engine) if engine.starves.is_some() => return Some(format!("{name} may starve")),
            _ => {}
        }
    }
    if load.is_some() {
        let why = match row.answered_of_overload_pct() {
            Some(_) => "overloaded, so no round trips",
            None => "too few requests for a median (rtt_p50_us)",
        };
        let has_median = Measure::RoundTrip.of(row, Unit::Absolute).is_some();
        return (!has_median).then(|| why.to_owned());
    }
    let mut units = [Unit::TimesStd, Unit::Absolute].into_iter();
    let has_speed = units.any(|unit| Measure::Speed.of(row, unit).is_some());
    (!has_speed).then(|| "no speed".to_owned())
}

/// Returns whether the senders kept the rate that was given, if one was.
fn keeps_rate(row: &Row) -> bool {
    /// Share of a rate from which on it counts as kept: a window may lack a batch at each edge.
    const KEPT: f64 = 0.9;
    let asked = row.target_pps.map(|rate| f64::from(u32::from(rate)));
    asked.is_none_or(|asked| row.sent_pps.is_some_and(|sent| sent >= KEPT * asked))
}

/// Returns the loss of a row, if its file has a possible one.
fn loss_pct(row: &Row) -> Option<f64> {
    row.loss_pct.filter(|pct| (0.0..=100.0).contains(pct))
}

/// Returns the unit for comparing the engines of a group: ratios if any row has one.
fn unit(measure: Measure, engines: &Engines) -> Unit {
    let mut rows = engines.values().flatten();
    if rows.any(|row| measure.of(row, Unit::TimesStd).is_some()) {
        Unit::TimesStd
    } else {
        Unit::Absolute
    }
}

fn standing(measure: Measure, unit: Unit, engines: &Engines) -> Standing {
    let readings = engines.iter().filter_map(|(engine, rows)| {
        let readings = rows.iter().filter_map(|row| measure.of(row, unit));
        let reading = Reading::of_repeats(&readings.collect::<Vec<_>>())?;
        let losses = rows.iter().filter_map(|row| loss_pct(row));
        Some(RankedEngine {
            place: None,
            label: engine.clone(),
            reading,
            loss_pct: range(losses.map(|pct| (pct, pct))),
        })
    });
    Standing::new(measure, unit, readings, RISK)
}
