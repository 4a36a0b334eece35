//! Averages engines over several groups: geometric means over the same groups for all engines.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::GroupRanking;
use super::estimate::{RISK, Reading};
use super::group::{Conditions, RowGroup};
use super::standing::{Measure, RankedEngine, Standing, Unit, range};
use crate::verdict::grouped;

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

/// The standing of a group.
type Cell<'a> = (&'a RowGroup, &'a Standing);

impl Averaged {
    /// Averages the groups that have the same conditions, in the order of the measures and the conditions.
    pub(super) fn all(groups: &[GroupRanking]) -> Vec<Self> {
        let alike = groups.iter().map(|one| (Conditions::of(&one.group), one));
        let alike = grouped(alike);
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
    fn new<'a>(
        measure: Measure,
        conditions: Conditions,
        groups: &[&'a GroupRanking],
    ) -> Option<Self> {
        let of_group = |ranking: &&'a GroupRanking| {
            let standings = ranking.standings.iter();
            standings.map(|standing| (&ranking.group, standing))
        };
        let mut all: Vec<Cell> = groups.iter().flat_map(of_group).collect();
        all.retain(|(_, standing)| standing.measure == measure);
        let is_ratio = |(_, standing): &Cell| standing.unit == Unit::TimesStd;
        if all.iter().any(is_ratio) {
            all.retain(is_ratio);
        }
        let unit = all.first()?.1.unit;
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

/// Returns the engines to rank, and the engines left out.
fn choose<'a>(all: &[Cell<'a>]) -> (BTreeSet<&'a str>, Vec<String>) {
    let places = all.iter().flat_map(|(_, standing)| &standing.places);
    let mut engines: BTreeSet<&str> = places.map(|place| place.label.as_str()).collect();
    let mut left_out = Vec::new();
    while engines.len() > 1 && 2 * common(all, &engines).len() <= all.len() {
        let groups = |engine: &&&str| common(all, &BTreeSet::from([**engine])).len();
        let Some(&engine) = engines.iter().rev().min_by_key(groups) else {
            break;
        };
        engines.remove(engine);
        left_out.push(engine.to_owned());
    }
    (engines, left_out)
}

/// Returns the groups that all of these engines have.
fn common<'a>(all: &[Cell<'a>], engines: &BTreeSet<&str>) -> Vec<Cell<'a>> {
    let has_all =
        |(_, standing): &&Cell| engines.iter().all(|engine| standing.of(engine).is_some());
    all.iter().filter(has_all).copied().collect()
}

/// Returns the geometric mean of an engine, with its lowest and its highest loss.
fn mean(common: &[Cell], engine: &str) -> Option<RankedEngine> {
    let mut blocks: BTreeMap<_, Vec<Reading>> = BTreeMap::new();
    let mut losses = Vec::new();
    for (group, standing) in common {
        let place = standing.of(engine)?;
        let block = blocks.entry((group.block, group.granted)).or_default();
        block.push(place.reading);
        losses.extend(place.loss_pct);
    }
    let blocks: Vec<Vec<Reading>> = blocks.into_values().collect();
    Some(RankedEngine {
        place: None,
        label: engine.to_owned(),
        reading: Reading::geometric_mean(&blocks)?,
        loss_pct: range(losses),
    })
}
