//! A known slow-down, which calibrates the verdicts of `compare` and `ab` (`scripts/calibrate.py`). Exists only with
//! the cargo feature `calibration`: a build for measurements contains none of it.

use std::hint::black_box;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::{Case, EngineName};

/// Additional work of the senders of some engines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delay(Vec<Slowed>);

/// Slow-down of one engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Slowed {
    /// Engine to slow down. An engine that the sweep lacks has no effect.
    engine: EngineName,
    /// Dependent operations per datagram. Each takes about a nanosecond.
    iterations: u32,
    /// Alternatives of parts of a key (`2t`, `300B`, `unconnected`). A case is slowed down if its key contains all
    /// parts of one alternative. Empty: every case is slowed down.
    only: Vec<Vec<String>>,
}

impl Delay {
    /// Returns the additional operations per datagram for the senders of this case.
    pub fn of(&self, case: &Case) -> u32 {
        let meant = self.0.iter().filter(|slowed| slowed.means(case));
        meant.map(|slowed| slowed.iterations).sum()
    }
}

impl Slowed {
    fn means(&self, case: &Case) -> bool {
        let key = case.key();
        let has = |part: &String| key.split('/').any(|of_key| of_key == part);
        let has_all = |parts: &Vec<String>| parts.iter().all(has);
        case.sender == self.engine && (self.only.is_empty() || self.only.iter().any(has_all))
    }

    fn parse(text: &str) -> Option<Self> {
        let (engine, rest) = text.split_once(':')?;
        let (iterations, only) = match rest.split_once('@') {
            Some((iterations, only)) => (iterations, only.split(',').collect()),
            None => (rest, Vec::new()),
        };
        let parts = |parts: &str| parts.split('+').map(str::to_owned).collect();
        Some(Self {
            engine: engine.parse().ok()?,
            iterations: iterations.parse().ok()?,
            only: only.into_iter().map(parts).collect(),
        })
    }
}

/// Performs `iterations` operations, each of which depends on the previous one, like [`crate::sys::cpu_speed`].
pub(crate) fn run_operations(iterations: u64) {
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
        let slowed: Option<Vec<Slowed>> = text.split(';').map(Slowed::parse).collect();
        slowed.map(Self).ok_or_else(|| {
            format!(
                "{text:?} is not a delay: write ENGINE:ITERATIONS, such as std:100, or for some cases \
                 ENGINE:ITERATIONS@PARTS, such as std:100@1t+300B+connected or std:100@2t,4t; several with ; \
                 between"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delay: &str, case: &str) -> u32 {
        let delay: Delay = delay.parse().expect("well-formed");
        delay.of(&Case::of_key(case).expect("the key of a case"))
    }

    #[test]
    fn a_delay_is_for_the_senders_of_its_engines() {
        let case = "std:nix/2t/300B/connected/v4";
        assert_eq!(of("std:100", case), 100);
        assert_eq!(of("nix:100", case), 0);
        assert_eq!(of("std:100;nix:9", case), 100);
        assert_eq!(of("nix:9;std:100", case), 100);
        for text in [
            "std",
            "std:",
            "std d:1",
            "std:-1",
            ":1",
            "",
            "std:1 @2t",
            "std:1;",
        ] {
            let refused = text.parse::<Delay>().expect_err(text);
            assert!(refused.contains("std:100"), "{refused}");
        }
    }

    #[test]
    fn a_delay_may_be_for_some_of_the_cases() {
        let [alone, several] =
            ["1t", "4t"].map(|threads| format!("std:std/{threads}/300B/connected/v4"));
        for (delay, expected) in [
            ("std:9@1t", [9, 0]),
            ("std:9@2t,4t", [0, 9]),
            ("std:9@300B", [9, 9]),
            ("std:9@1t+300B+connected+v4", [9, 0]),
            ("std:9@1t+26B", [0, 0]),
            ("std:9@unconnected", [0, 0]),
        ] {
            assert_eq!(
                [of(delay, &alone), of(delay, &several)],
                expected,
                "{delay}"
            );
        }
    }

    #[test]
    fn no_operation_is_optimised_away() {
        let time = |iterations| {
            let start = std::time::Instant::now();
            run_operations(iterations);
            start.elapsed()
        };
        // No CPU does three dependent operations in a tenth of a nanosecond.
        assert!(time(10_000_000).as_millis() >= 1);
    }
}
