//! Simulated comparisons for the tests.

use std::time::Duration;

use crate::data::Case;
use crate::experiment::ab::header::{AbHeader, Looks, Setup};
use crate::experiment::ab::windows::Figures;
use crate::experiment::ab::{AbComparison, Side};
use crate::host::placement::Placement;
use crate::plan::{Block, Decision, Plan, Planned, Settings};
use crate::results::log::Run;
use crate::results::row::Environment;
use crate::session::Logged;

/// Number of simulated comparisons. Other architectures run fewer: there, tests run in a slow emulator and would find
/// nothing else.
pub(in crate::experiment::ab) const COMPARISONS: u64 =
    if cfg!(target_arch = "x86_64") { 40 } else { 10 };
pub(in crate::experiment::ab) const ROUNDS: u32 = 20;

pub(in crate::experiment::ab) fn keys() -> Vec<String> {
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

pub(in crate::experiment::ab) fn record(looks: u32) -> AbComparison {
    record_of(&keys(), looks)
}

pub(in crate::experiment::ab) fn record_of(keys: &[String], looks: u32) -> AbComparison {
    let setup = setup(keys);
    let header = AbHeader {
        run: Run::default(),
        rounds: ROUNDS,
        until: (looks > 1).then_some(Looks {
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
    AbComparison::begin(header).expect("the same cases")
}

impl AbComparison {
    /// Sets the words of the command line, after the name of the program.
    pub(in crate::experiment::ab) fn type_in(&mut self, words: &str) {
        let words = std::iter::once("udpbench").chain(words.split(' '));
        self.header.run.command_line = words.map(str::to_owned).collect();
    }

    /// Adds a round of a pair in which A has the value 1 and B has `of_b`.
    pub(in crate::experiment::ab) fn put(&mut self, pair: usize, round: u32, of_b: f64) {
        self.put_side(Side::A, pair, round, 1.0);
        self.put_side(Side::B, pair, round, of_b);
    }

    /// Adds a window of a side of a pair, of this speed.
    pub(in crate::experiment::ab) fn put_side(
        &mut self,
        side: Side,
        pair: usize,
        round: u32,
        speed: f64,
    ) {
        self.put_window((side, pair, round), speed, false);
    }

    pub(in crate::experiment::ab) fn put_window(
        &mut self,
        (side, pair, round): (Side, usize, u32),
        speed: f64,
        is_disturbed: bool,
    ) {
        let figures = Figures {
            values: [Some(speed), Some(speed.recip())],
            is_disturbed,
        };
        self.put_outcome(side, pair, round, Ok(figures));
    }
}

pub(in crate::experiment::ab) struct Dice(pub(in crate::experiment::ab) fastrand::Rng);

impl Dice {
    /// Returns a normal random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
    pub(in crate::experiment::ab) fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// Returns a random difference for one round of a case, as a logarithm. One in twenty is far off. With several
    /// threads, which share CPUs, all scatter more.
    pub(in crate::experiment::ab) fn difference(&mut self, case: &Case) -> f64 {
        let quiet = if case.threads.is_alone() { 0.01 } else { 0.03 };
        let wild = if self.0.f64() < 0.05 { 6.0 } else { 1.0 };
        self.normal(quiet * wild)
    }
}

/// Returns a comparison in which B is slower than A by the fraction that `slower` gives for each case.
pub(in crate::experiment::ab) fn comparison(
    seed: u64,
    slower: impl Fn(&Case) -> f64,
) -> AbComparison {
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
