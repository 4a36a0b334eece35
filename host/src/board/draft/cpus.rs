//! Writes the CPUs of a board into its draft profile.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::list;
use crate::facts::{Cpu, Host};
use crate::sys::files::Root;

/// Returns the number of CPUs of the board. `None`: it shows none.
pub(super) fn count(host: &Host, root: &Root) -> Option<usize> {
    let present = root.cpu_list("sys/devices/system/cpu/present");
    let usable = host.cpus.iter().map(|cpu| cpu.id);
    let last = present.into_iter().flatten().chain(usable).max()?;
    Some(last + 1)
}

/// Returns the table `[cpus]` of a board with so many CPUs, of which this process may use these.
pub(super) fn text(count: usize, usable: &[Cpu]) -> String {
    let last = count - 1;
    let mut text =
        format!("\n[cpus]\n# /sys/devices/system/cpu/present: 0 to {last}.\ncount = {count}\n");
    if usable.len() != count {
        text += "# Not all of them could be used when this was written: whether some are big is not known.\n";
        return text;
    }
    let mut kinds = BTreeMap::<Speed, Vec<usize>>::new();
    for cpu in usable {
        kinds.entry(cpu.speed()).or_default().push(cpu.id);
    }
    if kinds.len() > 1 {
        text += "# cpu_capacity, core in /proc/cpuinfo, highest clock:\n";
        for ((capacity, _, khz, part), cpus) in &kinds {
            let (mhz, cpus) = (khz / 1000, list(cpus));
            let _ = writeln!(
                text,
                "#   {capacity}, part {part:#x}, {mhz} MHz (CPUs {cpus})"
            );
        }
    }
    let big = big(&kinds);
    if !big.is_empty() {
        let _ = writeln!(text, "big = [{}]", list(&big));
    }
    text
}

/// Returns the CPUs above the widest step from one speed to the next. A step of less than a fifth does not count:
/// clusters of one kind may differ a little in their highest clocks.
fn big(kinds: &BTreeMap<Speed, Vec<usize>>) -> Vec<usize> {
    let speeds = kinds.keys().zip(kinds.keys().skip(1));
    let steps = speeds.map(|(slower, faster)| (step(*slower, *faster), faster));
    let widest = steps.max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, least)) = widest.filter(|(step, _)| *step >= 1.2) else {
        return Vec::new();
    };
    let big = kinds.range(least..).flat_map(|(_, cpus)| cpus);
    let mut big: Vec<usize> = big.copied().collect();
    big.sort_unstable();
    big
}

/// Speed, as returned by [`Cpu::speed`].
type Speed = (u32, bool, u64, u16);

/// Estimates the ratio of two speeds.
fn step(slower: Speed, faster: Speed) -> f64 {
    /// Ratio for different kinds of core with the same capacity. The real ratio is unknown then, as between an A53
    /// and an A73.
    const OTHER_CORE: f64 = 2.0;
    let (capacity, is_big, khz, part) = slower;
    if capacity != faster.0 {
        f64::from(faster.0) / f64::from(capacity.max(1))
    } else if is_big != faster.1 || part != faster.3 {
        OTHER_CORE
    } else {
        faster.2 as f64 / khz.max(1) as f64
    }
}
