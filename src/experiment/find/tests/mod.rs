//! Simulated searches with noise, in which the truth is known.

mod cliff;
mod disturbed;
mod idle;
mod knee;
mod lossless;
mod steady;

/// Number of searches for each kind of truth.
const SEARCHES: u32 = 1000;

/// Returns an approximately standard normal random number.
fn normal(dice: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| dice.f64()).sum::<f64>() - 6.0
}
