//! Electrical power of the machine: finds a meter in `/sys`, and integrates its readings.
//!
//! Sources are hwmon (kernel doc hwmon/sysfs-interface: µW, µJ, mV, mA), powercap (admin-guide/power/powercap: µJ) and
//! the battery (ABI sysfs-class-power: µW, µV, µA). A meter of the whole machine is preferred over one of the CPUs, and
//! an energy counter over samples of power.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::sys::files::Root;

/// A meter of this machine: one channel, or several whose powers add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerMeter {
    /// Name in words, such as `VDD_IN (ina3221)`.
    pub name: String,
    channels: Vec<Channel>,
    /// Lower is better: see the constants of [`rank`].
    rank: u8,
}

/// How good meters are for the power of the machine.
mod rank {
    /// The input of the whole board.
    pub(super) const BOARD: u8 = 0;
    /// All rails of a board, without its converters.
    pub(super) const RAILS: u8 = 1;
    /// A chip that measures power, at a place that it does not name.
    pub(super) const UNNAMED: u8 = 2;
    /// The CPU package.
    pub(super) const CPU: u8 = 3;
    /// The battery, whose gauge is slow.
    pub(super) const BATTERY: u8 = 4;
}

/// One channel of a meter: files below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Channel {
    /// A counter in microjoules that starts again from 0 after `range`, if that is known.
    Energy { file: String, range: Option<u64> },
    /// Microwatts.
    Power { file: String },
    /// Volts and amperes, whose product is microwatts times `divisor`.
    Product {
        volts: String,
        amperes: String,
        divisor: u64,
    },
}

/// A reading of all channels.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reading {
    /// Counters in microjoules, each with its range.
    Energy(Vec<(u64, Option<u64>)>),
    /// Microwatts.
    Power(u64),
}

impl PowerMeter {
    /// Finds the best meter of the machine whose file system is below `root`, and reads it once. `None`: there is none
    /// that this process can read.
    pub fn find(root: &Root) -> Option<Self> {
        let mut meters = hwmon(root);
        meters.extend(powercap(root));
        meters.extend(battery(root));
        meters.retain(|meter| meter.read(root).is_some());
        meters.into_iter().min_by_key(|meter| meter.rank)
    }

    /// Returns the power now, in microwatts. `None`: the meter counts energy, or cannot be read.
    pub fn now_uw(&self, root: &Root) -> Option<u64> {
        match self.read(root)? {
            Reading::Power(uw) => Some(uw),
            Reading::Energy(_) => None,
        }
    }

    fn read(&self, root: &Root) -> Option<Reading> {
        let (mut counters, mut power_uw) = (Vec::new(), 0);
        for channel in &self.channels {
            match channel {
                Channel::Energy { file, range } => counters.push((root.number(file)?, *range)),
                Channel::Power { file } => power_uw += magnitude(root, file)?,
                Channel::Product {
                    volts,
                    amperes,
                    divisor,
                } => power_uw += magnitude(root, volts)? * magnitude(root, amperes)? / divisor,
            }
        }
        Some(if counters.is_empty() {
            Reading::Power(power_uw)
        } else {
            Reading::Energy(counters)
        })
    }
}

/// Reads a number whose sign only tells the direction of the current.
fn magnitude(root: &Root, file: &str) -> Option<u64> {
    root.number::<i64>(file).map(i64::unsigned_abs)
}

/// Labels of channels that measure the input of a whole board, in lower case.
const BOARD_LABELS: &[&str] = &["vdd_in", "pom_5v_in", "vin", "total", "system", "board"];
/// Labels of channels that measure nothing, or what other channels measure as well.
const NO_LABELS: &[&str] = &["nc", "sum of shunt voltages"];
/// Drivers of devices beside the CPUs.
const OTHER_DRIVERS: &[&str] = &["amdgpu", "nouveau", "i915", "xe", "nvme", "amd_energy"];

