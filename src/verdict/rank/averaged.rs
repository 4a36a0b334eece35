//! Averages engines over several groups: geometric means over the same groups for all engines.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::GroupRanking;
use super::estimate::{RISK, Reading};
use super::group::{Conditions, RowGroup};
use super::standing::{Measure, RankedEngine, Standing, Unit};
use crate::data::BlockKey;

/// The engines, averaged over all groups with the same conditions.
///
/// Means over different groups cannot be compared, so only groups count in which every engine was measured. If at
/// most half of all groups remain, the engine with the fewest groups is left out, repeatedly, until more than
/// half remain.
#[derive(Clone, Debug)]
pub(super) struct Averaged {
    /// The conditions that these groups have in common.
    pub(super) conditions: Conditions,
    /// The engines that were measured in all of these groups.
    pub(super) standing: Standing,
    /// Number of groups that are averaged.
    pub(super) groups: usize,
    /// Number of groups with these conditions.
    pub(super) of: usize,
    /// The engines left out.
    pub(super) left_out: Vec<String>,
}

/// Each group with its engines and their places.
type Cells<'a> = BTreeMap<RowGroup, BTreeMap<&'a str, &'a RankedEngine>>;

impl Averaged {
    /// Averages the groups that have the same conditions, in the order of the measures and the conditions.
    pub(super) fn all(groups: &[GroupRanking]) -> Vec<Self> {
        let mut alike: BTreeMap<Conditions, Vec<&GroupRanking>> = BTreeMap::new();
        for ranking in groups {
            let conditions = Conditions::of(&ranking.group);
            alike.entry(conditions).or_default().push(ranking);
        }
        let of = |measure| {
            let alike = alike.iter();
            alike.filter_map(move |(conditions, groups)| Self::new(measure, *conditions, groups))
        };
        let mut all: Vec<Self> = Measure::ALL.into_iter().flat_map(of).collect();
        // The risks of all comparisons add up. So one answer in twenty at most names a single engine among equals.
        let risk = RISK / all.len().max(1) as f64;
        for Self { standing, .. } in &mut all {
            let places = mem::take(&mut standing.places);
            *standing = Standing::new(standing.measure, standing.unit, places, risk);
        }
        all
    }

    /// Averages groups with these conditions. `None` if no engine has this measure.
    fn new(measure: Measure, conditions: Conditions, groups: &[&GroupRanking]) -> Option<Self> {
        let mut unit = Unit::TimesStd;
        let mut all = cells(measure, unit, groups);
        if all.is_empty() {
            unit = Unit::Absolute;
            all = cells(measure, unit, groups);
        }
        let (engines, left_out) = choose(&all);
        let common = common(&all, &engines);
        let places = engines.iter().filter_map(|&engine| mean(&common, engine));
        let standing = Standing::new(measure, unit, places, RISK);
        (!standing.places.is_empty()).then_some(Self {
            conditions,
            standing,
            groups: common.len(),
            of: all.len(),
            left_out,
        })
    }
}

fn cells<'a>(measure: Measure, unit: Unit, groups: &[&'a GroupRanking]) -> Cells<'a> {
    let mut cells = Cells::new();
    for ranking in groups {
        let of_it = |standing: &&Standing| standing.measure == measure && standing.unit == unit;
        let places = ranking.standings.iter().filter(of_it);
        for place in places.flat_map(|standing| &standing.places) {
            let cell = cells.entry(ranking.group).or_default();
            cell.insert(&place.label, place);
        }
    }
    cells
}

/// Returns the engines to rank, and the engines left out.
fn choose<'a>(all: &Cells<'a>) -> (BTreeSet<&'a str>, Vec<String>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for &engine in all.values().flat_map(BTreeMap::keys) {
        *counts.entry(engine).or_default() += 1;
    }
    let mut engines: BTreeSet<&str> = counts.keys().copied().collect();
    let mut left_out = Vec::new();
    while engines.len() > 1 && 2 * common(all, &engines).len() <= all.len() {
        let fewest = engines.iter().rev().min_by_key(|&&engine| counts[engine]);
        let Some(&engine) = fewest else { break };
        engines.remove(engine);
        left_out.push(engine.to_owned());
    }
    (engines, left_out)
}

/// Returns the groups that all of these engines have.
fn common<'a, 'b>(
    all: &'b Cells<'a>,
    engines: &BTreeSet<&str>,
) -> Vec<(&'b RowGroup, &'b BTreeMap<&'a str, &'a RankedEngine>)> {
    let has_all = |cell: &BTreeMap<&str, &RankedEngine>| {
        engines.iter().all(|engine| cell.contains_key(engine))
    };
    all.iter().filter(|(_, cell)| has_all(cell)).collect()
}

/// Returns the geometric mean of an engine, with its lowest and highest value and its lowest and highest loss.
fn mean(
    common: &[(&RowGroup, &BTreeMap<&str, &RankedEngine>)],
    engine: &str,
) -> Option<RankedEngine> {
    type Windows = (BlockKey, (Option<u64>, Option<u64>));
    let mut blocks: BTreeMap<Windows, Vec<Reading>> = BTreeMap::new();
    let mut places = Vec::new();
    for (group, cell) in common {
        let place = *cell.get(engine)?;
        let block = blocks.entry((group.block, group.granted)).or_default();
        block.push(place.reading);
        places.push(place);
    }
    let blocks: Vec<Vec<Reading>> = blocks.into_values().collect();
    Some(RankedEngine {
        place: None,
        label: engine.to_owned(),
        reading: Reading::geometric_mean(&blocks)?,
        loss_pct: places
            .iter()
            .filter_map(|place| place.loss_pct)
            .reduce(|(a, b), (c, d)| (a.min(c), b.max(d))),
    })
}
