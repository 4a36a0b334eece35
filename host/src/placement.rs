//! Chooses the CPU that each thread of a case is pinned to.
//!
//! On loopback all of the kernel's receive work runs on the sender's CPU (`loopback_xmit` hands the packet to the
//! same CPU's backlog, drivers/net/loopback.c). So the sender gets the bigger CPU. A receiver, the lighter side, gets
//! CPU 0 with its interrupts where CPU 0 must be used.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::Threads;
use crate::facts::{Cpu, Host};
use crate::text::cpu_list;

/// The CPUs of a case's bench threads. `None`: not pinned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placement {
    /// The CPU of each sender; in the one-thread mode, of the only thread.
    pub senders: Vec<Option<usize>>,
    /// The CPU of each receiver; empty in the one-thread mode.
    pub receivers: Vec<Option<usize>>,
}

impl Placement {
    /// Returns a placement that pins no thread.
    pub fn unpinned(threads: Threads) -> Self {
        Self {
            senders: vec![None; threads.senders()],
            receivers: vec![None; receiver_threads(threads)],
        }
    }

    /// Takes the first CPUs of two lists. `None` if a list is too short.
    pub fn from_lists(threads: Threads, senders: &[usize], receivers: &[usize]) -> Option<Self> {
        let take = |cpus: &[usize], count: usize| -> Option<Vec<Option<usize>>> {
            Some(cpus.get(..count)?.iter().copied().map(Some).collect())
        };
        Some(Self {
            senders: take(senders, threads.senders())?,
            receivers: take(receivers, receiver_threads(threads))?,
        })
    }

    /// Computes a placement from the host's topology: pairs of CPUs of one kind that share a cache, big ones first,
    /// one per core, CPU 0 last. With more threads than CPUs, senders and receivers go round the CPUs, so that none
    /// is idle.
    pub fn generic(threads: Threads, cpus: &[Cpu]) -> Self {
        let order = preferred_order(cpus);
        if order.is_empty() {
            return Self::unpinned(threads);
        }
        let (cpus, count) = (order.len(), threads.senders());
        let at = |n: usize| Some(order[n % cpus]);
        let (senders, receivers) = (0..count, 0..receiver_threads(threads));
        if threads.count() <= cpus {
            return Self {
                senders: senders.map(|n| at(2 * n)).collect(),
                receivers: receivers.map(|n| at(2 * n + 1)).collect(),
            };
        }
        // Receivers continue after the last sender's CPU. If the senders end in a full circle, receivers start one
        // CPU further, so that a pair does not share its CPU.
        let first = count + usize::from(count % cpus == 0);
        Self {
            senders: senders.map(at).collect(),
            receivers: receivers.map(|n| at(first + n)).collect(),
        }
    }

    /// Returns CPUs for `count` threads of one role alone, in the order of [`Placement::generic`], the `busy` ones
    /// last.
    pub fn apart(count: usize, cpus: &[Cpu], busy: &[usize]) -> Vec<Option<usize>> {
        let mut order = preferred_order(cpus);
        order.sort_by_key(|cpu| busy.contains(cpu));
        let at = |n: usize| order.get(n % order.len().max(1)).copied();
        (0..count).map(at).collect()
    }

    /// Returns the first CPU of a sender that a receiver has, too.
    pub fn shared_cpu(&self) -> Option<usize> {
        let mut senders = self.senders.iter().flatten().copied();
        senders.find(|cpu| self.receivers.contains(&Some(*cpu)))
    }

    /// Returns whether a thread is pinned.
    pub fn is_pinned(&self) -> bool {
        self.cpus().any(|cpu| cpu.is_some())
    }

    /// Returns the CPUs of the bench threads, senders first.
    pub fn cpus(&self) -> impl Iterator<Item = Option<usize>> {
        self.senders.iter().chain(&self.receivers).copied()
    }
}

impl fmt::Display for Placement {
    /// Writes the senders' CPUs and the receivers' CPUs, such as `2,1>3,0`. The colon of `--pin` is not used, as
    /// spreadsheets take it for a time of day.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |cpus: &[Option<usize>]| {
            let cpus: Vec<usize> = cpus.iter().flatten().copied().collect();
            cpu_list::join(&cpus, ",")
        };
        let (senders, receivers) = (list(&self.senders), list(&self.receivers));
        match (self.is_pinned(), self.receivers.is_empty()) {
            (false, _) => f.pad("none"),
            (true, true) => f.pad(&senders),
            (true, false) => f.pad(&format!("{senders}>{receivers}")),
        }
    }
}

