//! Mean power of a period.

use std::time::Instant;

use super::{PowerMeter, Reading};
use crate::sys::files::Root;

/// Mean power of a period: integrates the readings of a meter.
#[derive(Debug)]
pub struct MeanPower<'a> {
    root: &'a Root,
    meter: PowerMeter,
    pub(super) start: Instant,
    last_at: Instant,
    last: Option<Reading>,
    energy_uj: f64,
}

impl<'a> MeanPower<'a> {
    /// Starts with a first reading.
    pub fn start(meter: PowerMeter, root: &'a Root) -> Self {
        let last = meter.read(root);
        let now = Instant::now();
        Self {
            root,
            meter,
            start: now,
            last_at: now,
            last,
            energy_uj: 0.0,
        }
    }

    /// Starts again with a first reading.
    pub fn restart(&mut self) {
        self.last = self.meter.read(self.root);
        self.start = Instant::now();
        (self.last_at, self.energy_uj) = (self.start, 0.0);
    }

    /// Reads the meter again.
    pub fn look(&mut self) {
        let next = self.meter.read(self.root);
        self.add(Instant::now(), next);
    }

    /// Adds the energy since the last reading. Between two samples of power, it changes linearly.
    pub(super) fn add(&mut self, at: Instant, next: Option<Reading>) {
        let seconds = at.saturating_duration_since(self.last_at).as_secs_f64();
        self.energy_uj += match (&self.last, &next) {
            (Some(Reading::Power(a)), Some(Reading::Power(b))) => {
                seconds * (*a as f64 + *b as f64) / 2.0
            }
            (Some(Reading::Energy(a)), Some(Reading::Energy(b))) => {
                let grown = a.iter().zip(b).map(|(before, now)| grown(*before, *now));
                grown.sum()
            }
            _ => f64::NAN,
        };
        (self.last_at, self.last) = (at, next);
    }

    /// Returns the mean power, in microwatts. `None`: the meter could not be read every time, or only once.
    pub fn mean_uw(&self) -> Option<u64> {
        let seconds = self
            .last_at
            .saturating_duration_since(self.start)
            .as_secs_f64();
        let mean = self.energy_uj / seconds;
        to_uw(mean)
    }
}

/// Returns the growth of a counter in microjoules, which may have started again from 0.
fn grown((before, _): (u64, Option<u64>), (now, range): (u64, Option<u64>)) -> f64 {
    match now.checked_sub(before) {
        Some(grown) => grown as f64,
        None => range.map_or(f64::NAN, |range| {
            range.saturating_sub(before) as f64 + now as f64
        }),
    }
}

/// Rounds microwatts. `None`: no number, negative, or 2^53 and more, which no integer of the log may be.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked"
)]
pub fn to_uw(microwatts: f64) -> Option<u64> {
    (0.0..9e15)
        .contains(&microwatts)
        .then(|| microwatts.round() as u64)
}
