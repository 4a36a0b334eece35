//! Time that CPUs spent in each of their idle states, by the counters of cpuidle.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::files::Root;

/// Time in each idle state, in nanoseconds, summed over several CPUs; since boot, or over a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleTimes {
    /// Number of CPUs in the sums.
    pub cpus: usize,
    /// The states, the shallowest first. `state0` polls, or is the plain halt of the CPU.
    pub states: Vec<IdleState>,
}

/// An idle state, and the time spent in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// Name of the state in its driver, such as `WFI` or `C1`.
    pub name: String,
    /// Time in the state, in nanoseconds.
    pub ns: u64,
}

impl IdleTimes {
    /// Reads the idle times of these CPUs (`Documentation/admin-guide/pm/cpuidle.rst`). There are no states if the
    /// kernel does not count them.
    pub fn read(root: &Root, cpus: &BTreeSet<usize>) -> Self {
        // The key is number and name: little cores may have other states than big ones.
        let mut states: BTreeMap<(u32, String), u64> = BTreeMap::new();
        for cpu in cpus {
            for number in 0.. {
                let state = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}");
                let Some(name) = root.text(format!("{state}/name")) else {
                    break;
                };
                let us: u64 = root.number(format!("{state}/time")).unwrap_or(0);
                *states.entry((number, name)).or_default() += us.saturating_mul(1000);
            }
        }
        let states = states.into_iter();
        Self {
            cpus: cpus.len(),
            states: states
                .map(|((_, name), ns)| IdleState { name, ns })
                .collect(),
        }
    }

    /// Returns whether no idle state is known.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the growth since `before`. It is 0 for a state that `before` does not have.
    pub fn since(&self, before: &Self) -> Self {
        let grown = self.states.iter().map(|now| {
            let before = before.states.iter().find(|before| before.name == now.name);
            let before_ns = before.map_or(now.ns, |before| before.ns);
            IdleState {
                name: now.name.clone(),
                ns: now.ns.saturating_sub(before_ns),
            }
        });
        Self {
            cpus: self.cpus,
            states: grown.collect(),
        }
    }

    /// Adds the idle times of other CPUs, or of another window.
    pub fn add(&mut self, other: &Self) {
        self.cpus = self.cpus.saturating_add(other.cpus);
        for state in &other.states {
            let mut own = self.states.iter_mut();
            match own.find(|own| own.name == state.name) {
                Some(own) => own.ns = own.ns.saturating_add(state.ns),
                None => self.states.push(state.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(cpus: usize, states: &[(&str, u64)]) -> IdleTimes {
        let states = states.iter();
        IdleTimes {
            cpus,
            states: states
                .map(|&(name, ns)| IdleState {
                    name: name.to_owned(),
                    ns,
                })
                .collect(),
        }
    }

    #[test]
    fn states_are_added_up_over_cpus_by_their_names() {
        let place = tempfile::tempdir().expect("a directory");
        for (cpu, number, name, us) in [
            (0, 0, "WFI", 100),
            (0, 1, "sleep", 20),
            (2, 0, "WFI", 7),
            (2, 1, "deep", 5),
        ] {
            let state = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}");
            let state = place.path().join(state);
            std::fs::create_dir_all(&state).expect("can be written");
            std::fs::write(state.join("name"), format!("{name}\n")).expect("can be written");
            std::fs::write(state.join("time"), format!("{us}\n")).expect("can be written");
        }
        let root = Root::new(place.path());
        let both = IdleTimes::read(&root, &[0, 2].into());
        let expected = [("WFI", 107_000), ("deep", 5000), ("sleep", 20_000)];
        assert_eq!(both, times(2, &expected));
        let none = IdleTimes::read(&root, &[1].into());
        assert_eq!(none, times(1, &[]));
        let mut sum = IdleTimes::read(&root, &[0].into());
        sum.add(&IdleTimes::read(&root, &[2].into()));
        let expected = [("WFI", 107_000), ("sleep", 20_000), ("deep", 5000)];
        assert_eq!(sum, times(2, &expected));
    }

    #[test]
    fn a_window_has_what_they_grew_by() {
        let (before, now) = (times(1, &[("C1", 100)]), times(1, &[("C1", 350)]));
        assert_eq!(now.since(&before), times(1, &[("C1", 250)]));
        assert_eq!(now.since(&times(1, &[])), times(1, &[("C1", 0)]));
    }
}
