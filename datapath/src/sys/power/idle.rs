//! Power of an idle machine.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::PowerMeter;
use super::mean::{MeanPower, to_uw};
use crate::sys::files::Root;

/// Measures the idle power of a machine for `length` in all. `sleep` waits. `None`: the machine has no meter.
///
/// # Errors
/// Returns the error of `sleep`.
pub fn idle_power<E>(
    root: &Root,
    length: Duration,
    sleep: impl FnMut(Duration) -> Result<(), E>,
) -> Result<Option<IdlePower>, E> {
    match PowerMeter::find(root) {
        Some(meter) => IdlePower::measure(&meter, root, length, sleep),
        None => Ok(None),
    }
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

    /// Measures the idle power for `length` in all. `sleep` waits.
    ///
    /// # Errors
    /// Returns the error of `sleep`.
    pub(super) fn measure<E>(
        meter: &PowerMeter,
        root: &Root,
        length: Duration,
        mut sleep: impl FnMut(Duration) -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        /// Readings in each part.
        const LOOKS: u32 = 5;
        let mut slices = Vec::new();
        for _ in 0..Self::SLICES {
            let mut mean = MeanPower::start(meter.clone(), root);
            for _ in 0..LOOKS {
                sleep(length / Self::SLICES / LOOKS)?;
                mean.look();
            }
            slices.extend(mean.mean_uw());
        }
        Ok(Self::of(&slices))
    }
}
