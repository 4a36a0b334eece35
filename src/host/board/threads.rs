//! Places the threads of a case on a host by its profile, and checks that the host is the board of the profile.

use super::Board;
use crate::data::Threads;
use crate::host::facts::{Cpu, Host};
use crate::host::placement::Placement;

/// The placement of a case's threads.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The CPUs.
    pub placement: Placement,
    /// Reason for not following the profile. `None` if it is followed.
    pub fallback: Option<String>,
}

/// Returns the CPUs that take the interrupts of an interface. Empty if unknown.
fn interrupted<'a>(host: &'a Host, interface: &str) -> &'a [usize] {
    let nic = host.nics.iter().find(|nic| nic.name == interface);
    nic.map_or(&[], |nic| &nic.irq_cpus)
}

impl Board {
    /// Returns the highest thread count that the profile has a placement for. `None`: any number.
    pub fn max_threads(&self) -> Option<usize> {
        let counts = self.loopback.iter().map(|pinned| pinned.threads.count());
        counts.max()
    }

    /// Places the threads of a case on `host` by the profile. If the host lacks the CPUs that the profile relies on,
    /// computes the placement from the topology and returns the reason.
    ///
    /// # Errors
    /// Fails if the profile has no placement for this many threads. The message is for the plan.
    pub fn placement(&self, threads: Threads, host: &Host) -> Result<Placed, String> {
        let generic = || Placement::generic(threads, &host.cpus);
        if self.loopback.is_empty() {
            return Ok(Placed {
                placement: generic(),
                fallback: None,
            });
        }
        let Some(placement) = self.pinned(threads) else {
            let most = self.max_threads().unwrap_or_default();
            return Err(format!(
                "the profile has at most {most} threads: use --board generic or --pin"
            ));
        };
        let reason = self
            .missing(&placement, host)
            .or_else(|| self.contradiction(host));
        Ok(match reason {
            Some(reason) => Placed {
                placement: generic(),
                fallback: Some(format!("generic placement: {reason}")),
            },
            None => Placed {
                placement,
                fallback: None,
            },
        })
    }

    /// Places `count` threads of one role on `host`, with the other role on another machine: by the profile, or
    /// computed from the topology. Either way the interrupts of `interface` have a CPU of their own if there are
    /// enough CPUs. The second value is the reason for not following the profile.
    pub fn of_one_role(
        &self,
        count: usize,
        host: &Host,
        interface: &str,
    ) -> (Vec<Option<usize>>, Option<String>) {
        let busy = interrupted(host, interface);
        let threads = u16::try_from(count)
            .ok()
            .and_then(|count| count.try_into().ok());
        let Some(cpus) = threads.and_then(|threads| self.wire(threads)) else {
            let fallback = (!self.wire.is_empty()).then(|| {
                let name = &self.name;
                format!("generic placement: {name} has no [[wire]] for {count} threads of one role")
            });
            return (Placement::apart(count, &host.cpus, busy), fallback);
        };
        let name = &self.name;
        let usable = host.cpu_list();
        let missing = cpus.iter().find(|&&cpu| !host.has_cpu(cpu));
        let missing = missing
            .map(|cpu| format!("{name} uses CPU {cpu}, but this process has only {usable}"))
            .or_else(|| self.contradiction(host));
        let shared = cpus
            .iter()
            .find(|cpu| busy.contains(cpu) && host.cpus.len() > cpus.len());
        let shared = shared.map(|cpu| format!("the interrupt of {interface} is on CPU {cpu}"));
        match missing.or(shared) {
            Some(reason) => (
                Placement::apart(count, &host.cpus, busy),
                Some(format!("generic placement: {reason}")),
            ),
            None => (cpus.iter().copied().map(Some).collect(), None),
        }
    }

    /// Returns the CPUs for this many threads of one role on this board, with the other role on another machine.
    /// `None` if the profile has none for this many.
    pub fn wire(&self, threads: Threads) -> Option<&[usize]> {
        let fitting = self.wire.iter().filter(|wire| wire.threads >= threads);
        let wire = fitting.min_by_key(|wire| wire.threads)?;
        wire.cpus.get(..threads.count())
    }

    /// Returns the reason why `host` cannot have the CPUs that the profile relies on (`[cpus]`), if there is one.
    ///
    /// Fewer CPUs are no contradiction (a cpuset, `maxcpus=`): the rest still fits the profile. Speeds are compared
    /// between the slowest big CPU and the fastest little one, not with the biggest CPU, because the big clusters of
    /// one chip may differ a little among themselves.
    pub fn contradiction(&self, host: &Host) -> Option<String> {
        let (cpus, name) = (self.cpus.as_ref()?, &self.name);
        if let Some(cpu) = host.cpus.iter().find(|cpu| cpu.id >= cpus.count) {
            let count = cpus.count;
            return Some(format!(
                "{name} has {count} CPUs, but this host has a CPU {}",
                cpu.id
            ));
        }
        let is_big = |cpu: &&Cpu| cpus.big.contains(&cpu.id);
        let (big, little): (Vec<&Cpu>, Vec<&Cpu>) = host.cpus.iter().partition(is_big);
        let least = big.iter().min_by_key(|cpu| cpu.speed())?;
        let most = little.iter().max_by_key(|cpu| cpu.speed())?;
        if least.speed() > most.speed() {
            return None;
        }
        let (big, other) = (least.id, most.id);
        Some(
            if host.cpus.iter().all(|cpu| cpu.speed() == least.speed()) {
                format!(
                    "{name} has big CPUs, but neither capacity, core nor clock tells CPU {big} from CPU {other}"
                )
            } else {
                format!("CPU {big} is big in {name}, but here not bigger than CPU {other}")
            },
        )
    }

    fn pinned(&self, threads: Threads) -> Option<Placement> {
        let fitting = self
            .loopback
            .iter()
            .filter(|pinned| pinned.threads >= threads);
        let pinned = fitting.min_by_key(|pinned| pinned.threads)?;
        Placement::from_lists(threads, &pinned.senders, &pinned.receivers)
    }

    fn missing(&self, placement: &Placement, host: &Host) -> Option<String> {
        let cpu = placement.cpus().flatten().find(|&cpu| !host.has_cpu(cpu))?;
        let (name, usable) = (&self.name, host.cpu_list());
        Some(format!(
            "{name} uses CPU {cpu}, but this process has only {usable}"
        ))
    }
}
