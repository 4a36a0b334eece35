//! A known slow-down, by which the verdicts of `compare` are calibrated (`scripts/calibrate`). Only with the
//! cargo feature `calibration`: nothing of it is in a program that measures.

use std::hint::black_box;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::EngineName;

/// What the senders of an engine do beside sending.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Delay {
    /// Theirs. One that is not among the engines of a sweep slows nothing down.
    engine: EngineName,
    /// Dependent operations per datagram, each of about a nanosecond.
    iterations: u32,
}

impl Delay {
    /// Operations per datagram of a sender of this engine.
    pub fn of(self, sender: EngineName) -> u32 {
        if sender == self.engine {
            self.iterations
        } else {
            0
        }
    }
}

/// So many operations, each of which needs the one before: as in [`crate::sys::cpu_speed`].
pub(crate) fn spend(iterations: u64) {
    let mut state = black_box(0x2545_F491_u32);
    for _ in 0..iterations {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    black_box(state);
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fix = || format!("{text:?} is not a delay: write ENGINE:ITERATIONS, such as std:100");
        let (engine, iterations) = text.split_once(':').ok_or_else(fix)?;
        Ok(Self {
            engine: engine.parse().map_err(|_| fix())?,
            iterations: iterations.parse().map_err(|_| fix())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_for_the_senders_of_one_engine() {
        let delay: Delay = "std:100".parse().expect("well-formed");
        assert_eq!(delay.of(EngineName::REFERENCE), 100);
        assert_eq!(delay.of(EngineName::new("nix")), 0);
        for text in ["std", "std:", "std d:1", "std:-1", ":1", ""] {
            let refused = text.parse::<Delay>().expect_err(text);
            assert!(refused.contains("std:100"), "{refused}");
        }
    }

    #[test]
    fn no_operation_is_optimised_away() {
        let time = |iterations| {
            let start = std::time::Instant::now();
            spend(iterations);
            start.elapsed()
        };
        // Nothing does three dependent operations in a tenth of a nanosecond.
        assert!(time(10_000_000).as_millis() >= 1);
    }
}
