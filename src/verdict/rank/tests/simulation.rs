//! Error rates of the answer, in simulated runs of two payloads and 15 rounds, as many as the default sweep has.

use super::*;
use crate::data::{Case, Sample, Side};
use crate::results::row::tests::window;
use crate::results::row::{EndedBy, Environment, RowInput};

/// Number of simulated runs. Other architectures simulate fewer: there, tests run in a slow emulator.
const RUNS: usize = if cfg!(target_arch = "x86_64") { 60 } else { 20 };
const ROUNDS: u32 = 15;
const PAYLOADS: [u32; 2] = [26, 1460];

/// Speeds of an engine at the two payloads, relative to std.
type Speeds = (&'static str, [f64; 2]);

struct Dice {
    rng: fastrand::Rng,
    /// Standard deviation of the logarithm of each window.
    noise: f64,
    /// Standard deviation of what all windows of a round have in common.
    common: f64,
}

impl Dice {
    /// Returns dice for windows whose ratios scatter by `pct` from round to round.
    fn new(pct: f64) -> Self {
        Self {
            rng: fastrand::Rng::with_seed(20_261_127),
            noise: pct / 100.0 / 2.0_f64.sqrt(),
            common: pct / 200.0,
        }
    }

    /// Returns a normal random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
    fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.rng.f64()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.rng.f64()).cos()
    }

    /// Returns the answer of a run with these engines. The first one is std.
    fn answer(&mut self, engines: &[Speeds]) -> Answer {
        let mut rows = Vec::new();
        for (place, payload) in PAYLOADS.into_iter().enumerate() {
            let common: Vec<f64> = (0..ROUNDS).map(|_| self.normal(self.common)).collect();
            let windows = engines.iter().map(|(_, speeds)| -> Vec<Sample> {
                let rounds = (1..).zip(&common);
                let window =
                    |(round, common): (u32, &f64)| self.window(round, speeds[place] * common.exp());
                rounds.map(window).collect()
            });
            let windows: Vec<Vec<Sample>> = windows.collect();
            for (n, (engine, _)) in engines.iter().enumerate() {
                let key = format!("{engine}:{engine}/2t/{payload}B/connected/v4");
                let case = Case::of_key(&key).expect("a case");
                let others = windows.iter().enumerate().filter(|(other, _)| *other != n);
                let others: Vec<&[Sample]> = others.map(|(_, samples)| &samples[..]).collect();
                let input = RowInput {
                    samples: &windows[n],
                    reference: &windows[0],
                    others: &others,
                    ended: Ok(EndedBy::Rounds),
                    ..RowInput::skipped(&case, String::new())
                };
                rows.push(Row::new(&input, &Environment::default()));
            }
        }
        ranked(&rows).answer(RankBy::Both)
    }

    /// Returns a window without loss. Speed and CPU time err independently.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts and times are far from 0 and from 2^53"
    )]
    fn window(&mut self, round: u32, speed: f64) -> Sample {
        let received = 20_000.0 * speed * self.normal(self.noise).exp();
        let cpu_ns = 5_000.0 * received / speed * self.normal(self.noise).exp();
        let mut window = window(round);
        for thread in &mut window.threads {
            let is_receiver = thread.side == Side::Receiver;
            thread.received_packets = if is_receiver { received as u64 } else { 0 };
            thread.cpu_ns = Some(if is_receiver { 0 } else { cpu_ns as u64 });
        }
        let counts = &mut window.accounting;
        for counts in [&mut counts.at_closing, &mut counts.at_end] {
            (counts.sent, counts.dropped_socket) = (counts.received, 0);
        }
        window
    }

    /// Returns the share of runs with an answer like this, in percent.
    fn share_pct(&mut self, engines: &[Speeds], is_it: impl Fn(&[String]) -> bool) -> usize {
        let found = (0..RUNS).filter(|_| is_it(&self.answer(engines).said));
        100 * found.count() / RUNS
    }
}

/// Of 1,000 runs with two engines, 999; with three, 999.
#[test]
fn engines_that_cross_are_named_for_their_payloads() {
    let two = [("std", [1.0, 1.0]), ("nix", [1.2, 0.83])];
    let named = Dice::new(10.0).share_pct(&two, |said| {
        of_payload(said, "26 B").ends_with(" nix") && of_payload(said, "1460 B").ends_with(" std")
    });
    assert!(named >= 95, "{named} %");
    let three = [two[0], two[1], ("socket2", [1.0, 1.0])];
    let named = Dice::new(10.0).share_pct(&three, |said| {
        of_payload(said, "26 B").ends_with(" nix") && !of_payload(said, "1460 B").contains("nix")
    });
    assert!(named >= 95, "{named} %");
}

/// Returns what is said first of one payload.
fn of_payload<'a>(said: &'a [String], payload: &str) -> &'a str {
    let begin = format!("or {payload}: ");
    let mut parts = said.iter().filter_map(|line| line.split_once(&begin));
    parts.next().map_or("", |(_, text)| text)
}

/// At one payload or at both, by speed or by CPU time. Of 1,000 runs of each kind: 26, 13 and 4.
#[test]
fn one_of_several_equal_engines_is_rarely_named_alone() {
    let all = [("std", [1.0; 2]), ("nix", [1.0; 2]), ("socket2", [1.0; 2])];
    for (engines, pct) in [(&all[..2], 3.0), (&all[..2], 10.0), (&all[..], 3.0)] {
        let alone = Dice::new(pct).share_pct(engines, |said| {
            let by_speed = said.iter().take_while(|line| !line.starts_with("Least"));
            let best = |line: &&String| line.contains(": use ") || line.contains(": perhaps ");
            let mut best = by_speed.filter(best);
            best.any(|line| !line.contains(" or "))
        });
        assert!(alone <= 5, "{} engines, {pct} %: {alone} %", engines.len());
    }
}

#[test]
fn the_table_is_as_sure_as_the_answer() {
    let mut dice = Dice::new(12.0);
    let engines = [("std", [1.0; 2]), ("nix", [1.07; 2])];
    let (mut hedged, mut sure) = (0, 0);
    for _ in 0..RUNS {
        let Answer { said, gains, .. } = dice.answer(&engines);
        let is_of_both = said[0].starts_with("Over loopback, of 2 engines: ");
        let is_hedged = is_of_both && said[0].contains("nix perhaps better than std");
        let is_faster = gains.iter().any(|gain| gain.verdict == "faster");
        assert!(!(is_hedged && is_faster), "{said:?} {gains:?}");
        hedged += u32::from(is_hedged);
        sure += u32::from(is_faster);
    }
    assert!(
        hedged > 0 && sure > 0,
        "{hedged} hedged, {sure} sure of {RUNS}"
    );
}
