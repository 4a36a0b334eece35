//! The choice under some conditions.

use super::{Choices, Labels, NEEDED_PCT, names};
use crate::verdict::quality::LOSSY_PCT;
use crate::verdict::rank::estimate::{RISK, Reading};
use crate::verdict::rank::group::Conditions;
use crate::verdict::rank::limit::{self, FullPath, Reached};
use crate::verdict::rank::rows::Overloaded;
use crate::verdict::rank::standing::{Measure, RankedEngine, Standing};

/// The choice under some conditions.
pub(super) struct Choice<'a> {
    pub(super) label: &'a str,
    pub(super) conditions: Conditions,
    pub(super) outcome: ChoiceOutcome<'a>,
    /// The engines that are, or may be, the best: those of [`ChoiceOutcome::Best`] are tied.
    pub(super) engines: Labels<'a>,
    /// Engines that are equally fast but need more CPU time.
    pub(super) dearer: Labels<'a>,
    /// True if a lower rate can tell engines apart.
    pub(super) is_to_slow_down: bool,
    /// The path that all engines fill. `None`: they do not.
    pub(super) full: Option<FullPath>,
    /// Cases that did not answer the requests of this load.
    pub(super) overloaded: Vec<&'a Overloaded>,
}

/// The outcome for the engines that may be recommended, under the same conditions.
pub(super) enum ChoiceOutcome<'a> {
    Best,
    /// The engines cannot be told apart because of noise.
    Noisy {
        /// By how much they differ at most, in percent. Infinite: one has no interval.
        apart_pct: f64,
        /// Those that are better than std: surely if std is not among the engines, else by their own intervals alone.
        beat_std: Labels<'a>,
    },
    /// Nothing is recommended, for this reason.
    Nobody(String),
}

impl Choice<'_> {
    pub(super) fn is_best(&self) -> bool {
        matches!(self.outcome, ChoiceOutcome::Best)
    }

    /// Returns whether an engine is missing, as something disturbed its measurement.
    pub(super) fn is_disturbed(&self) -> bool {
        self.overloaded.iter().any(|one| one.is_disturbed)
    }
}

