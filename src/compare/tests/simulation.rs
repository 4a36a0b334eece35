//! How often it errs, on sweeps made by dice: 96 cases in 18 blocks, as the default sweep has.

use statrs::statistics::{Data, OrderStatistics};

use super::*;
use crate::stats;

/// An emulator takes its time, and would not find anything else.
const SWEEPS: usize = if cfg!(target_arch = "x86_64") {
    100
} else {
    20
};
const ROUNDS: usize = 6;
const BLOCKS: u32 = 18;
/// Blocks of one thread, in which `mio-exhaustive` does not run.
const BLOCKS_OF_ONE_THREAD: u32 = 6;

/// Standard deviations of logarithms. Together, the ratios of most cases scatter by 6 % from round to round.
struct Noise {
    /// Of each window of the reference, which all ratios of its round share.
    reference: f64,
    /// Of each window of a case.
    quiet: f64,
    /// The same, of the engine that is noisier than the others.
    noisy: f64,
    /// Of each case, from run to run: its rounds do not show it.
    between_runs: f64,
}

const NOISE: Noise = Noise {
    reference: 0.04,
    quiet: 0.045,
    noisy: 0.10,
    between_runs: 0.01,
};

struct Dice(fastrand::Rng);

impl Dice {
    /// Box & Muller, Ann. Math. Stat. 29 (1958) 610-611.
    fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// A sweep in which `slowed` is so much slower than it was.
    fn sweep(&mut self, slowed: &str, by: f64) -> Results {
        let mut rows = Vec::new();
        for block in 1..=BLOCKS {
            let reference: [f64; ROUNDS] = std::array::from_fn(|_| self.normal(NOISE.reference));
            for (engine, noise) in [
                ("std", NOISE.quiet),
                ("mio-level", NOISE.quiet),
                ("mio-exhaustive", NOISE.noisy),
            ] {
                let runs = engine != "mio-exhaustive" || block > BLOCKS_OF_ONE_THREAD;
                let speed = if engine == slowed { 1.0 - by } else { 1.0 };
                for connection in [Connection::Connected, Connection::Unconnected] {
                    let row = case_of(engine, connection, block, 1.0);
                    if row.is_reference() {
                        rows.push(row);
                    } else if runs {
                        rows.push(self.measured(row, speed, noise, &reference));
                    }
                }
            }
        }
        results("sweep", rows)
    }

    fn measured(&mut self, row: Record, speed: f64, noise: f64, reference: &[f64]) -> Record {
        let of_run = self.normal(NOISE.between_runs);
        let ratio = |of_reference: &f64| speed * (of_run + self.normal(noise) - of_reference).exp();
        let ratios: Vec<f64> = reference.iter().map(ratio).collect();
        Record {
            ratio_to_std: Some(Data::new(ratios.clone()).median()),
            ratio_sd_pct: stats::log_deviation(&ratios).map(|deviation| 100.0 * deviation),
            ..row
        }
    }
}

/// Pairs of sweeps, in the second of which `slowed` is slower.
fn pairs(slowed: &str, by: f64) -> Vec<Against> {
    let mut dice = Dice(fastrand::Rng::with_seed(20_261_121));
    let mut pair = || {
        let base = dice.sweep(slowed, 0.0);
        against(&base, dice.sweep(slowed, by))
    };
    (0..SWEEPS).map(|_| pair()).collect()
}

/// Whether anything beside `slowed` is called a change.
fn has_false_alarm(found: &Against, slowed: &str) -> bool {
    let is_news = |verdict: &Verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    let mut cases = found.cases.iter().filter(|case| case.label != slowed);
    let mut engines = found.engines.iter().filter(|engine| engine.label != slowed);
    cases.any(|case| is_news(&case.verdict)) || engines.any(|engine| is_news(&engine.verdict))
}

#[test]
fn where_nothing_changed_next_to_nothing_is_called_a_change() {
    let pairs = pairs("", 0.0);
    assert!(pairs.iter().all(|found| found.cases.len() == 96));
    let alarms = pairs.iter().filter(|found| has_false_alarm(found, ""));
    assert!(alarms.count() <= SWEEPS / 20);
}

#[test]
fn an_engine_that_is_5_percent_slower_is_found_and_it_is_that_one() {
    let pairs = pairs("mio-level", 0.05);
    let is_found = |found: &&Against| engine(found, "mio-level").verdict == Verdict::Worse;
    assert!(pairs.iter().filter(is_found).count() >= SWEEPS * 95 / 100);
    let alarms = pairs
        .iter()
        .filter(|found| has_false_alarm(found, "mio-level"));
    assert!(alarms.count() <= SWEEPS / 20);
}
