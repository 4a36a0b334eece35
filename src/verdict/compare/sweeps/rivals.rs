//! Whose a change is: that of an engine, or that of another one by which it is measured.
//!
//! A change is nobody's as long as that of another engine would explain it. So each other engine is left out in turn:
//! the change must be as sure without it. Where nothing else measures it, as with two engines in a block, other blocks
//! may tell: there, the engine must have changed unlike the machine, and unlike the other.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Fit, Sweeps, mean, squares_around_mean};
use crate::data::BlockKey;
use crate::text::digits::whole;
use crate::verdict::judge::{Change, Changes, Doubts, Evidence, Obstacle};

impl Evidence for Sweeps {
    fn changes(&self, changed: &BTreeSet<usize>) -> Changes<'_> {
        let fit = self.fit(changed);
        Box::new(move |cases| fit.change(cases))
    }

    fn obstacle(&self, cases: &[usize]) -> Obstacle {
        let is_alone = |number: &usize| self.blocks[&self.cases[*number].block].len() == 1;
        if cases.iter().all(is_alone) {
            return Obstacle::Alone;
        }
        Obstacle::OneBlock
    }

    fn doubts(&self, changed: &BTreeSet<usize>, risk: f64) -> Doubts<'_> {
        let changed = changed.clone();
        let mut without: BTreeMap<&str, OnceCell<Fit>> = BTreeMap::new();
        for case in &self.cases {
            without.entry(&case.label).or_default();
        }
        Box::new(move |cases, seen| {
            if let Some(state) = seen.state() {
                return Some(Obstacle::State {
                    pct: whole(100.0 * state),
                });
            }
            // What explains a change elsewhere is the simplest explanation here.
            if cases.iter().all(|case| changed.contains(case)) {
                return None;
            }
            let own = &self.cases[cases[0]].label;
            let is_so = |it: Change| it.p_value <= risk && it.estimate * seen.estimate > 0.0;
            let is_sure = |change: Option<Change>| change.is_some_and(is_so);
            let doubt = |rival: &str| {
                let mut two = [own.clone(), rival.to_owned()];
                two.sort_unstable();
                let [one, other] = two;
                let changes = without[rival].get_or_init(|| self.without(rival, &changed));
                if !changes.measured(cases).is_empty() {
                    let is_told = is_sure(changes.change(cases));
                    return (!is_told).then_some(Obstacle::OneOfTwo { one, other });
                }
                let contrasts = self.contrasts(cases, rival, &changed);
                let is_told = contrasts.into_iter().all(is_sure);
                (!is_told).then_some(Obstacle::RatioOfTwo { one, other })
            };
            self.rivals(cases, &changed).into_iter().find_map(doubt)
        })
    }
}

impl Sweeps {
    /// Returns the other engines in the blocks of some cases that have not changed there.
    fn rivals(&self, cases: &[usize], changed: &BTreeSet<usize>) -> BTreeSet<&str> {
        let own = &self.cases[cases[0]].label;
        let blocks = cases.iter().map(|&it| &self.blocks[&self.cases[it].block]);
        let rivals = blocks.flatten().filter(|(label, cases)| {
            *label != own && cases.iter().any(|case| !changed.contains(case))
        });
        rivals.map(|(label, _)| label.as_str()).collect()
    }

    /// Returns by how much more an engine changed in the blocks of these cases than in its other blocks: with the
    /// machine, and over a rival. A rival that has not changed shows by how much the machine differs between blocks.
    fn contrasts(
        &self,
        cases: &[usize],
        rival: &str,
        changed: &BTreeSet<usize>,
    ) -> [Option<Change>; 2] {
        let own = &self.cases[cases[0]].label;
        let inside = cases.iter().map(|&number| self.cases[number].block);
        let inside: BTreeSet<BlockKey> = inside.collect();
        // Changes of the engine and of the rival in each block, elsewhere and in the blocks of the cases.
        let mut groups: [Vec<[f64; 2]>; 2] = Default::default();
        for (block, engines) in &self.blocks {
            let is_inside = inside.contains(block);
            let is_asked = |number: &usize| !is_inside || cases.contains(number);
            let of = |label: &str| {
                let all = engines.get(label)?.iter().copied();
                let unchanged = all.filter(|number| !changed.contains(number));
                Some(unchanged.collect::<Vec<usize>>()).filter(|cases| !cases.is_empty())
            };
            if let (Some(mut own), Some(rivals)) = (of(own), of(rival)) {
                own.retain(is_asked);
                if !own.is_empty() {
                    groups[usize::from(is_inside)].push([self.moved(&own), self.moved(&rivals)]);
                }
            }
        }
        let values = |of: fn(&[f64; 2]) -> f64| {
            let values = |group: &Vec<[f64; 2]>| group.iter().map(of).collect::<Vec<f64>>();
            groups.each_ref().map(values)
        };
        let (own, rivals) = (values(|it| it[0]), values(|it| it[1]));
        let ratios = values(|it| it[0] - it[1]);
        let squares = squares_around_mean(&rivals.concat());
        let with_machine = self.contrast(&own, squares, 1.0);
        let squares = ratios.iter().map(|group| squares_around_mean(group)).sum();
        [with_machine, self.contrast(&ratios, squares, 2.0)]
    }

    /// Returns the difference of the means of two groups. `squares`: sum of the squares that show the scatter, around
    /// as many means as `terms`.
    fn contrast(&self, groups: &[Vec<f64>; 2], squares: f64, terms: f64) -> Option<Change> {
        let [elsewhere, here] = groups.each_ref().map(|group| mean(group.iter().copied()));
        let counts = groups.each_ref().map(|group| group.len() as f64);
        let freedom = counts[0] + counts[1] - terms;
        let error = (squares / freedom * (1.0 / counts[0] + 1.0 / counts[1])).sqrt();
        Change::by_student(here - elsewhere, error, freedom, self.threshold)
    }
}
