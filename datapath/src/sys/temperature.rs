//! Temperatures of the CPUs: selects their sensors and rejects impossible values.

use std::ops::RangeInclusive;

use crate::sys::files::Root;

/// Temperatures of a machine at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Temperatures {
    /// The hottest sensor of the CPUs or of their chip. `None`: no such sensor has a possible value.
    pub hottest: Option<Reading>,
    /// Sensors that were read and have an impossible value: the name, and the value in words.
    pub ignored: Vec<(String, String)>,
}

/// Value of one sensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The sensor's name, such as `cpu-thermal`.
    pub sensor: String,
    /// Temperature in thousandths of a degree Celsius.
    pub millic: i32,
}

/// Returns the temperature of the hottest sensor of the CPUs or of their chip, in thousandths of a degree Celsius.
pub fn hottest_millic(root: &Root) -> Option<i32> {
    Temperatures::read(root)
        .hottest
        .map(|hottest| hottest.millic)
}

impl Temperatures {
    /// Reads the thermal zones. The zones of the CPUs count. If none of them has a possible value, the CPU sensors in
    /// hwmon are read, and else the zones of unknown devices count. Sensors that are named after another device are
    /// never used: a radio at 84 C says nothing about the CPUs.
    pub fn read(root: &Root) -> Self {
        let mut ignored = Vec::new();
        let zones = zones(root);
        let mut of = |wanted: Device| {
            let sensors = zones
                .iter()
                .filter(|(name, _)| Device::from_name(name) == wanted);
            hottest(sensors, &mut ignored)
        };
        let (of_cpus, unknown) = (of(Device::Cpu), of(Device::Unknown));
        Self {
            hottest: of_cpus
                .or_else(|| hottest(&hwmon(root), &mut ignored))
                .or(unknown),
            ignored,
        }
    }
}

/// A sensor that could be read: its name, and the text of its file.
type Sensor = (String, String);

/// Returns the hottest of some sensors, and adds sensors with an impossible value to `ignored`.
fn hottest<'a>(
    sensors: impl IntoIterator<Item = &'a Sensor>,
    ignored: &mut Vec<(String, String)>,
) -> Option<Reading> {
    let mut hottest: Option<Reading> = None;
    for (name, text) in sensors {
        let sensor = name.clone();
        match parse_millidegrees(text) {
            Ok(millic) if hottest.as_ref().is_none_or(|it| millic >= it.millic) => {
                hottest = Some(Reading { sensor, millic });
            }
            Ok(_) => {}
            Err(rejected) => ignored.push((sensor, rejected)),
        }
    }
    hottest
}

/// Device that a sensor measures, judged by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    /// The CPUs, or the chip that they are on.
    Cpu,
    /// Another device.
    Other,
    /// The name does not say.
    Unknown,
}

/// Parts of the names of CPU sensors, in the device trees of Linux 6.18 and in its hwmon drivers (2026-11).
const CPU_NAMES: &[&str] = &[
    "cpu", "soc", "core", "cluster", "package", "pkg", "mpu", "tj-", "k10temp", "scpi",
];
/// Parts of the names of sensors of other devices: radios, disks, power management chips, batteries, modems. They
/// outweigh [`CPU_NAMES`].
const OTHER_NAMES: &[&str] = &[
    "wifi", "wlan", "_phy", "ath1", "nvme", "drive", "pmic", "pmk", "pm8", "batt", "charger",
    "modem",
];

impl Device {
    fn from_name(name: &str) -> Self {
        let name = name.to_lowercase();
        let is_like = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if is_like(OTHER_NAMES) {
            Self::Other
        } else if is_like(CPU_NAMES) {
            Self::Cpu
        } else {
            Self::Unknown
        }
    }
}

/// Reads the thermal zones (kernel ABI doc sysfs-class-thermal).
fn zones(root: &Root) -> Vec<Sensor> {
    let directory = "sys/class/thermal";
    let zones = root.names(directory, "thermal_zone").into_iter();
    let sensor = |zone: String| {
        let text = root.text(format!("{directory}/{zone}/temp"))?;
        let kind = root.text(format!("{directory}/{zone}/type"));
        Some((kind.unwrap_or(zone), text))
    };
    zones.filter_map(sensor).collect()
}

