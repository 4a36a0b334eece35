//! Places the threads of a case on a host by its profile, and checks that the host is the board of the profile.

use super::Board;
use crate::data::Threads;
use crate::facts::{Cpu, Host};
use crate::placement::Placement;

/// The placement of a case's threads on one host.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The CPUs.
    pub placement: Placement,
    /// Reason for not following the profile. `None` if it is followed.
    pub fallback_reason: Option<String>,
}

/// The placement of the threads of one role, with the other role on another host.
#[derive(Clone, Debug)]
pub struct OneSidedPlacement {
    /// The CPU of each thread. `None`: not pinned.
    pub cpus: Vec<Option<usize>>,
    /// Reason for not following the profile. `None` if it is followed.
    pub fallback_reason: Option<String>,
}

/// Returns the CPUs that take the interrupts of an interface. Empty if unknown.
fn irq_cpus_of<'a>(host: &'a Host, interface: &str) -> &'a [usize] {
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
    /// Fails if the profile has no placement for this many threads. The plan shows the message as the reason for
    /// skipping the case.
    pub fn placement(&self, threads: Threads, host: &Host) -> Result<Placed, String> {
        let generic = || Placement::generic(threads, &host.cpus);
        if self.loopback.is_empty() {
            return Ok(Placed {
                placement: generic(),
                fallback_reason: None,
            });
        }
        let Some(placement) = self.loopback_placement(threads) else {
            let most = self.max_threads().unwrap_or_default();
            return Err(format!(
                "the profile has at most {most} threads: use --board generic or --pin"
            ));
        };
        let reason = self
            .missing(placement.cpus().flatten(), host)
            .or_else(|| self.contradiction(host));
        Ok(Placed {
            placement: if reason.is_some() {
                generic()
            } else {
                placement
            },
            fallback_reason: reason.map(|reason| format!("generic placement: {reason}")),
        })
    }

    /// Places `count` threads of one role on `host`, with the other role on another host: by the profile, or computed
    /// from the topology. Either way the interrupts of `interface` have a CPU of their own if there are enough CPUs.
    pub fn one_sided_placement(
        &self,
        count: usize,
        host: &Host,
        interface: &str,
    ) -> OneSidedPlacement {
        let name = &self.name;
        let irq_cpus = irq_cpus_of(host, interface);
        let generic = |reason: Option<String>| OneSidedPlacement {
            cpus: Placement::apart(count, &host.cpus, irq_cpus),
            fallback_reason: reason.map(|reason| format!("generic placement: {reason}")),
        };
        let threads = u16::try_from(count)
            .ok()
            .and_then(|count| count.try_into().ok());
        let Some(cpus) = threads.and_then(|threads| self.one_sided_cpus(threads)) else {
            let has_others = !self.wire.is_empty();
            return generic(
                has_others
                    .then(|| format!("{name} has no [[wire]] for {count} threads of one role")),
            );
        };
        let shared = || {
            let has_spare = host.cpus.len() > cpus.len();
            let shared = cpus.iter().find(|cpu| irq_cpus.contains(cpu));
            let shared = shared.filter(|_| has_spare);
            shared.map(|cpu| format!("the interrupt of {interface} is on CPU {cpu}"))
        };
        let reason = self
            .missing(cpus.iter().copied(), host)
            .or_else(|| self.contradiction(host))
            .or_else(shared);
        if reason.is_some() {
            return generic(reason);
        }
        OneSidedPlacement {
            cpus: cpus.iter().copied().map(Some).collect(),
            fallback_reason: None,
        }
    }

    /// Returns the CPUs for this many threads of one role on this board, with the other role on another host. `None`:
    /// the profile has none for this many.
    pub fn one_sided_cpus(&self, threads: Threads) -> Option<&[usize]> {
        let wire = smallest_fit(&self.wire, threads, |wire| wire.threads)?;
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
        let (big, other) = (least.id, most.id);
        (least.speed() <= most.speed())
            .then(|| format!("CPU {big} is big in {name}, but here not bigger than CPU {other}"))
    }

    /// Returns the CPUs for this many threads of both roles. `None`: the profile has none for this many.
    fn loopback_placement(&self, threads: Threads) -> Option<Placement> {
        let pinned = smallest_fit(&self.loopback, threads, |pinned| pinned.threads)?;
        Placement::from_lists(threads, &pinned.senders, &pinned.receivers)
    }

    /// Returns the reason why `host` lacks one of these CPUs, if it does.
    fn missing(&self, mut cpus: impl Iterator<Item = usize>, host: &Host) -> Option<String> {
        let cpu = cpus.find(|&cpu| !host.has_cpu(cpu))?;
        let (name, usable) = (&self.name, host.cpu_list());
        Some(format!(
            "{name} uses CPU {cpu}, but this process has only {usable}"
        ))
    }
}

/// Returns the entry for the fewest threads that are enough.
fn smallest_fit<T>(
    entries: &[T],
    threads: Threads,
    threads_of: impl Fn(&T) -> Threads,
) -> Option<&T> {
    let fitting = entries.iter().filter(|entry| threads_of(entry) >= threads);
    fitting.min_by_key(|entry| threads_of(entry))
}
