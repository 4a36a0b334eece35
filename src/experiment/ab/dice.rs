//! Simulated comparisons for the tests.

use std::time::Duration;

use super::Record;
use super::header::{Header, Setup, Until};
use crate::data::Case;
use crate::host::placement::Placement;
use crate::plan::{Block, Decision, Plan, Planned, Settings};
use crate::results::log::Run;
use crate::results::row::Environment;

/// Number of simulated comparisons. Other architectures run fewer: there, tests run in a slow emulator and would find
/// nothing else.
pub(super) const COMPARISONS: u64 = if cfg!(target_arch = "x86_64") { 40 } else { 10 };
pub(super) const ROUNDS: u32 = 20;

pub(super) fn keys() -> Vec<String> {
    let mut keys = Vec::new();
    for threads in [1, 2, 4] {
        for payload in [26, 300, 1460] {
            for ip in ["v4", "v6"] {
                for engine in ["std", "mio-level", "mio-exhaustive"] {
                    if engine == "mio-exhaustive" && threads == 1 {
                        continue;
                    }
                    for connection in ["connected", "unconnected"] {
                        keys.push(format!(
                            "{engine}:{engine}/{threads}t/{payload}B/{connection}/{ip}"
                        ));
                    }
                }
            }
        }
    }
    keys
}

fn setup(keys: &[String]) -> Setup {
    let planned = |key: &String| {
        let case = Case::of_key(key).expect("the key of a case");
        Planned {
            case,
            verdict: Decision::Run(Placement::unpinned(case.threads), Vec::new()),
        }
    };
    let block = |key: &String| Block {
        key: Case::of_key(key).expect("the key of a case").block(),
        cases: vec![planned(key)],
    };
    Setup {
        program: None,
        version: "1".to_owned(),
        options: Vec::new(),
        before: None,
        settings: Settings {
            window: Duration::from_millis(20),
            ..Settings::default()
        },
        plan: Plan {
            engines: Vec::new(),
            blocks: keys.iter().map(block).collect(),
        },
    }
}

pub(super) fn record(looks: u32) -> Record {
    record_of(&keys(), looks)
}

pub(super) fn record_of(keys: &[String], looks: u32) -> Record {
    let setup = setup(keys);
    let header = Header {
        run: Run::default(),
        rounds: ROUNDS,
        until: (looks > 1).then_some(Until {
            looks,
            max_time: Duration::MAX,
        }),
        seed: 1,
        a: setup.clone(),
        b: setup,
        environment: Environment::default(),
        tunings: None,
        wire: None,
    };
    Record::new(header).expect("the same cases")
}

pub(super) struct Dice(pub(super) fastrand::Rng);

impl Dice {
    /// Returns a normal random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
    pub(super) fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// Returns a random difference for one round of a case, as a logarithm. One in twenty is far off. With several
    /// threads, which share CPUs, all scatter more.
    pub(super) fn difference(&mut self, case: &Case) -> f64 {
        let quiet = if case.threads.is_alone() { 0.01 } else { 0.03 };
        let wild = if self.0.f64() < 0.05 { 6.0 } else { 1.0 };
        self.normal(quiet * wild)
    }
}

/// Returns a comparison in which B is slower than A by the fraction that `slower` gives for each case.
pub(super) fn comparison(seed: u64, slower: impl Fn(&Case) -> f64) -> Record {
    let mut dice = Dice(fastrand::Rng::with_seed(seed));
    let mut record = record(1);
    for (pair, key) in keys().iter().enumerate() {
        let case = Case::of_key(key).expect("the key of a case");
        for round in 1..=ROUNDS {
            let speed = (1.0 - slower(&case)) * dice.difference(&case).exp();
            record.put(pair, round, speed);
        }
    }
    record
}
