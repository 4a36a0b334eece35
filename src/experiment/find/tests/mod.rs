//! Searches where the truth is known: made up, and with noise.

mod cliff;
mod idle;
mod knob;
mod lossless;

/// Of each kind of truth.
const SEARCHES: u32 = 1000;

/// About a standard normal one.
fn normal(dice: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| dice.f64()).sum::<f64>() - 6.0
}
