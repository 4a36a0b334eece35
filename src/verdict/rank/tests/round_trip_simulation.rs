//! Error rates of the advice on round trips, in simulated runs of two or three engines at four loads and 15 rounds.

use super::*;
use crate::data::{BUCKETS, Case, Histogram, RoundTrips, Sample, bucket_of};
use crate::results::row::tests::window;
use crate::results::row::{EndedBy, Environment, RowInput};
use crate::verdict::rank::choices::{Candidates, Choices, Labels};

const ROUNDS: u32 = 15;
const ENGINES: [&str; 3] = ["std", "nix", "socket2"];
/// Median of an engine alone, in nanoseconds.
const MEDIAN_NS: f64 = 41_000.0;

/// Noise of the windows.
#[derive(Clone, Copy)]
struct Noise {
    /// Standard deviation of the logarithm of a window, in percent.
    window_pct: f64,
    /// Standard deviation of what all windows of a round have in common, in percent.
    round_pct: f64,
    /// Share of the windows of which all round trips take four times as long.
    stalls: f64,
}

struct Dice(fastrand::Rng);

impl Dice {
    /// Returns a normal random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
    fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// Returns the best engines at each load. `None`: it is not sure. The first engine is sooner by `sooner_pct`.
    fn best(
        &mut self,
        engines: &[&str],
        sooner_pct: f64,
        noise: Noise,
    ) -> Vec<Option<BTreeSet<String>>> {
        let common: Vec<f64> = (0..ROUNDS)
            .map(|_| self.normal(noise.round_pct / 100.0))
            .collect();
        let mut rows = Vec::new();
        for share in [0, 10, 50, 90] {
            let windows = (0..engines.len()).map(|n| -> Vec<Sample> {
                let engine_ns = MEDIAN_NS * (1.0 + share as f64 / 100.0);
                let sooner = if n == 0 {
                    1.0 - sooner_pct / 100.0
                } else {
                    1.0
                };
                let rounds = (1..).zip(&common);
                let window = |(round, common): (u32, &f64)| {
                    self.window(round, engine_ns * sooner * common.exp(), noise)
                };
                rounds.map(window).collect()
            });
            let windows: Vec<Vec<Sample>> = windows.collect();
            for (n, (engine, samples)) in engines.iter().zip(&windows).enumerate() {
                let rate = share * (200 + n);
                let rated = if share == 0 {
                    String::new()
                } else {
                    format!("/rate{rate}")
                };
                let key = format!("{engine}:{engine}/2t/26B/connected/v4/rr{rated}");
                let case = Case::of_key(&key).expect("a case");
                // Under load, each engine has a block of its own.
                let others = windows
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != n && share == 0);
                let others: Vec<&[Sample]> = others.map(|(_, samples)| &samples[..]).collect();
                let input = RowInput {
                    samples,
                    others: &others,
                    ended: Ok(EndedBy::Rounds),
                    ..RowInput::skipped(&case, String::new())
                };
                rows.push(Row {
                    warnings: Vec::new(),
                    ..Row::new(&input, &Environment::default())
                });
            }
        }
        // The test is not about overload.
        for row in &mut rows {
            row.received_pps = row.target_pps.map(|rate| f64::from(u32::from(rate)));
            row.loss_pct = Some(0.0);
        }
        let board = ranked(&rows);
        let labels = board.labels();
        let all = Candidates::all(&board, board.engines(), &Labels::new());
        let choices = Choices::of(&board, Measure::RoundTrip, &labels, &all[0]);
        let owned = |best: Labels| best.into_iter().map(str::to_owned).collect();
        let each = choices.best_of_each().into_iter();
        each.map(|best| best.map(owned)).collect()
    }

    /// Returns a window of 60 requests around a median.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times far from 0 and from 2^53"
    )]
    fn window(&mut self, round: u32, median_ns: f64, noise: Noise) -> Sample {
        let stall = if self.0.f64() < noise.stalls {
            4.0
        } else {
            1.0
        };
        let middle_ns = median_ns * stall * self.normal(noise.window_pct / 100.0).exp();
        let mut counts = vec![0; BUCKETS];
        for _ in 0..60 {
            counts[bucket_of((middle_ns * self.normal(0.05).exp()) as u64)] += 1;
        }
        Sample {
            round_trips: Some(RoundTrips {
                times: Histogram::of_counts(counts),
                ..RoundTrips::default()
            }),
            ..window(round)
        }
    }
}

/// Counts over simulated runs.
#[derive(Debug, Default)]
struct Counts {
    /// Runs with best engines at some load of which none is the soonest.
    wrong: usize,
    /// Runs with one best engine alone at some load.
    alone: usize,
    /// Runs with fewer best engines at some load than there are.
    fewer: usize,
    /// Runs with the first engine as the best alone at all loads.
    found: usize,
}

fn simulate(runs: usize, engines: &[&str], sooner_pct: f64, noise: Noise) -> Counts {
    let mut dice = Dice(fastrand::Rng::with_seed(20_261_128));
    let mut counts = Counts::default();
    for _ in 0..runs {
        let each = dice.best(engines, sooner_pct, noise);
        assert_eq!(each.len(), 4, "{each:?}");
        let is_any = |is_so: &dyn Fn(&BTreeSet<String>) -> bool| {
            usize::from(each.iter().flatten().any(is_so))
        };
        let is_wrong = |best: &BTreeSet<String>| sooner_pct > 0.0 && !best.contains(ENGINES[0]);
        counts.wrong += is_any(&is_wrong);
        counts.alone += is_any(&|best| best.len() == 1);
        counts.fewer += is_any(&|best| best.len() < engines.len());
        let first = BTreeSet::from([ENGINES[0].to_owned()]);
        let is_found = |best: &Option<BTreeSet<String>>| best.as_ref() == Some(&first);
        counts.found += usize::from(each.iter().all(is_found));
    }
    counts
}

const QUIET: Noise = Noise {
    window_pct: 3.0,
    round_pct: 2.0,
    stalls: 0.0,
};
const BUSY: Noise = Noise {
    window_pct: 8.0,
    round_pct: 5.0,
    stalls: 0.3,
};

/// Other architectures simulate fewer runs: there, tests run in a slow emulator.
const RUNS: usize = if cfg!(target_arch = "x86_64") { 8 } else { 2 };

#[test]
fn an_engine_that_is_no_sooner_is_rarely_said_to_be() {
    let none = simulate(RUNS, &ENGINES[..2], 0.0, QUIET);
    assert!(none.alone <= RUNS / 4, "{none:?}");
    let sooner = simulate(RUNS, &ENGINES, 10.0, QUIET);
    assert!(sooner.wrong == 0 && sooner.found >= RUNS / 2, "{sooner:?}");
}

/// Prints the counts of `docs/METHODOLOGY.md`.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_runs_of_each_kind() {
    for (name, noise) in [("quiet", QUIET), ("busy", BUSY)] {
        for engines in [&ENGINES[..2], &ENGINES[..]] {
            for sooner_pct in [0.0, 10.0] {
                let counts = simulate(200, engines, sooner_pct, noise);
                println!(
                    "{name}, {} engines, {sooner_pct} % sooner: {counts:?}",
                    engines.len()
                );
            }
        }
    }
}
