//! CPUs that both ends of a case share, and the `--pin` that gives each end its own.

use super::{Plan, Planned, Wire};
use crate::host::facts::Cpu;
use crate::host::placement::{Pin, Placement};

impl Planned {
    /// Returns a CPU that senders and receivers share. `None`: they share none, or are on two machines.
    pub fn shared_cpu(&self, wire: Option<&Wire>) -> Option<usize> {
        let is_one_machine = wire.is_none_or(|wire| wire.is_one_machine(&self.case));
        self.placement().filter(|_| is_one_machine)?.shared_cpu()
    }
}

impl Plan {
    /// Returns the value of `--pin` that gives each end CPUs of its own, where a sweep over loopback places them.
    ///
    /// # Errors
    /// Fails if the machine has too few `cpus`. The message says what to do instead.
    pub fn pin_apart(&self, cpus: &[Cpu]) -> Result<Pin, &'static str> {
        let threads = self.runnable().map(|planned| planned.case.threads);
        let placed = threads.max().map(|most| Placement::generic(most, cpus));
        let apart = placed.filter(|placed| placed.shared_cpu().is_none());
        let list = |cpus: &[Option<usize>]| cpus.iter().flatten().copied().collect::<Vec<_>>();
        let lists = apart.map(|placed| (list(&placed.senders), list(&placed.receivers)));
        match lists.filter(|(senders, _)| !senders.is_empty()) {
            Some((senders, receivers)) => Ok(Pin::To(senders, receivers)),
            None if cpus.len() == 1 => {
                Err("this machine has only one CPU for both ends: measure between two machines")
            }
            None => Err("this machine has too few CPUs for both ends: measure between two"),
        }
    }
}
