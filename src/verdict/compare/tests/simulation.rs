//! Error rates of verdicts, in simulated sweeps of 96 cases in 18 blocks, the size of the sweeps of
//! docs/VALIDATION.md.

use statrs::statistics::{Data, OrderStatistics};

use super::*;
use crate::stats;

/// Number of simulated sweeps. Other architectures run fewer: there, tests run in a slow emulator and would find
/// nothing else.
const SWEEPS: usize = if cfg!(target_arch = "x86_64") {
    100
} else {
    20
};
const ROUNDS: usize = 6;
const BLOCKS: u32 = 18;

/// Standard deviations of logarithms. Together, the ratios of most cases scatter by 6 % from round to round.
struct Noise {
    /// Noise of each window of the reference, which all ratios of its round share.
    reference: f64,
    /// Noise of each window of a case.
    quiet: f64,
    /// Noise of each window of the one engine that is noisier than the others.
    noisy: f64,
    /// Noise of each case from run to run, which its rounds do not show.
    between_runs: f64,
    /// Factor for all noise in blocks of one thread, where no threads share CPUs.
    of_one_thread: f64,
}

const NOISE: Noise = Noise {
    reference: 0.04,
    quiet: 0.045,
    noisy: 0.10,
    between_runs: 0.01,
    of_one_thread: 1.0,
};

/// Noise of a quiet machine, on which `same` can be said.
const QUIET: Noise = Noise {
    reference: 0.01,
    quiet: 0.01,
    noisy: 0.01,
    between_runs: 0.004,
    of_one_thread: 0.5,
};

struct Dice(fastrand::Rng, Noise);

/// Function that returns by which fraction a case is slower.
type Slowed = fn(&Row) -> f64;

impl Dice {
    /// Returns a normal random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
    fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// Returns a sweep in which cases are slower by the fraction that `slowed` gives.
    fn sweep(&mut self, slowed: Slowed) -> Results {
        let mut rows = Vec::new();
        for block in 0..BLOCKS {
            let part = if block < BLOCKS / 3 {
                self.1.of_one_thread
            } else {
                1.0
            };
            let of_reference = part * self.1.reference;
            let reference: [f64; ROUNDS] = std::array::from_fn(|_| self.normal(of_reference));
            for (engine, noise) in [
                ("std", self.1.quiet),
                ("mio-level", self.1.quiet),
                ("mio-exhaustive", self.1.noisy),
            ] {
                for connection in [Connection::Connected, Connection::Unconnected] {
                    let row = case_in(block, engine, connection);
                    // With one thread it starves.
                    let runs = engine != "mio-exhaustive" || !row.threads.is_alone();
                    if row.is_reference() {
                        rows.push(row);
                    } else if runs {
                        let speed = 1.0 - slowed(&row);
                        rows.push(self.measured(row, speed, part * noise, &reference));
                    }
                }
            }
        }
        results("sweep", rows)
    }

    fn measured(&mut self, row: Row, speed: f64, noise: f64, reference: &[f64]) -> Row {
        let part = if row.threads.is_alone() {
            self.1.of_one_thread
        } else {
            1.0
        };
        let of_run = self.normal(part * self.1.between_runs);
        let ratio = |of_reference: &f64| speed * (of_run + self.normal(noise) - of_reference).exp();
        let ratios: Vec<f64> = reference.iter().map(ratio).collect();
        Row {
            ratio_to_std: Some(Data::new(ratios.clone()).median()),
            ratio_sd_pct: stats::log_deviation(&ratios).map(|deviation| 100.0 * deviation),
            ..row
        }
    }
}

/// Returns a row of a block of that sweep. There are six blocks of each thread count, two of them of each payload.
fn case_in(block: u32, engine: &str, connection: Connection) -> Row {
    let place = |values: [u16; 3], each: u32| values[((block / each) % 3) as usize];
    let threads = place([1, 2, 4], 6);
    let payload = place([26, 300, 1460], 2).into();
    let row = case_of(engine, connection, payload, 1.0);
    let row = Row {
        case: row.case.replace("/2t/", &format!("/{threads}t/")),
        threads: threads.try_into().expect("in range"),
        ..row
    };
    if block % 2 == 0 { row } else { over_v6(row) }
}

/// Returns comparisons of two sweeps each. In the second sweep, cases are slower by `slowed`.
fn pairs(noise: Noise, slowed: Slowed) -> Vec<Against> {
    some_pairs(SWEEPS, noise, slowed)
}

