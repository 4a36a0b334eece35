//! Electrical power of the machine: finds a meter in `/sys`, and reads it.
//!
//! Sources are hwmon (kernel doc hwmon/sysfs-interface: µW, µJ, mV, mA), powercap (admin-guide/power/powercap: µJ) and
//! the battery (ABI sysfs-class-power: µW, µV, µA). A meter of the whole machine is preferred over one of the CPUs, and
//! an energy counter over samples of power.

mod idle;
mod mean;

pub use self::idle::{IdlePower, idle_power};
pub use self::mean::{MeanPower, to_uw};
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

/// Order of preference of meters for the power of the machine.
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

    /// Returns a meter of these channels. `None`: there are none.
    fn of(name: String, channels: Vec<Channel>, rank: u8) -> Option<Self> {
        (!channels.is_empty()).then_some(Self {
            name,
            channels,
            rank,
        })
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
            let rank = match () {
                () if is_board => rank::BOARD,
                () if place.to_lowercase().contains("cpu") => rank::CPU,
                () => rank::UNNAMED,
            };
            let name = format!("{place} ({driver})");
            meters.extend(PowerMeter::of(name, vec![channel], rank));
        }
    }
    let name = format!("sum of {} rails (ina3221)", rails.len());
    meters.extend(PowerMeter::of(name, rails, rank::RAILS));
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
            let name = "psys (powercap)".to_owned();
            meters.extend(PowerMeter::of(name, vec![channel], rank::BOARD));
        } else if name.starts_with("package") && !zone.contains("mmio") {
            packages.push(channel);
        }
    }
    let name = "CPU package (powercap)".to_owned();
    meters.extend(PowerMeter::of(name, packages, rank::CPU));
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
        let channels = if discharges {
            vec![channel]
        } else {
            Vec::new()
        };
        PowerMeter::of(format!("{name} (power_supply)"), channels, rank::BATTERY)
    };
    root.names(class, "")
        .into_iter()
        .filter_map(meter)
        .collect()
}

#[cfg(test)]
mod tests;
