//! Electrical power of the machine: finds a meter of hwmon (kernel doc hwmon/sysfs-interface: µW, mV, mA), and reads
//! it. A meter of the whole machine is preferred over one of the CPUs.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::sys::files::Root;

/// A meter of this machine: one channel, or several whose powers add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerMeter {
    /// Name in words, such as `VDD_IN (ina3221)`.
    pub name: String,
    channels: Vec<Channel>,
    rank: Rank,
}

/// Place that a meter measures, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The input of the whole board.
    Board,
    /// All rails of a board, without its converters.
    Rails,
    /// A place that the chip does not name.
    Unnamed,
    /// The CPU package.
    Cpu,
}

/// Files below the root whose product is microwatts: one of microwatts, or one of millivolts and one of milliamperes.
type Channel = Vec<String>;

impl PowerMeter {
    /// Finds the best meter of the machine whose file system is below `root`, and reads it once. `None`: there is none
    /// that this process can read.
    pub fn find(root: &Root) -> Option<Self> {
        let mut meters = all(root);
        meters.retain(|meter| meter.now_uw(root).is_some());
        meters.into_iter().min_by_key(|meter| meter.rank)
    }

    /// Returns the power now, in microwatts. `None`: the meter cannot be read.
    pub fn now_uw(&self, root: &Root) -> Option<u64> {
        // The sign only tells the direction of the current.
        let magnitude = |file: &String| root.number::<i64>(file).map(i64::unsigned_abs);
        let channels = self.channels.iter();
        let powers = channels.map(|files| files.iter().map(magnitude).product::<Option<u64>>());
        powers.sum()
    }
}

/// Labels of channels that measure the input of a whole board, in lower case.
const BOARD_LABELS: &[&str] = &["vdd_in", "pom_5v_in", "vin", "total", "system", "board"];
/// Labels of channels that measure nothing, or what other channels measure as well.
const NO_LABELS: &[&str] = &["nc", "sum of shunt voltages"];
/// Drivers of devices beside the CPUs.
const OTHER_DRIVERS: &[&str] = &["amdgpu", "nouveau", "i915", "xe", "nvme", "amd_energy"];

fn all(root: &Root) -> Vec<PowerMeter> {
    let class = "sys/class/hwmon";
    let (mut meters, mut rails) = (Vec::new(), Vec::new());
    for device in root.names(class, "hwmon") {
        let directory = format!("{class}/{device}");
        let driver = root.text(format!("{directory}/name")).unwrap_or(device);
        if OTHER_DRIVERS.contains(&driver.as_str()) {
            continue;
        }
        for number in 1..=MOST_CHANNELS {
            let Some((label, channel)) = hwmon_channel(root, &directory, &driver, number) else {
                continue;
            };
            let place = label.as_deref().unwrap_or_default().to_lowercase();
            if NO_LABELS.contains(&place.as_str()) {
                continue;
            }
            let is_board = BOARD_LABELS.contains(&place.as_str()) || driver == "power_meter";
            if driver == "ina3221" && !is_board && label.is_some() {
                rails.push(channel);
                continue;
            }
            let rank = match () {
                () if is_board => Rank::Board,
                () if place.contains("cpu") => Rank::Cpu,
                () => Rank::Unnamed,
            };
            let place = label.unwrap_or_else(|| format!("channel {number}"));
            meters.push(PowerMeter {
                name: format!("{place} ({driver})"),
                channels: vec![channel],
                rank,
            });
        }
    }
    if !rails.is_empty() {
        meters.push(PowerMeter {
            name: format!("sum of {} rails (ina3221)", rails.len()),
            channels: rails,
            rank: Rank::Rails,
        });
    }
    meters
}

/// Highest channel of a hwmon device that is looked at.
const MOST_CHANNELS: u32 = 8;

/// Returns a channel of a hwmon device with its label.
fn hwmon_channel(
    root: &Root,
    directory: &str,
    driver: &str,
    number: u32,
) -> Option<(Option<String>, Channel)> {
    let file = |kind: &str, what: &str| format!("{directory}/{kind}{number}_{what}");
    let label = |kind: &str| root.text(file(kind, "label"));
    let is_there = |path: &String| root.path(path).exists();
    let mut powers = ["input", "average"]
        .map(|what| file("power", what))
        .into_iter();
    if let Some(file) = powers.find(is_there) {
        return Some((label("power"), vec![file]));
    }
    let (volts, amperes) = (file("in", "input"), file("curr", "input"));
    let (of_volts, of_amperes) = (label("in"), label("curr"));
    // Equal numbers alone do not mean one channel: in4 to in7 of an INA3221 are voltages of shunts.
    let is_one = match driver {
        "ina3221" => number <= 3,
        _ => of_volts.is_some() && of_volts == of_amperes,
    };
    let is_channel = is_one && is_there(&volts) && is_there(&amperes);
    is_channel.then_some((of_volts, vec![volts, amperes]))
}

/// Mean power of a period: integrates the readings of a meter.
#[derive(Debug)]
pub struct MeanPower<'a> {
    root: &'a Root,
    meter: PowerMeter,
    start: Instant,
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
        *self = Self::start(self.meter.clone(), self.root);
    }

    /// Reads the meter again.
    pub fn look(&mut self) {
        let next = self.meter.now_uw(self.root);
        self.add(Instant::now(), next);
    }

    /// Adds the energy since the last reading. Between two samples of power, it changes linearly.
    fn add(&mut self, at: Instant, next: Option<u64>) {
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

#[cfg(test)]
mod tests;