impl<'a> Choices<'a> {
    /// Chooses among engines under the same conditions. `None`: there is no engine.
    pub(super) fn choice(&self, conditions: Conditions, label: &'a str) -> Option<Choice<'a>> {
        let overloaded = self.board.overloaded.iter();
        let mut choice = Choice {
            label,
            conditions,
            outcome: ChoiceOutcome::Nobody("no engine kept up".to_owned()),
            engines: Labels::new(),
            dearer: Labels::new(),
            is_to_slow_down: false,
            full: None,
            overloaded: overloaded
                .filter(|one| one.conditions == conditions)
                .collect(),
        };
        match self.board.standing(self.measure, conditions) {
            Some(standing) => self.choose(standing, &mut choice)?,
            None if self.measure == Measure::RoundTrip => {}
            None => return None,
        }
        Some(choice)
    }

    fn choose(&self, standing: &Standing, choice: &mut Choice<'a>) -> Option<()> {
        let places = standing.places.iter();
        let places = places.filter(|place| self.from.label(place).is_some());
        let lost = |place: &&RankedEngine| place.most_lost_pct();
        let least = places.clone().min_by(|a, b| lost(a).total_cmp(&lost(b)))?;
        if let Some(full) = self.full(standing, choice.conditions) {
            let all = self.labels(places);
            let is_told = self.cheapest(&all, &[choice.conditions]).is_some();
            if full.is_waited_for && is_told {
                (choice.outcome, choice.engines) = (ChoiceOutcome::Best, all);
            } else {
                let why = format!("{}: compare CPU times at a lower rate", full.what);
                choice.outcome = ChoiceOutcome::Nobody(why);
            }
            choice.full = Some(full);
        } else if !least.is_clean() {
            choice.is_to_slow_down = true;
            let (least, lost) = (&least.label, least.most_lost_pct());
            let why = format!("all lost {LOSSY_PCT} % or more, the least {least} ({lost:.1} %)");
            choice.outcome = ChoiceOutcome::Nobody(why);
        } else {
            (choice.engines, choice.outcome) = self.best(standing);
            self.leave_out_overrun(choice);
        }
        Some(())
    }

    /// Returns the path that every engine that may be recommended fills at the same rate. `None`: not every one does.
    /// Those that may not be recommended tell what is full as well.
    fn full(&self, standing: &Standing, conditions: Conditions) -> Option<FullPath> {
        if self.measure != Measure::Speed {
            return None;
        }
        let reached = |place: &RankedEngine| self.reached(conditions, &place.label);
        let places = standing.places.iter();
        let all: Option<Vec<Reached>> = places.clone().map(reached).collect();
        let known = places.filter(|place| self.from.label(place).is_some());
        let are_clean = known.clone().all(RankedEngine::is_clean);
        let known: Option<Vec<Reached>> = known.map(reached).collect();
        limit::full_path(&known?, &all.unwrap_or_default(), are_clean)
    }

    /// Chooses among the engines that lost little.
    fn best(&self, standing: &Standing) -> (Labels<'a>, ChoiceOutcome<'a>) {
        let known = standing.of_these(|place| self.from.label(place).is_some());
        let clean = known.of_these(RankedEngine::is_clean);
        let mut best: Vec<&RankedEngine> = clean.leaders().iter().collect();
        // The engines are ahead round by round, but the interval that users see includes std.
        let is_other =
            |it: &&RankedEngine| it.is_std() || clean.surely_other_than_std(it).is_some();
        if !best.iter().any(is_other) {
            best.extend(clean.std());
        }
        let is_wide = |place: &RankedEngine| place.reading.half_pct() > Some(NEEDED_PCT);
        if best.len() == 1 && is_wide(best[0]) {
            // Whatever makes its interval wide may be why the others lost datagrams.
            best.extend(known.leaders().iter().filter(|place| !place.is_clean()));
        }
        let has_std = best.iter().any(|place| place.is_std());
        let beats_std = |place: &&RankedEngine| {
            if has_std {
                clean.is_beyond_std(&place.reading, true)
            } else {
                clean.surely_other_than_std(place) == Some(true)
            }
        };
        let beat_std = self.labels(best.iter().copied().filter(beats_std));
        let apart_pct = apart_pct(&best);
        let engines = self.labels(best);
        if apart_pct > NEEDED_PCT || (has_std && !beat_std.is_empty()) {
            let noisy = ChoiceOutcome::Noisy {
                apart_pct,
                beat_std,
            };
            return (engines, noisy);
        }
        (&engines | &self.labels(near(&clean)), ChoiceOutcome::Best)
    }

    /// Removes engines that are only chosen because a better one overran its receivers: who sends less loses less.
    fn leave_out_overrun(&self, choice: &mut Choice<'a>) {
        let conditions = choice.conditions;
        let better = |engine: &&str| self.better_but_lossy(conditions, engine);
        let engines = choice.engines.iter();
        let (mut behind, others): (Labels, Labels) = engines.partition(|it| better(it).is_some());
        let Some(lossy) = behind.first().and_then(better) else {
            return;
        };
        if others.is_empty() {
            behind.retain(|other| better(other) == Some(lossy));
            choice.outcome = ChoiceOutcome::Nobody(format!(
                "{} received more than {} for less CPU time, but overran its receivers or the path ({:.1} % lost)",
                lossy.label,
                names(&behind, "and"),
                lossy.most_lost_pct()
            ));
            choice.is_to_slow_down = true;
            choice.engines = Labels::new();
        } else if choice.is_best() {
            choice.engines = others;
        }
    }

    /// Returns the fastest engine that received more datagrams than this one, for less CPU time each, but lost too
    /// much.
    fn better_but_lossy(&self, conditions: Conditions, engine: &str) -> Option<&'a RankedEngine> {
        let speeds = self.board.standing(Measure::Speed, conditions)?;
        let cpu_times = self.board.standing(Measure::Cpu, conditions)?;
        let value = |standing: &Standing, label: &str| Some(standing.of(label)?.reading.value());
        let (speed, cpu_time) = (value(speeds, engine)?, value(cpu_times, engine)?);
        speeds.places.iter().find(|place| {
            !place.is_clean()
                && self.from.label(place).is_some()
                && place.reading.value() > speed
                && value(cpu_times, &place.label).is_some_and(|lossy| lossy < cpu_time)
        })
    }
}

/// Returns by how much two of these engines differ at most, in percent. Infinite if one has no interval.
pub(in crate::verdict::rank) fn apart_pct(places: &[&RankedEngine]) -> f64 {
    if places.iter().any(|place| !place.reading.has_error()) {
        return f64::INFINITY;
    }
    let apart = places.iter().flat_map(|one| {
        let others = places.iter().filter(move |other| other.label != one.label);
        others.map(|other| one.reading.apart_at_most_pct(&other.reading, RISK))
    });
    apart.fold(0.0, f64::max)
}

/// Returns the engines that surely differ from the best by less than a choice needs: from one run to the next, they
/// differ by that much.
pub(super) fn near(standing: &Standing) -> impl Iterator<Item = &RankedEngine> {
    let best = standing.places.first().map(|place| place.reading);
    let others = standing.places.iter().filter(|it| !it.is_first());
    others.filter(move |place| {
        let is_near = |best: Reading| best.apart_at_most_pct(&place.reading, RISK) <= NEEDED_PCT;
        place.place.is_some() && best.is_some_and(is_near)
    })
}
