//! Averages engines over several groups: geometric means over the same groups for all engines.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::estimate::{RISK, Reading};
use super::measure::{Measure, Unit};
use super::{Asked, GroupRanking, RankedEngine, RowGroup, Standing};
use crate::data::{BlockKey, Ip};
use crate::results::row::Load;

/// Conditions that are never averaged over: the payload, one thread or more, and every value that is not the default.
/// An engine may be ten times faster at one payload and no faster at another, and the mean of both is true of
/// neither. For round trips, these are also the load, the CPUs and the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conditions {
    /// The first field, so that the order is by load.
    asked: Option<Asked>,
    block: BlockKey,
}

impl Conditions {
    pub(super) fn of(group: &RowGroup) -> Self {
        let block = group.block;
        let threads = match group.asked {
            Some(_) => Ok(block.threads),
            None if block.threads.is_alone() => 1.try_into(),
            None => 2.try_into(),
        };
        Self {
            asked: group.asked,
            block: BlockKey {
                threads: threads.unwrap_or(block.threads),
                ip: Ip::V4,
                ..block
            },
        }
    }

    /// Returns a label for each of the conditions, without the parts that all have in common: `26 B`, `1460 B with 1
    /// thread`.
    pub fn labels(all: &[Self]) -> BTreeMap<Self, String> {
        let label = |conditions: &Self| {
            let parts = conditions.parts();
            let is_common = |part: &String| all.iter().all(|one| one.parts().contains(part));
            let mut told: Vec<&String> = parts.iter().filter(|part| !is_common(part)).collect();
            // The load always is, and so is the payload if there is nothing else.
            let is_needed = told.is_empty() || conditions.asked.is_some();
            if is_needed && told.first() != Some(&&parts[0]) {
                told.insert(0, &parts[0]);
            }
            let (first, rest) = told.split_at(1);
            let rest: Vec<&str> = rest.iter().map(|part| part.as_str()).collect();
            let with = if rest.is_empty() { "" } else { " with " };
            format!("{}{with}{}", first[0], rest.join(" and "))
        };
        all.iter().map(|one| (*one, label(one))).collect()
    }

    /// Returns the load if there is one, the payload, the threads, and each value that is not the default, in words.
    fn parts(&self) -> Vec<String> {
        let block = &self.block;
        let load = self.asked.map(|asked| match block.rate {
            Some(rate) => format!("{:.0}/s", rate.per_second(block.payload)),
            None => asked.load.to_string(),
        });
        let threads = match self.asked {
            _ if block.threads.is_alone() => "1 thread".to_owned(),
            Some(_) => format!("{} threads", block.threads),
            None => "more threads".to_owned(),
        };
        let usual = [format!("{} B", block.payload), threads];
        let usual = load.into_iter().chain(usual);
        let cpus = self.asked.map(|asked| asked.cpus.to_string());
        // The load has the rate.
        let block = BlockKey {
            rate: block.rate.filter(|_| self.asked.is_none()),
            ..*block
        };
        let unusual: Vec<String> = block.unusual().map(|value| value.to_string()).collect();
        usual.chain(cpus).chain(unusual).collect()
    }

    /// Returns whether clients waited for each response.
    pub(super) fn are_alone(&self) -> bool {
        self.asked.is_some_and(|asked| asked.load == Load::Alone)
    }
}

/// The engines, averaged over all groups with the same conditions.
///
/// Means over different groups cannot be compared, so only groups count in which every engine was measured. If at
/// most half of all groups remain, the engine with the fewest groups is left out, repeatedly, until more than
/// half remain.
#[derive(Clone, Debug)]
pub struct Averaged {
    /// The conditions that these groups have in common.
    pub conditions: Conditions,
    /// The engines that were measured in all of these groups.
    pub standing: Standing,
    /// Number of groups that are averaged.
    pub groups: usize,
    /// Number of groups with these conditions.
    pub of: usize,
    /// The engines left out.
    pub left_out: Vec<String>,
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