fn some_pairs(count: usize, noise: Noise, slowed: Slowed) -> Vec<Against> {
    let mut dice = Dice(fastrand::Rng::with_seed(20_261_121), noise);
    let mut pair = || {
        let base = dice.sweep(|_| 0.0);
        against(&base, dice.sweep(slowed))
    };
    (0..count).map(|_| pair()).collect()
}

fn count(pairs: &[Against], label: &str, verdict: &Verdict) -> usize {
    let is_it = |found: &&Against| engine(found, label).verdict == *verdict;
    pairs.iter().filter(is_it).count()
}

/// Returns whether anything except `slowed` is called a change.
fn has_false_alarm(found: &Against, slowed: &str) -> bool {
    let is_news = |verdict: &Verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    let mut cases = found.cases.iter().filter(|case| case.label != slowed);
    let mut engines = found.engines.iter().filter(|engine| engine.label != slowed);
    cases.any(|case| is_news(&case.verdict)) || engines.any(|engine| is_news(&engine.verdict))
}

#[test]
fn where_nothing_changed_next_to_nothing_is_called_a_change() {
    let pairs = pairs(NOISE, |_| 0.0);
    assert!(pairs.iter().all(|found| found.cases.len() == 96));
    let alarms = pairs.iter().filter(|found| has_false_alarm(found, ""));
    assert!(alarms.count() <= SWEEPS / 20);
}

#[test]
fn an_engine_that_is_5_percent_slower_is_found_and_it_is_that_one() {
    let pairs = pairs(NOISE, |row| slower_if(is_level(row), 0.05));
    let found = count(&pairs, "mio-level", &Verdict::Worse);
    assert!(found >= SWEEPS * 4 / 5, "{found} of {SWEEPS}");
    let alarms = pairs
        .iter()
        .filter(|found| has_false_alarm(found, "mio-level"));
    assert!(alarms.count() <= SWEEPS / 20);
}

fn is_level(row: &Row) -> bool {
    row.sender == "mio-level"
}

fn slower_if(is_slower: bool, by: f64) -> f64 {
    if is_slower { by } else { 0.0 }
}

#[test]
fn a_change_in_a_part_is_found_and_the_part_is_named() {
    let parts: [(&str, Slowed); 5] = [
        ("at 1 thread", |row| {
            slower_if(is_level(row) && row.threads.is_alone(), 0.10)
        }),
        ("at 2 and 4 threads", |row| {
            slower_if(is_level(row) && !row.threads.is_alone(), 0.10)
        }),
        ("at 4 threads", |row| {
            slower_if(is_level(row) && row.threads.to_string() == "4", 0.10)
        }),
        ("at 300 B", |row| {
            slower_if(
                is_level(row) && row.payload_bytes.to_string() == "300",
                0.10,
            )
        }),
        ("on unconnected sockets", |row| {
            slower_if(
                is_level(row) && row.connection == Connection::Unconnected,
                0.10,
            )
        }),
    ];
    let sweeps = SWEEPS / 5;
    for (place, slowed) in parts {
        let pairs = some_pairs(sweeps, QUIET, slowed);
        let is_named = |found: &&Against| {
            let level = engine(found, "mio-level");
            let parts = level
                .parts
                .iter()
                .filter(|part| part.verdict == Verdict::Worse);
            let named: Vec<String> = parts.map(|part| parts::place(&part.values)).collect();
            level.verdict == Verdict::Worse && named == [place]
        };
        let named = pairs.iter().filter(is_named).count();
        assert!(named >= sweeps * 4 / 5, "{place}: {named} of {sweeps}");
        assert_eq!(count(&pairs, "mio-level", &Verdict::Same), 0, "{place}");
        let alarms = pairs
            .iter()
            .filter(|found| has_false_alarm(found, "mio-level"));
        assert!(alarms.count() <= sweeps / 10, "{place}");
    }
}

#[test]
fn an_engine_that_did_not_change_is_called_the_same_where_the_data_allow_it() {
    let pairs = pairs(QUIET, |_| 0.0);
    let same = count(&pairs, "mio-level", &Verdict::Same);
    assert!(same >= SWEEPS / 4, "{same} of {SWEEPS}");
    let found = against(&plain(), slower_by(0.0));
    assert_eq!(engine(&found, "mio-level").verdict, Verdict::Same);
}
