//! Reads facts about the kernel: architecture, configuration and load, and the clocks that it controls.

use std::fs;
use std::io::Read;

use flate2::read::DeflateDecoder;
use nix::sys::utsname::uname;
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

use crate::sys::files::Root;

/// Returns the kernel's architecture (`uname -m`). A 32-bit process may be told another name (personality(2)); the
/// file (Linux 6.1) shows every process the same one.
pub(super) fn machine(root: &Root) -> Option<String> {
    let asked = || {
        let name = uname().ok()?;
        Some(name.machine().to_string_lossy().into_owned())
    };
    let shown = root.text("proc/sys/kernel/arch");
    shown.or_else(|| asked().filter(|_| root.is_real()))
}

/// Returns the preemption flavour in the version line (`init/version-timestamp.c`, `scripts/mkcompile_h`).
pub(super) fn preemption(root: &Root, version: &str) -> String {
    if is_real_time(root, version) {
        return REAL_TIME.to_owned();
    }
    let mut words = version.split_whitespace();
    let flavour = words.find(|word| word.starts_with("PREEMPT"));
    flavour.unwrap_or("none").to_owned()
}

/// The preemption flavour of real-time kernels, as Linux writes it since 5.3.
const REAL_TIME: &str = "PREEMPT_RT";

/// Returns whether a kernel is a real-time one. Three generations call it by three names (as of Linux 6.18, 2026-11):
/// patches up to 5.2 wrote `PREEMPT RT` (`scripts/mkcompile_h` in patches-4.19.59-rt23), then it is `PREEMPT_RT`, and
/// kernels with several models in one write `PREEMPT_{RT,...}`. The patches also have a file for it.
fn is_real_time(root: &Root, version: &str) -> bool {
    let names = [REAL_TIME, "PREEMPT_{RT", "PREEMPT RT"];
    let is_named = names.iter().any(|name| version.contains(name));
    is_named || root.number("sys/kernel/realtime") == Some(1_u8)
}

/// Returns the size of a memory page in bytes, as `getconf PAGESIZE` shows it.
pub(super) fn page_bytes() -> Option<u64> {
    sysconf(SysconfVar::PAGE_SIZE).ok()??.try_into().ok()
}

/// Returns the kernel's own configuration, or that of the file which distributions put beside the kernel.
pub(super) fn configuration(root: &Root, release: Option<&str>) -> Option<String> {
    let own = || unpack(&fs::read(root.path("proc/config.gz")).ok()?);
    own().or_else(|| root.text(format!("boot/config-{}", release?)))
}

/// Returns whether an option of the kernel's configuration is set, such as `IRQ_TIME_ACCOUNTING`.
pub(super) fn is_set(configuration: &str, option: &str) -> bool {
    let line = format!("CONFIG_{option}=y");
    configuration.lines().any(|it| it == line)
}

/// Unpacks a file that the kernel's build packed with `gzip -n` (scripts/Makefile.lib): 10 bytes that name no file,
/// then a deflate stream (RFC 1952). A decoder of gzip would bring tables of 24 KB for the checksum at the end.
fn unpack(packed: &[u8]) -> Option<String> {
    let mut text = String::new();
    let stream = packed.strip_prefix(&[0x1f, 0x8b, 8, 0])?.get(6..)?;
    DeflateDecoder::new(stream).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the load average over one minute: the first field of `/proc/loadavg` (proc(5)).
pub(super) fn load_1min(root: &Root) -> Option<f64> {
    let loads = root.text("proc/loadavg")?;
    loads.split_whitespace().next()?.parse().ok()
}

/// One cpufreq policy: CPUs that share a clock (kernel doc admin-guide/pm/cpufreq).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpufreqPolicy {
    /// Name in the kernel, such as `policy4`.
    pub name: String,
    /// CPUs, as the kernel lists them.
    pub cpus: String,
    /// Driver that sets the clock.
    pub driver: Option<String>,
    /// Governor that chooses the clock.
    pub governor: Option<String>,
    /// Lowest clock that the governor may choose, in kHz.
    pub min_khz: Option<u64>,
    /// Highest clock that the governor may choose, in kHz.
    pub max_khz: Option<u64>,
    /// Last requested clock, in kHz. On a Raspberry Pi the firmware may run a lower one.
    pub current_khz: Option<u64>,
    /// Highest clock of the hardware, in kHz.
    pub hardware_max_khz: Option<u64>,
    /// Directory of its files, below the root.
    #[serde(skip)]
    pub directory: String,
}

