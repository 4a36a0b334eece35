//! Writes the CPUs of a board into its draft profile.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::list;
use crate::facts::{Cpu, Host};
use crate::sys::files::Root;

/// The number of CPUs of the board, and the ones that this process may use.
pub(super) struct Cpus<'a> {
    count: usize,
    usable: &'a [Cpu],
}

impl<'a> Cpus<'a> {
    pub(super) fn read(host: &'a Host, root: &Root) -> Option<Self> {
        let present = root.cpu_list("sys/devices/system/cpu/present");
        let usable = host.cpus.iter().map(|cpu| cpu.id);
        let last = present.into_iter().flatten().chain(usable).max()?;
        Some(Self {
            count: last + 1,
            usable: &host.cpus,
        })
    }

    pub(super) fn all_usable(&self) -> bool {
        self.usable.len() == self.count
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "\n[cpus]\n# /sys/devices/system/cpu/present: 0 to {}.\ncount = {}\n",
            self.count - 1,
            self.count
        );
        if !self.all_usable() {
            text += "# Not all of them could be used when this was written: whether some are big is not known.\n";
            return text;
        }
        let kinds = self.kinds();
        if kinds.len() > 1 {
            let kind = |((capacity, _, khz, part), cpus): (&Speed, &Vec<usize>)| {
                let mhz = khz / 1000;
                format!(
                    "{capacity}, part {part:#x}, {mhz} MHz (CPUs {})",
                    list(cpus)
                )
            };
            let kinds = kinds.iter().map(kind).collect::<Vec<_>>().join("\n#   ");
            let _ = writeln!(
                text,
                "# cpu_capacity, core in /proc/cpuinfo, highest clock:\n#   {kinds}"
            );
        }
        let big = self.big();
        if !big.is_empty() {
            let _ = writeln!(text, "big = [{}]", list(&big));
        }
        text
    }

    /// Groups the CPUs by speed.
    fn kinds(&self) -> BTreeMap<Speed, Vec<usize>> {
        let mut kinds = BTreeMap::<Speed, Vec<usize>>::new();
        for cpu in self.usable {
            kinds.entry(cpu.speed()).or_default().push(cpu.id);
        }
        kinds
    }

    /// Returns the CPUs above the widest step from one speed to the next. A step of less than a fifth does not count:
    /// clusters of one kind may differ a little in their highest clocks.
    fn big(&self) -> Vec<usize> {
        let kinds = self.kinds();
        let speeds: Vec<Speed> = kinds.keys().copied().collect();
        let steps = speeds
            .windows(2)
            .map(|pair| (step(pair[0], pair[1]), pair[1]));
        let widest = steps.max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, least)) = widest.filter(|(step, _)| *step >= 1.2) else {
            return Vec::new();
        };
        let mut big: Vec<usize> = kinds
            .range(least..)
            .flat_map(|(_, cpus)| cpus.clone())
            .collect();
        big.sort_unstable();
        big
    }
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
