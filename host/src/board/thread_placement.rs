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

impl Board {
    /// Places the threads of a case on `host` by the profile. If the host lacks the CPUs that the profile relies on,
    /// computes the placement from the topology and returns the reason.
    ///
    /// # Errors
    /// Fails if the profile has no placement for this many threads. The plan shows the message as the reason for
    /// skipping the case.
    pub fn placement(&self, threads: Threads, host: &Host) -> Result<Placed, String> {
        let generic = |reason: Option<String>| Placed {
            placement: Placement::generic(threads, &host.cpus),
            fallback_reason: reason.map(|reason| format!("generic placement: {reason}")),
        };
        let Some(most) = self.loopback.iter().map(|it| it.threads).max() else {
            return Ok(generic(None));
        };
        let pinned = smallest_fit(&self.loopback, threads, |pinned| pinned.threads);
        let placement =
            pinned.and_then(|it| Placement::from_lists(threads, &it.senders, &it.receivers));
        let placement = placement.ok_or_else(|| {
            format!("the profile has at most {most} threads: use --board generic or --pin")
        })?;
        let reason = self.unlike(placement.cpus().flatten(), host);
        Ok(match reason {
            Some(_) => generic(reason),
            None => Placed {
                placement,
                fallback_reason: None,
            },
        })
    }

    /// Places `count` threads of one role on `host`, with the other role on another host: by the profile, or computed
    /// from the topology, with the reason. Either way the interrupts of `interface` have a CPU of their own if there
    /// are enough CPUs.
    pub fn one_sided_placement(
        &self,
        count: usize,
        host: &Host,
        interface: &str,
    ) -> (Vec<Option<usize>>, Option<String>) {
        let name = &self.name;
        let nic = host.nics.iter().find(|nic| nic.name == interface);
        let irq_cpus = nic.map_or(&[][..], |nic| &nic.irq_cpus);
        let threads = u16::try_from(count).ok().and_then(|it| it.try_into().ok());
        let wired = threads.and_then(|threads| self.one_sided_cpus(threads));
        let reason = match wired {
            None if self.wire.is_empty() => None,
            None => Some(format!(
                "{name} has no [[wire]] for {count} threads of one role"
            )),
            Some(cpus) => self.unlike(cpus.iter().copied(), host).or_else(|| {
                let mut shared = cpus.iter().filter(|_| host.cpus.len() > cpus.len());
                let cpu = shared.find(|cpu| irq_cpus.contains(cpu))?;
                Some(format!("the interrupt of {interface} is on CPU {cpu}"))
            }),
        };
        match wired.filter(|_| reason.is_none()) {
            Some(cpus) => (cpus.iter().copied().map(Some).collect(), None),
            None => (
                Placement::apart(count, &host.cpus, irq_cpus),
                reason.map(|reason| format!("generic placement: {reason}")),
            ),
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

    /// Returns the reason why `host` lacks one of these CPUs, or is not the board, if it is so.
    fn unlike(&self, mut cpus: impl Iterator<Item = usize>, host: &Host) -> Option<String> {
        let Some(cpu) = cpus.find(|&cpu| !host.has_cpu(cpu)) else {
            return self.contradiction(host);
        };
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
