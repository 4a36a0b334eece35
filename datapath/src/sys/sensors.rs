//! Temperature, clocks and throttling from the start of a run to its end.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::sys::files::Root;
use crate::sys::idle_states::IdleTimes;
use crate::sys::temperature::hottest_millic;

/// Readings of the board's sensors, from before the start of a run until its end. `None`: the board has no such sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensorReadings {
    /// Temperature of the hottest CPU sensor before the start, in thousandths of a degree Celsius.
    pub first_millic: Option<i32>,
    /// Temperature of the hottest CPU sensor at the end of the run, in thousandths of a degree Celsius.
    pub last_millic: Option<i32>,
    /// Highest temperature of the CPU sensors in the run, in thousandths of a degree Celsius.
    pub hottest_millic: Option<i32>,
    /// Throttle bits of the Raspberry Pi firmware, OR-ed over the run.
    pub throttle_bits: Option<u32>,
    /// True if the supply voltage was too low, by the kernel's own driver for the firmware's alarm.
    pub under_voltage: Option<bool>,
    /// True if the kernel held a CPU's clock down against heat.
    pub cooling: Option<bool>,
    /// Lowest clock that cpufreq requested on a CPU of a bench thread when the window closed, in kHz.
    pub lowest_khz: Option<u64>,
}

impl SensorReadings {
    /// Returns the worse value of each field, for two processes of one run: on one machine, or on two.
    pub fn worse(self, other: Self) -> Self {
        let bits = [self.throttle_bits, other.throttle_bits];
        let clocks = [self.lowest_khz, other.lowest_khz];
        Self {
            first_millic: self.first_millic.max(other.first_millic),
            last_millic: self.last_millic.max(other.last_millic),
            hottest_millic: self.hottest_millic.max(other.hottest_millic),
            throttle_bits: bits.into_iter().flatten().reduce(|a, b| a | b),
            under_voltage: self.under_voltage.max(other.under_voltage),
            cooling: self.cooling.max(other.cooling),
            lowest_khz: clocks.into_iter().flatten().min(),
        }
    }
}

/// Reads the throttle bits of the Raspberry Pi firmware (`get_throttled`): 0 under-voltage, 1 frequency capped, 2
/// throttled, 3 soft temperature limit. Bits 16 to 19 tell if it has happened since.
///
/// The file holds hexadecimal without `0x` (raspberrypi/linux `drivers/firmware/raspberrypi.c`). The kernel's own
/// polling clears the upper half every 2 s, so the file has to be read often and the values OR-ed.
pub fn throttle_bits(root: &Root) -> Option<u32> {
    // The firmware node is below `soc`, whose name has an address on a Pi 5 (`soc@107c000000`).
    root.names("sys/devices/platform", "soc")
        .iter()
        .flat_map(|soc| {
            let directory = format!("sys/devices/platform/{soc}");
            let nodes = root.names(&directory, "soc").into_iter();
            nodes.map(move |node| format!("{directory}/{node}/get_throttled"))
        })
        .find_map(|path| u32::from_str_radix(root.text(path)?.trim(), 16).ok())
}

/// Returns the meanings of [`throttle_bits`] in words: for the bits that are set now, or were since the last reading.
pub fn throttle_words(bits: u32) -> Vec<&'static str> {
    let meanings = [
        "under-voltage",
        "frequency capped",
        "throttled",
        "soft temperature limit",
    ];
    let set = |bit: &usize| bits >> bit & 1 == 1 || bits >> (bit + 16) & 1 == 1;
    (0..4).filter(set).map(|bit| meanings[bit]).collect()
}

/// Reads the under-voltage alarm of `rpi_volt` (drivers/hwmon/raspberrypi-hwmon.c). Mainline kernels have it, but lack
/// the file of [`throttle_bits`].
pub fn under_voltage(root: &Root) -> Option<bool> {
    let directory = "sys/class/hwmon";
    let mut devices = root.names(directory, "hwmon").into_iter();
    let device = devices.find(|device| {
        root.text(format!("{directory}/{device}/name")).as_deref() == Some("rpi_volt")
    })?;
    let alarm: u32 = root.number(format!("{directory}/{device}/in0_lcrit_alarm"))?;
    Some(alarm != 0)
}

/// Returns whether the kernel holds a CPU's clock down against heat: a cooling device of kind `cpufreq` is not in its
/// state 0 (kernel doc driver-api/thermal/sysfs-api). `None`: there is no such device.
pub fn cooling(root: &Root) -> Option<bool> {
    let directory = "sys/class/thermal";
    let states = root.names(directory, "cooling_device").into_iter();
    states
        .filter(|device| {
            let kind = root.text(format!("{directory}/{device}/type"));
            kind.is_some_and(|kind| kind.contains("cpufreq"))
        })
        .filter_map(|device| root.number::<u64>(format!("{directory}/{device}/cur_state")))
        .map(|state| state > 0)
        .reduce(|a, b| a || b)
}

