//! The engines over all settings: geometric means of the same settings for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::estimate::Reading;
use super::measure::{Measure, Unit};
use super::{Place, Setting, SettingRanking, Standing};
use crate::data::BlockKey;

/// The engines over all settings.
///
/// Means over different settings say nothing about each other, so only settings count in which every engine
/// was measured. Where these are not more than half of all, the engine with the fewest settings is left out,
/// and so on until they are.
#[derive(Clone, Debug)]
pub struct OverAll {
    /// The engines that were measured in all of these settings.
    pub standing: Standing,
    /// How many settings that is.
    pub settings: usize,
    /// Of how many.
    pub of: usize,
    /// The engines left out, and in how many settings they were measured.
    pub left_out: Vec<(String, usize)>,
}

/// Each setting with its engines.
type Cells<'a> = BTreeMap<Setting, BTreeMap<&'a str, &'a Place>>;

impl OverAll {
    /// `None`: there is nothing to rank by this.
    pub(super) fn new(measure: Measure, settings: &[SettingRanking]) -> Option<Self> {
        let mut unit = Unit::TimesStd;
        let mut all = cells(measure, unit, settings);
        if all.is_empty() {
            unit = Unit::Absolute;
            all = cells(measure, unit, settings);
        }
        let (engines, left_out) = choose(&all);
        let common = common(&all, &engines);
        let readings = engines.iter().filter_map(|&engine| {
            let (reading, loss_pct) = mean(&common, engine)?;
            Some((engine.to_owned(), reading, loss_pct))
        });
        let standing = Standing::new(measure, unit, readings);
        (!standing.places.is_empty()).then_some(Self {
            standing,
            settings: common.len(),
            of: all.len(),
            left_out,
        })
    }
}

fn cells(measure: Measure, unit: Unit, settings: &[SettingRanking]) -> Cells<'_> {
    let mut cells = Cells::new();
    for ranking in settings {
        let of_it = |standing: &&Standing| standing.measure == measure && standing.unit == unit;
        let places = ranking.standings.iter().filter(of_it);
        for place in places.flat_map(|standing| &standing.places) {
            let cell = cells.entry(ranking.setting).or_default();
            cell.insert(&place.engine, place);
        }
    }
    cells
}

/// The engines to be ranked, and those that are left out with their number of settings.
fn choose<'a>(all: &Cells<'a>) -> (BTreeSet<&'a str>, Vec<(String, usize)>) {
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
        left_out.push((engine.to_owned(), counts[engine]));
    }
    (engines, left_out)
}

/// The settings that all of these engines have.
fn common<'a, 'b>(
    all: &'b Cells<'a>,
    engines: &BTreeSet<&str>,
) -> Vec<(&'b Setting, &'b BTreeMap<&'a str, &'a Place>)> {
    let has_all =
        |cell: &BTreeMap<&str, &Place>| engines.iter().all(|engine| cell.contains_key(engine));
    all.iter().filter(|(_, cell)| has_all(cell)).collect()
}

/// The geometric mean of an engine, and its worst loss.
fn mean(
    common: &[(&Setting, &BTreeMap<&str, &Place>)],
    engine: &str,
) -> Option<(Reading, Option<f64>)> {
    type Windows = (BlockKey, (Option<u64>, Option<u64>));
    let mut blocks: BTreeMap<Windows, Vec<Reading>> = BTreeMap::new();
    let mut losses = Vec::new();
    for (setting, cell) in common {
        let place = cell.get(engine)?;
        let block = blocks.entry((setting.block, setting.granted)).or_default();
        block.push(place.reading);
        losses.extend(place.loss_pct);
    }
    let blocks: Vec<Vec<Reading>> = blocks.into_values().collect();
    let reading = Reading::geometric_mean(&blocks)?;
    Some((reading, losses.into_iter().reduce(f64::max)))
}
