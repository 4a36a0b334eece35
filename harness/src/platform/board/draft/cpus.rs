//! The CPUs that a board has, for its draft.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::list;
use crate::platform::host::{Cpu, Host};
use crate::sys::files::{Root, parse_cpu_list};

/// The CPUs that the board has, and those of them that this process may use.
pub(super) struct Cpus<'a> {
    count: usize,
    usable: &'a [Cpu],
}

impl<'a> Cpus<'a> {
    pub(super) fn read(host: &'a Host, root: &Root) -> Option<Self> {
        let present = root.text("sys/devices/system/cpu/present");
        let present = present
            .and_then(|list| parse_cpu_list(&list).ok())
            .unwrap_or_default();
        let usable = host.cpus.iter().map(|cpu| cpu.id);
        let last = present.into_iter().chain(usable).max()?;
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
            let kinds = kinds
                .iter()
                .map(|(capacity, cpus)| format!("{capacity} (CPUs {})", list(cpus)));
            let kinds = kinds.collect::<Vec<_>>().join("; ");
            let _ = writeln!(text, "# cpu_capacity: {kinds}.");
        }
        let big = self.big();
        if !big.is_empty() {
            let _ = writeln!(text, "big = [{}]", list(&big));
        }
        text
    }

    /// The CPUs of each capacity.
    fn kinds(&self) -> BTreeMap<u32, Vec<usize>> {
        let mut kinds = BTreeMap::<u32, Vec<usize>>::new();
        for cpu in self.usable {
            kinds.entry(cpu.capacity).or_default().push(cpu.id);
        }
        kinds
    }

    /// The CPUs above the widest step from one capacity to the next. A step of less than a fifth is none:
    /// clusters of one kind may differ a little in their highest clocks.
    fn big(&self) -> Vec<usize> {
        let kinds = self.kinds();
        let capacities: Vec<u32> = kinds.keys().copied().collect();
        let steps = capacities
            .windows(2)
            .map(|pair| (f64::from(pair[1]) / f64::from(pair[0].max(1)), pair[1]));
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
