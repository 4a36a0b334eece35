//! Lists the interfaces with hardware behind them.

use serde::{Deserialize, Serialize};

use super::interface;
use super::interrupts::cpus_of_irqs;
use super::network::{device, irqs, rps_cpus};
use crate::sys::files::Root;

/// A network interface with hardware behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    /// Name, such as `eth0`.
    pub name: String,
    /// Numbers of its interrupts, if `/proc/interrupts` names the interface.
    pub irqs: Vec<u32>,
    /// CPUs that take its interrupts.
    pub irq_cpus: Vec<usize>,
    /// CPUs that RPS hands its packets to. Empty: RPS is off.
    pub rps_cpus: Vec<usize>,
}

/// Returns the interfaces that have a device, by name. Empty if `/sys` shows those of another network namespace.
pub(super) fn all(root: &Root) -> Vec<Nic> {
    let is_in_sys = interface::is_in_sys(root);
    let names = interface::names(root).into_iter().filter(|_| is_in_sys);
    names
        .filter_map(|name| {
            device(root, &name)?;
            let irqs = irqs(root, &name);
            Some(Nic {
                rps_cpus: rps_cpus(root, &name).unwrap_or_default(),
                name,
                irq_cpus: cpus_of_irqs(root, &irqs),
                irqs,
            })
        })
        .collect()
}