/// Returns the number of receivers that have a thread of their own.
pub(crate) fn receiver_threads(threads: Threads) -> usize {
    if threads.is_alone() {
        0
    } else {
        threads.receivers()
    }
}

fn preferred_order(cpus: &[Cpu]) -> Vec<usize> {
    let mut order: Vec<&Cpu> = cpus.iter().collect();
    let is_sibling = |cpu: &Cpu| {
        // The first usable CPU of a core represents the core.
        cpus.iter()
            .any(|other| other.core == cpu.core && other.id < cpu.id)
    };
    order.sort_unstable_by_key(|cpu| {
        (
            is_sibling(cpu),
            Reverse(cpu.speed()),
            cpu.id == 0,
            Reverse(cpu.cache),
            Reverse(cpu.id),
        )
    });
    order.into_iter().map(|cpu| cpu.id).collect()
}

/// The value of `--pin`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pin {
    /// Pins threads by the board profile.
    #[default]
    Board,
    /// Pins no thread.
    None,
    /// CPUs of the senders, then CPUs of the receivers.
    To(Vec<usize>, Vec<usize>),
}

impl std::str::FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        let list = |list: &str| -> Result<Vec<usize>, String> {
            let cpus = list.split(',').map(|cpu| cpu.trim().parse());
            cpus.collect::<Result<_, _>>()
                .map_err(|_| PIN_FIX.to_owned())
        };
        match text.split_once(':') {
            Some((senders, receivers)) => Ok(Self::To(list(senders)?, list(receivers)?)),
            None => Ok(Self::To(list(text)?, Vec::new())),
        }
    }
}

impl fmt::Display for Pin {
    /// Writes the value in the syntax of `--pin`. Writes nothing for the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board => Ok(()),
            Self::None => f.write_str("none"),
            Self::To(senders, receivers) => {
                let colon = if receivers.is_empty() { "" } else { ":" };
                let [senders, receivers] = [senders, receivers].map(|it| cpu_list::join(it, ","));
                write!(f, "{senders}{colon}{receivers}")
            }
        }
    }
}

const PIN_FIX: &str = "use sender CPUs, a colon and receiver CPUs, such as 0,1:2,3, or none";

