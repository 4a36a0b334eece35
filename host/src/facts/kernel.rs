//! Reads facts about the kernel: architecture, configuration and load.

use std::fs;
use std::io::Read;

use flate2::read::DeflateDecoder;
use nix::sys::utsname::uname;
use nix::unistd::{SysconfVar, sysconf};

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

/// Returns the preemption flavour in the version line (`init/version-timestamp.c`, `scripts/mkcompile_h`). A
/// `PREEMPT_DYNAMIC` kernel runs in one of several modes, which only root may see.
pub(super) fn preemption(root: &Root, version: &str) -> String {
    if is_real_time(root, version) {
        return REAL_TIME.to_owned();
    }
    let flavour = version
        .split_whitespace()
        .find(|word| word.starts_with("PREEMPT"));
    let modes = root.text("sys/kernel/debug/sched/preempt");
    let mode = modes.as_deref().and_then(|modes| {
        let (_, rest) = modes.split_once('(')?;
        Some(rest.split_once(')')?.0)
    });
    match (flavour, mode) {
        (Some(flavour), Some(mode)) => format!("{flavour} {mode}"),
        (Some(flavour), None) => flavour.to_owned(),
        (None, _) => "none".to_owned(),
    }
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

/// The kernel's configuration.
pub(super) struct Config(Option<String>);

impl Config {
    /// Reads the kernel's own configuration, or the file that distributions put beside the kernel.
    pub(super) fn read(root: &Root, release: Option<&str>) -> Self {
        let own = || unpack(&fs::read(root.path("proc/config.gz")).ok()?);
        let beside = || root.text(format!("boot/config-{}", release?));
        Self(own().or_else(beside))
    }

    /// Returns whether an option is set, such as `IRQ_TIME_ACCOUNTING`. `None`: the configuration is unknown.
    pub(super) fn has(&self, option: &str) -> Option<bool> {
        let line = format!("CONFIG_{option}=y");
        let config = self.0.as_ref()?;
        Some(config.lines().any(|it| it == line))
    }
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
        let modes = b"none voluntary (full) lazy\n";
        let (_dir, root) = tree(&[("sys/kernel/debug/sched/preempt", modes)]);
        assert_eq!(
            preemption(&root, "#1 SMP PREEMPT_DYNAMIC"),
            "PREEMPT_DYNAMIC full"
        );
    }

    #[test]
    fn the_configuration_is_found_in_the_kernel_or_beside_it() {
        let yes = "CONFIG_SMP=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n";
        let no = "CONFIG_SMP=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(yes.as_bytes()).expect("into memory");
        let packed = gzip.finish().expect("into memory");
        let irq_time_accounting =
            |root: &Root, release| Config::read(root, release).has("IRQ_TIME_ACCOUNTING");
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
}