/// Reads the CPU sensors in hwmon (kernel doc hwmon/sysfs-interface). Other sensors in hwmon belong to boards, disks
/// and radios.
fn hwmon(root: &Root) -> Vec<Sensor> {
    let class = "sys/class/hwmon";
    let mut sensors = Vec::new();
    for hwmon in root.names(class, "hwmon") {
        let directory = format!("{class}/{hwmon}");
        let driver = root.text(format!("{directory}/name")).unwrap_or(hwmon);
        for file in root.names(&directory, "temp") {
            let Some(channel) = file.strip_suffix("_input") else {
                continue;
            };
            let label = root.text(format!("{directory}/{channel}_label"));
            let name = label.map_or_else(|| driver.clone(), |label| format!("{driver} {label}"));
            let text = root.text(format!("{directory}/{file}"));
            sensors.extend(text.map(|text| (name, text)));
        }
    }
    sensors.retain(|(name, _)| Device::from_name(name) == Device::Cpu);
    sensors
}

/// Possible temperatures in thousandths of a degree Celsius: the range in which chips work, with margins. Drivers
/// without a value show -274 C or the largest number.
pub const POSSIBLE_MILLIC: RangeInclusive<i64> = -40_000..=150_000;

/// Parses the file of a sensor. The error is the rejected value in words.
fn parse_millidegrees(text: &str) -> Result<i32, String> {
    /// Values that are taken for whole degrees. Vendors' kernels show these (Allwinner's 3.4 and 3.10; Armbian's
    /// armbianmonitor makes the same distinction). In thousandths of a degree they would mean a chip just above 0 C.
    const WHOLE_DEGREES: RangeInclusive<i64> = 10..=150;
    let text = text.trim();
    let Ok(value) = text.parse::<i64>() else {
        let start: String = text.chars().take(20).collect();
        return Err(format!("{start:?}"));
    };
    let value = if WHOLE_DEGREES.contains(&value) {
        value * 1000
    } else {
        value
    };
    let is_possible = POSSIBLE_MILLIC.contains(&value);
    let millic = i32::try_from(value).ok().filter(|_| is_possible);
    millic.ok_or_else(|| format!("{:.1} C", value as f64 / 1000.0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the temperatures of a machine with these sensors, each a name and the text of its file.
    fn read_fixture(zones: &[(&str, &str)], hwmon: &[(&str, &str)]) -> Temperatures {
        let dir = tempfile::TempDir::new().expect("a temporary directory");
        let write = |directory: String, files: [(&str, &str); 2]| {
            let directory = dir.path().join(directory);
            fs::create_dir_all(&directory).expect("writable");
            for (file, text) in files {
                fs::write(directory.join(file), text).expect("writable");
            }
        };
        for (n, (name, text)) in zones.iter().enumerate() {
            let directory = format!("sys/class/thermal/thermal_zone{n}");
            write(directory, [("type", name), ("temp", text)]);
        }
        for (n, (name, text)) in hwmon.iter().enumerate() {
            let directory = format!("sys/class/hwmon/hwmon{n}");
            write(directory, [("name", name), ("temp1_input", text)]);
        }
        Temperatures::read(&Root::new(dir.path()))
    }

    fn hottest_of(zones: &[(&str, &str)], hwmon: &[(&str, &str)]) -> Option<(String, i32)> {
        let hottest = read_fixture(zones, hwmon).hottest?;
        Some((hottest.sensor, hottest.millic))
    }

    #[test]
    fn a_value_is_a_temperature_if_a_chip_can_have_it() {
        let values = [
            ("48686\n", Ok(48_686)),
            ("-5000", Ok(-5000)),
            ("0", Ok(0)),
            ("150000", Ok(150_000)),
            ("-40000", Ok(-40_000)),
            ("44", Ok(44_000)),
            ("150001", Err("150.0 C".to_owned())),
            ("-274000", Err("-274.0 C".to_owned())),
            ("2147483647", Err("2147483.6 C".to_owned())),
            ("-650788984", Err("-650789.0 C".to_owned())),
            ("", Err("\"\"".to_owned())),
            (
                "48.5\u{1b}[2J and more, and more",
                Err("\"48.5\\u{1b}[2J and more, a\"".to_owned()),
            ),
            (
                "99999999999999999999",
                Err("\"99999999999999999999\"".to_owned()),
            ),
        ];
        for (text, expected) in values {
            assert_eq!(parse_millidegrees(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_sensors_of_the_cpus_are_the_cpus_temperature() {
        let cpu = ("cpu-thermal", "48686");
        let is_cpus = |zones: &[(&str, &str)]| hottest_of(zones, &[]) == hottest_of(&[cpu], &[]);
        for other in [
            "iwlwifi_1",
            "nvme",
            "PMIC-Die",
            "gpu-thermal",
            "battery",
            "ddr-thermal",
            "ve-thermal",
            "pm8350-thermal",
            "mt7921_phy0",
        ] {
            assert!(is_cpus(&[(other, "84000"), cpu]), "{other}");
        }
        let zones = [
            ("littlecore-thermal", "41000"),
            ("bigcore0-thermal", "42000"),
            ("soc-thermal", "41615"),
        ];
        assert_eq!(
            hottest_of(&zones, &[]),
            Some(("bigcore0-thermal".to_owned(), 42_000))
        );
        // The name does not tell what the sensor measures, and there is no other sensor.
        assert_eq!(
            hottest_of(&[("main0-thermal", "50000")], &[]),
            Some(("main0-thermal".to_owned(), 50_000))
        );
        assert_eq!(hottest_of(&[("iwlwifi_1", "84000")], &[]), None);
        assert_eq!(hottest_of(&[], &[]), None);
    }

    #[test]
    fn hwmon_counts_where_no_zone_shows_the_cpus_temperature() {
        let hwmon = [
            ("cpu_thermal", "84000"),
            ("nvme", "99000"),
            ("lm75", "98000"),
        ];
        let package = [("coretemp Physical id 0", "51000")];
        assert_eq!(
            hottest_of(&[], &package),
            Some((package[0].0.to_owned(), 51_000))
        );
        let expected = Some(("cpu_thermal".to_owned(), 84_000));
        assert_eq!(hottest_of(&[], &hwmon), expected);
        assert_eq!(
            hottest_of(&[("thermal-fan-est", "50000")], &hwmon),
            expected
        );
        assert_eq!(hottest_of(&[("cpu-thermal", "-274000")], &hwmon), expected);
        assert_eq!(
            hottest_of(&[("cpu-thermal", "50000")], &hwmon),
            Some(("cpu-thermal".to_owned(), 50_000))
        );
        assert_eq!(hottest_of(&[], &hwmon[1..]), None);
    }

    #[test]
    fn what_cannot_be_true_is_ignored_and_said() {
        let zones = [
            ("bogus-thermal", "2147483647"),
            ("cpu-thermal", "-650788984"),
            ("soc-thermal", "41615"),
            ("iwlwifi_1", "-274000"),
        ];
        let ignored = |zones| read_fixture(zones, &[]).ignored;
        let cpu = ("cpu-thermal".to_owned(), "-650789.0 C".to_owned());
        let bogus = ("bogus-thermal".to_owned(), "2147483.6 C".to_owned());
        assert_eq!(ignored(&zones), [cpu, bogus]);
        assert_eq!(
            hottest_of(&zones, &[]),
            Some(("soc-thermal".to_owned(), 41_615))
        );
    }

    #[test]
    fn a_zone_that_cannot_be_read_is_passed_over() {
        let dir = tempfile::TempDir::new().expect("a temporary directory");
        // Reading a directory fails, and so does reading a zone without a sensor.
        let zone = dir.path().join("sys/class/thermal/thermal_zone0/temp");
        fs::create_dir_all(zone).expect("writable");
        assert_eq!(
            Temperatures::read(&Root::new(dir.path())),
            Temperatures::default()
        );
    }
}