impl CpufreqPolicy {
    /// Returns the pattern that matches a file of all policies of this machine, for a shell.
    pub fn files(&self, file: &str) -> String {
        let pattern = self.directory.replace(|c: char| c.is_ascii_digit(), "*");
        format!("/{pattern}/{file}")
    }

    fn read(root: &Root, name: String, directory: String) -> Self {
        let text = |file: &str| root.text(format!("{directory}/{file}"));
        let number = |file: &str| root.number(format!("{directory}/{file}"));
        let cpus = text("related_cpus").or_else(|| text("affected_cpus"));
        Self {
            // On old kernels, the directory may be that of a CPU alone.
            cpus: cpus.unwrap_or_else(|| name.trim_start_matches(char::is_alphabetic).to_owned()),
            name,
            driver: text("scaling_driver"),
            governor: text("scaling_governor"),
            min_khz: number("scaling_min_freq"),
            max_khz: number("scaling_max_freq"),
            current_khz: number("scaling_cur_freq"),
            hardware_max_khz: number("cpuinfo_max_freq"),
            directory,
        }
    }
}

/// Returns every policy, by number: those of `cpufreq/policyN`, and then those below CPUs that none of these has.
///
/// Before Linux 4.x there is no directory `cpufreq/policyN`: each CPU has the files in a directory of its own, or a
/// link to that of the CPU that it shares its clock with ("cpufreq: create cpu/cpufreq/policyX directories", 2015).
pub(crate) fn policies(root: &Root) -> Vec<CpufreqPolicy> {
    const CPUS: &str = "sys/devices/system/cpu";
    let names = root.names(format!("{CPUS}/cpufreq"), "policy").into_iter();
    let mut places: Vec<(String, String)> = names
        .map(|name| (name.clone(), format!("{CPUS}/cpufreq/{name}")))
        .collect();
    let names = root.names(CPUS, "cpu").into_iter();
    let mut cpus: Vec<usize> = names.filter_map(|it| it[3..].parse().ok()).collect();
    cpus.sort_unstable();
    places.extend(
        cpus.iter()
            .map(|cpu| (format!("cpu{cpu}"), format!("{CPUS}/cpu{cpu}/cpufreq"))),
    );
    places.retain(|(_, directory)| root.path(directory).is_dir());
    let mut found: Vec<CpufreqPolicy> = Vec::new();
    for (name, directory) in places {
        let policy = CpufreqPolicy::read(root, name, directory);
        // Other CPUs of a policy show it again, and so do new kernels below each CPU.
        if !found.iter().any(|known| known.cpus == policy.cpus) {
            found.push(policy);
        }
    }
    found
}

