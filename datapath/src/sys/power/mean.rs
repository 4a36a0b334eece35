//! Mean power of a period, and of an idle machine.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::PowerMeter;
use crate::sys::files::Root;

/// Mean power of a period: integrates the readings of a meter.
#[derive(Debug)]
pub struct MeanPower<'a> {
    root: &'a Root,
    meter: PowerMeter,
    pub(super) start: Instant,
    last_at: Instant,
    last: Option<u64>,
    energy_uj: f64,
}

impl<'a> MeanPower<'a> {
    /// Starts with a first reading.
    pub fn start(meter: PowerMeter, root: &'a Root) -> Self {
        let last = meter.now_uw(root);
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
        self.last = self.meter.now_uw(self.root);
        self.start = Instant::now();
        (self.last_at, self.energy_uj) = (self.start, 0.0);
    }

    /// Reads the meter again.
    pub fn look(&mut self) {
        let next = self.meter.now_uw(self.root);
        self.add(Instant::now(), next);
    }

    /// Adds the energy since the last reading. Between two samples of power, it changes linearly.
    pub(super) fn add(&mut self, at: Instant, next: Option<u64>) {
        let seconds = at.saturating_duration_since(self.last_at).as_secs_f64();
        let sum = self
            .last
            .zip(next)
            .map(|(before, now)| before as f64 + now as f64);
        self.energy_uj += sum.map_or(f64::NAN, |sum| seconds * sum / 2.0);
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

/// Measures the idle power of a machine for `length` in all. `sleep` waits. `None`: the machine has no meter.
///
/// # Errors
/// Returns the error of `sleep`.
pub fn idle_power<E>(
    root: &Root,
    length: Duration,
    mut sleep: impl FnMut(Duration) -> Result<(), E>,
) -> Result<Option<IdlePower>, E> {
    /// Readings in each part.
    const LOOKS: u32 = 5;
    let Some(meter) = PowerMeter::find(root) else {
        return Ok(None);
    };
    let mut slices = Vec::new();
    for _ in 0..IdlePower::SLICES {
        let mut mean = MeanPower::start(meter.clone(), root);
        for _ in 0..LOOKS {
            sleep(length / IdlePower::SLICES / LOOKS)?;
            mean.look();
        }
        slices.extend(mean.mean_uw());
    }
    Ok(IdlePower::of(&slices))
}

/// Power of the machine while udpbench does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdlePower {
    /// Mean power, in microwatts.
    pub mean_uw: u64,
    /// Standard error of the mean, in microwatts.
    pub error_uw: u64,
}

impl IdlePower {
    /// Parts that an idle period is divided into, whose scatter tells the error.
    pub const SLICES: u32 = 8;

    /// Combines the mean powers of the parts of a period, in microwatts. `None`: there are fewer than two.
    pub fn of(slices_uw: &[u64]) -> Option<Self> {
        let count = slices_uw.len() as f64;
        let mean = slices_uw.iter().map(|&uw| uw as f64).sum::<f64>() / count;
        let squares = slices_uw.iter().map(|&uw| (uw as f64 - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0);
        Some(Self {
            mean_uw: to_uw(mean)?,
            error_uw: to_uw((variance / count).sqrt())?,
        })
    }
}