/// Collects the readings of the sensors over a run.
#[derive(Debug)]
pub struct Watch<'a> {
    root: &'a Root,
    /// The collected readings.
    pub climate: SensorReadings,
}

impl<'a> Watch<'a> {
    /// Starts with a first reading.
    pub fn start(root: &'a Root) -> Self {
        let climate = SensorReadings {
            first_millic: hottest_millic(root),
            ..SensorReadings::default()
        };
        let mut watch = Self { root, climate };
        watch.look();
        watch
    }

    /// Reads the sensors again. The throttle bits need a reading every 2 s at least.
    pub fn look(&mut self) {
        let climate = &mut self.climate;
        climate.last_millic = hottest_millic(self.root);
        climate.hottest_millic = climate.hottest_millic.max(climate.last_millic);
        if let Some(bits) = throttle_bits(self.root) {
            climate.throttle_bits = Some(climate.throttle_bits.unwrap_or(0) | bits);
        }
        climate.under_voltage = climate.under_voltage.max(under_voltage(self.root));
        climate.cooling = climate.cooling.max(cooling(self.root));
    }

    /// Reads the clocks that cpufreq requests on these CPUs.
    pub fn look_at_clocks(&mut self, cpus: impl IntoIterator<Item = usize>) {
        let clock = |cpu| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        let clocks = cpus
            .into_iter()
            .filter_map(|cpu| self.root.number(clock(cpu)));
        self.climate.lowest_khz = self.climate.lowest_khz.into_iter().chain(clocks).min();
    }

    /// Reads the idle times of these CPUs so far.
    pub fn idle_times(&self, cpus: impl IntoIterator<Item = usize>) -> IdleTimes {
        let cpus: BTreeSet<usize> = cpus.into_iter().collect();
        IdleTimes::read(self.root, &cpus)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_watch_remembers_what_went_by() {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
            fs::write(path, text).expect("writable");
        };
        let zone = "sys/class/thermal/thermal_zone0/temp";
        let bits = "sys/devices/platform/soc/soc:firmware/get_throttled";
        let (kind, state) = (
            "sys/class/thermal/cooling_device0/type",
            "sys/class/thermal/cooling_device0/cur_state",
        );
        write("sys/class/hwmon/hwmon1/name", "rpi_volt\n");
        let alarm = "sys/class/hwmon/hwmon1/in0_lcrit_alarm";
        for (path, text) in [
            (alarm, "0"),
            (zone, "50000"),
            (bits, "0"),
            (kind, "cpufreq-cpu0"),
            (state, "0"),
        ] {
            write(path, text);
        }
        let root = Root::new(place.path());
        let mut watch = Watch::start(&root);
        for (path, text) in [(alarm, "1"), (zone, "81000"), (bits, "40004"), (state, "2")] {
            write(path, text);
        }
        watch.look();
        for (path, text) in [(alarm, "0"), (zone, "70000"), (bits, "10000"), (state, "0")] {
            write(path, text);
        }
        watch.look();
        let seen = SensorReadings {
            first_millic: Some(50_000),
            last_millic: Some(70_000),
            hottest_millic: Some(81_000),
            throttle_bits: Some(0x5_0004),
            under_voltage: Some(true),
            cooling: Some(true),
            lowest_khz: None,
        };
        assert_eq!(watch.climate, seen);
    }

    #[test]
    fn the_worse_of_two_readings_is_that_of_either() {
        let cool = SensorReadings {
            hottest_millic: Some(40_000),
            throttle_bits: Some(1),
            lowest_khz: Some(1_800_000),
            ..SensorReadings::default()
        };
        let hot = SensorReadings {
            hottest_millic: Some(80_000),
            throttle_bits: Some(4),
            cooling: Some(true),
            ..SensorReadings::default()
        };
        let worse = SensorReadings {
            hottest_millic: Some(80_000),
            throttle_bits: Some(5),
            cooling: Some(true),
            lowest_khz: Some(1_800_000),
            ..SensorReadings::default()
        };
        assert_eq!((cool.worse(hot), hot.worse(cool)), (worse, worse));
        assert_eq!(hot.worse(hot), hot);
    }

    #[test]
    fn a_machine_without_sensors_has_no_readings() {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let root = Root::new(place.path());
        let mut watch = Watch::start(&root);
        watch.look();
        watch.look_at_clocks([0]);
        assert_eq!(watch.climate, SensorReadings::default());
    }
}