/// Returns the driver that puts idle CPUs to sleep. Without one, the kernel says `none`.
pub(super) fn cpuidle_driver(root: &Root) -> Option<String> {
    root.text("sys/devices/system/cpu/cpuidle/current_driver")
        .filter(|driver| driver != "none")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::tests::tree;
    use super::*;

    #[test]
    fn the_flavour_of_preemption_is_in_the_version_line() {
        let (_dir, root) = tree::<&str>(&[]);
        let flavour = |version: &str| preemption(&root, version);
        assert_eq!(
            flavour("Linux version 6.6.31 (gcc) #1 SMP PREEMPT Debian 1:6.6"),
            "PREEMPT"
        );
        assert_eq!(
            flavour("Linux version 6.1 #1 SMP PREEMPT_RT x"),
            "PREEMPT_RT"
        );
        for (version, expected) in [
            // 2019: RealtimePi #17.
            (
                "#1 SMP PREEMPT RT Tue Jul 23 15:57:25 CEST 2019",
                "PREEMPT_RT",
            ),
            ("#1 PREEMPT_RT Debian 6.1.119-1", "PREEMPT_RT"),
            ("#1 SMP PREEMPT_{RT,LAZY} Debian", "PREEMPT_RT"),
            ("#1 SMP PREEMPT Thu RT 2024", "PREEMPT"),
            ("#1 SMP PREEMPT_DYNAMIC RT", "PREEMPT_DYNAMIC"),
            ("#1 SMP preempt rt", "none"),
        ] {
            assert_eq!(flavour(version), expected, "{version}");
        }
        let (_dir, root) = tree(&[("sys/kernel/realtime", "1\n")]);
        assert_eq!(preemption(&root, "#1 SMP PREEMPT"), "PREEMPT_RT");
        assert_eq!(flavour("Linux version 6.1.0 #1 SMP Debian"), "none");
    }

    #[test]
    fn the_configuration_is_found_in_the_kernel_or_beside_it() {
        let yes = "CONFIG_SMP=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n";
        let no = "CONFIG_SMP=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(yes.as_bytes()).expect("into memory");
        let packed = gzip.finish().expect("into memory");
        let irq_time_accounting = |root: &Root, release| {
            Some(is_set(
                &configuration(root, release)?,
                "IRQ_TIME_ACCOUNTING",
            ))
        };
        let (_dir, root) = tree(&[
            ("proc/config.gz", &packed[..]),
            ("boot/config-6.1", no.as_bytes()),
        ]);
        assert_eq!(irq_time_accounting(&root, Some("6.1")), Some(true));
        let (_dir, root) = tree(&[("boot/config-6.1", no.as_bytes())]);
        assert_eq!(irq_time_accounting(&root, Some("6.1")), Some(false));
        assert_eq!(irq_time_accounting(&root, Some("6.2")), None);
        let (_dir, root) = tree(&[("proc/config.gz", b"no gzip")]);
        assert_eq!(irq_time_accounting(&root, Some("6.1")), None);
    }
    #[test]
    fn old_kernels_have_their_clocks_below_each_cpu() {
        const CPUS: &str = "sys/devices/system/cpu";
        let file = |cpu: usize, name: &str| format!("{CPUS}/cpu{cpu}/cpufreq/{name}");
        let mut files = Vec::new();
        for cpu in [0, 1, 2, 10] {
            let cpus = if cpu < 2 { "0 1" } else { "2 10" };
            files.push((file(cpu, "related_cpus"), cpus));
            files.push((file(cpu, "scaling_governor"), "ondemand\n"));
            files.push((file(cpu, "scaling_cur_freq"), "96000\n"));
        }
        files.push((format!("{CPUS}/cpufreq/ondemand/up_threshold"), "95\n"));
        files.push((format!("{CPUS}/cpuidle/current_driver"), "none\n"));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        let (_dir, root) = tree(&files);
        let found = policies(&root);
        let seen: Vec<(&str, &str, Option<u64>)> = found
            .iter()
            .map(|policy| (&*policy.name, &*policy.cpus, policy.current_khz))
            .collect();
        assert_eq!(
            seen,
            [
                ("cpu0", "0 1", Some(96_000)),
                ("cpu2", "2 10", Some(96_000))
            ]
        );
        // One that a new kernel lists is read once, and the others as well.
        let mixed = files.iter().copied().chain([
            ("sys/devices/system/cpu/cpufreq/policy0/related_cpus", "0 1"),
            (
                "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
                "5\n",
            ),
        ]);
        let (_dir, mixed) = tree(&mixed.collect::<Vec<_>>());
        let names: Vec<String> = policies(&mixed).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["policy0", "cpu2"]);
        let (directory, pattern) = (&found[1].directory, found[1].files("scaling_governor"));
        assert_eq!(directory, "sys/devices/system/cpu/cpu2/cpufreq");
        assert_eq!(
            pattern,
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
        );
    }
}