fn hwmon(root: &Root) -> Vec<PowerMeter> {
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
            let place = label.unwrap_or_else(|| format!("channel {number}"));
            meters.push(PowerMeter {
                name: format!("{place} ({driver})"),
                channels: vec![channel],
                rank: match () {
                    () if is_board => rank::BOARD,
                    () if place.to_lowercase().contains("cpu") => rank::CPU,
                    () => rank::UNNAMED,
                },
            });
        }
    }
    if !rails.is_empty() {
        meters.push(PowerMeter {
            name: format!("sum of {} rails (ina3221)", rails.len()),
            channels: rails,
            rank: rank::RAILS,
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
    if let Some(file) = Some(file("energy", "input")).filter(is_there) {
        return Some((label("energy"), Channel::Energy { file, range: None }));
    }
    let mut powers = ["input", "average"]
        .map(|what| file("power", what))
        .into_iter();
    if let Some(file) = powers.find(is_there) {
        return Some((label("power"), Channel::Power { file }));
    }
    let (volts, amperes) = (file("in", "input"), file("curr", "input"));
    let (of_volts, of_amperes) = (label("in"), label("curr"));
    // Equal numbers alone do not mean one channel: in4 to in7 of an INA3221 are voltages of shunts.
    let is_one = match driver {
        "ina3221" => number <= 3,
        _ => of_volts.is_some() && of_volts == of_amperes,
    };
    let is_channel = is_one && is_there(&volts) && is_there(&amperes);
    is_channel.then_some((
        of_volts,
        Channel::Product {
            volts,
            amperes,
            divisor: 1,
        },
    ))
}

/// Returns the zones of powercap that measure the platform, and the CPU packages together. Their parts, such as `core`,
/// have names with two colons.
fn powercap(root: &Root) -> Vec<PowerMeter> {
    let class = "sys/class/powercap";
    let (mut meters, mut packages) = (Vec::new(), Vec::new());
    for zone in root.names(class, "") {
        let directory = format!("{class}/{zone}");
        let name = root.text(format!("{directory}/name")).unwrap_or_default();
        let channel = Channel::Energy {
            file: format!("{directory}/energy_uj"),
            range: root.number(format!("{directory}/max_energy_range_uj")),
        };
        // intel-rapl-mmio shows the same packages again.
        if name == "psys" {
            meters.push(PowerMeter {
                name: "psys (powercap)".to_owned(),
                channels: vec![channel],
                rank: rank::BOARD,
            });
        } else if name.starts_with("package") && !zone.contains("mmio") {
            packages.push(channel);
        }
    }
    if !packages.is_empty() {
        meters.push(PowerMeter {
            name: "CPU package (powercap)".to_owned(),
            channels: packages,
            rank: rank::CPU,
        });
    }
    meters
}

/// Returns the batteries that are being discharged, which then feed the whole machine.
fn battery(root: &Root) -> Vec<PowerMeter> {
    let class = "sys/class/power_supply";
    let meter = |name: String| {
        let file = |file: &str| format!("{class}/{name}/{file}");
        let discharges = root.text(file("status")).as_deref() == Some("Discharging");
        let channel = if root.path(file("power_now")).exists() {
            Channel::Power {
                file: file("power_now"),
            }
        } else {
            Channel::Product {
                volts: file("voltage_now"),
                amperes: file("current_now"),
                // Microvolts times microamperes.
                divisor: 1_000_000,
            }
        };
        discharges.then(|| PowerMeter {
            name: format!("{name} (power_supply)"),
            channels: vec![channel],
            rank: rank::BATTERY,
        })
    };
    root.names(class, "")
        .into_iter()
        .filter_map(meter)
        .collect()
}

/// Mean power of a period: integrates the readings of a meter.
#[derive(Debug)]
pub struct MeanPower<'a> {
    root: &'a Root,
    meter: PowerMeter,
    start: Instant,
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
    fn add(&mut self, at: Instant, next: Option<Reading>) {
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
        // Below 2^53, as every integer of the log.
        (mean.is_finite() && (0.0..9e15).contains(&mean)).then_some(mean.round() as u64)
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
        (slices_uw.len() > 1).then(|| Self {
            mean_uw: mean.round() as u64,
            error_uw: (variance / count).sqrt().round() as u64,
        })
    }

    /// Measures the idle power for `length` in all. `sleep` waits.
    ///
    /// # Errors
    /// Returns the error of `sleep`.
    fn measure<E>(
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

#[cfg(test)]
mod tests;