impl Pin {
    /// Checks that this host has the CPUs and that there are enough of them for `threads`.
    ///
    /// # Errors
    /// Fails if a CPU cannot be used or there are too few CPUs. The message names the fix.
    pub fn check(&self, threads: &[Threads], host: &Host) -> Result<(), String> {
        let Self::To(senders, receivers) = self else {
            return Ok(());
        };
        let pinnable = &host.pinnable_cpus;
        let mut cpus = senders.iter().chain(receivers);
        if let Some(cpu) = cpus.find(|cpu| !pinnable.contains(cpu)) {
            let why = if host.offline_cpus.contains(cpu) {
                "is offline"
            } else {
                "is not there, or a cpuset forbids it"
            };
            let usable = cpu_list::join(pinnable, ",");
            return Err(format!("CPU {cpu} {why}; usable: {usable}"));
        }
        let short =
            |threads: &&Threads| Placement::from_lists(**threads, senders, receivers).is_none();
        if let Some(threads) = threads.iter().find(short) {
            return Err(format!(
                "{threads} threads need {} sender CPUs and {} receiver CPUs; name more, or lower --threads",
                threads.senders(),
                receiver_threads(*threads),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: u16) -> Threads {
        count.try_into().expect("in range")
    }

    fn cpus(count: usize) -> Vec<Cpu> {
        let cpu = |id| Cpu {
            id,
            capacity: 1024,
            part: 0,
            max_khz: 0,
            core: id,
            cache: 0,
        };
        (0..count).map(cpu).collect()
    }

    fn generic(count: u16, cpus: &[Cpu]) -> String {
        Placement::generic(threads(count), cpus).to_string()
    }

    #[test]
    fn cpu_0_is_used_last_and_by_a_receiver() {
        let quad = cpus(4);
        assert_eq!(generic(1, &quad), "3");
        assert_eq!(generic(2, &quad), "3>2");
        assert_eq!(generic(3, &quad), "3,1>2");
        assert_eq!(generic(4, &quad), "3,1>2,0");
        assert_eq!(generic(2, &cpus(2)), "1>0");
    }

    #[test]
    fn a_crowd_goes_round_the_cpus_and_leaves_none_idle() {
        assert_eq!(generic(4, &cpus(2)), "1,0>0,1");
        assert_eq!(generic(8, &cpus(4)), "3,2,1,0>2,1,0,3");
        assert_eq!(generic(5, &cpus(4)), "3,2,1>0,3");
        assert_eq!(generic(3, &cpus(1)), "0,0>0");
    }

    #[test]
    fn pairs_stay_within_big_cores_and_within_a_cache() {
        // An RK3588: four A55 with private L2 under one L3, four A76.
        let mut cpus = cpus(8);
        for cpu in &mut cpus[..4] {
            cpu.capacity = 530;
        }
        assert_eq!(generic(4, &cpus), "7,5>6,4");
        // Two clusters, SMT siblings n and n + 4.
        let cpu = |id| Cpu {
            id,
            capacity: 1024,
            part: 0,
            max_khz: 0,
            core: id % 4,
            cache: id % 4 / 2 * 2,
        };
        let cpus: Vec<Cpu> = (0..8).map(cpu).collect();
        assert_eq!(generic(2, &cpus), "3>2");
    }

    #[test]
    fn where_capacities_are_alike_small_kinds_come_last_and_then_the_clock_tells() {
        /// The kernel's capacity, Arm's part number, MHz.
        type Cluster = (u32, u16, u64);
        const A53: u16 = 0xd03;
        const A55: u16 = 0xd05;
        const A73: u16 = 0xd09;
        const A78: u16 = 0xd41;
        const A725: u16 = 0xd87;
        const X925: u16 = 0xd85;
        // Clusters of four CPUs.
        let placed = |clusters: &[Cluster]| {
            let mut cpus = cpus(4 * clusters.len());
            for (n, cpu) in cpus.iter_mut().enumerate() {
                let (capacity, part, mhz) = clusters[n / 4];
                (cpu.capacity, cpu.part, cpu.max_khz) = (capacity, part, mhz * 1000);
            }
            generic(2, &cpus)
        };
        let cases: &[(&[Cluster], &str)] = &[
            // S912: one kind of core, two clocks.
            (&[(1024, A53, 1512), (1024, A53, 1000)], "3>2"),
            (&[(1024, A53, 1000), (1024, A53, 1512)], "7>6"),
            // S922X without capacities: its small cores have the higher clock.
            (&[(1024, A53, 1896), (1024, A73, 1704)], "7>6"),
            (&[(1024, A73, 1704), (1024, A53, 1896)], "3>2"),
            // No cpufreq, or no known core.
            (&[(1024, A73, 0), (1024, A53, 0)], "3>2"),
            (&[(1024, 0, 1800), (1024, 0, 1400)], "3>2"),
            (&[(1024, 0, 0), (1024, 0, 0)], "7>6"),
            // Three kinds.
            (
                &[(1024, A55, 1958), (1024, A78, 2707), (1024, A78, 2400)],
                "7>6",
            ),
            // The bigger core has the lower number, and the higher clock.
            (&[(1024, A725, 2860), (1024, X925, 3900)], "7>6"),
            (&[(1024, X925, 3900), (1024, A725, 2860)], "3>2"),
            // A big core of another maker beside Arm's small one.
            (&[(1024, A53, 1586), (1024, 0, 1500)], "7>6"),
            // The kernel's capacity comes first.
            (&[(1024, A53, 1000), (600, A73, 2000)], "3>2"),
        ];
        for (clusters, expected) in cases {
            assert_eq!(placed(clusters), *expected, "{clusters:?}");
        }
    }

    #[test]
    fn a_host_that_shows_no_cpus_pins_nobody() {
        assert_eq!(generic(2, &[]), "none");
    }

    #[test]
    fn pins_are_parsed_or_explained() {
        assert_eq!("none".parse(), Ok(Pin::None));
        assert_eq!("0,1:2,3".parse(), Ok(Pin::To(vec![0, 1], vec![2, 3])));
        assert_eq!("2".parse(), Ok(Pin::To(vec![2], vec![])));
        assert_eq!("x:1".parse::<Pin>(), Err(PIN_FIX.to_owned()));
        assert_eq!("".parse::<Pin>(), Err(PIN_FIX.to_owned()));
    }
}
