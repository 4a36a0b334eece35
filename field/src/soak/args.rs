//! `soak`: what was typed, nothing else.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use crate::data::{HostAddress, Rate};
use crate::text::duration;
use crate::text::number::within;

/// Highest rate: one thread sends and receives.
const MAX_RATE: u32 = 200_000;

/// The options of `soak`.
#[derive(Args, Clone, Debug)]
#[command(after_help = include_str!("../help/soak.txt").trim_end())]
pub struct SoakArgs {
    /// Probes per second
    #[arg(long, help_heading = "Workload", value_name = "RATE", default_value = "10k", value_parser = rate, allow_negative_numbers = true)]
    pub rate: Rate,

    /// Length of a probe, in bytes
    #[arg(long, help_heading = "Workload", value_name = "BYTES", default_value = "64", value_parser = within(SHORTEST..=65_507_u32), allow_negative_numbers = true)]
    pub payload: u32,

    /// Time that it takes, at most a day
    #[arg(long = "for", help_heading = "Measuring", value_name = "TIME", default_value = "8h", value_parser = duration::parse)]
    pub length: Duration,

    /// Shortest silence that counts as an outage
    #[arg(long, help_heading = "Measuring", value_name = "TIME", default_value = "20ms", value_parser = duration::parse)]
    pub outage: Duration,

    /// A round trip of more than twice the usual one and this is a delay
    #[arg(long, help_heading = "Measuring", value_name = "TIME", default_value = "5ms", value_parser = duration::parse)]
    pub delay: Duration,

    /// With wire: address of the other host [default: the one that ssh has reached]
    #[arg(long, help_heading = "Path", value_name = "ADDRESS")]
    pub address: Option<HostAddress>,

    /// Log, in which each event is written as it happens [default: results/TIME-BOARD-soak.jsonl]
    #[arg(short, long, help_heading = "Output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Log of the soak to go on with, for the rest of its time: see `resume`
    #[arg(skip)]
    pub resume: Option<PathBuf>,

    /// Shows nothing but errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

/// Shortest probe, in bytes.
const SHORTEST: u32 = 48;

fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    let is_possible = u32::from(rate) <= MAX_RATE;
    let fix = || {
        format!(
            "use 1 to {}k: a soak watches a path, it does not load it",
            MAX_RATE / 1000
        )
    };
    is_possible.then_some(rate).ok_or_else(fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::probe::PROBE_BYTES;

    #[test]
    fn the_shortest_probe_is_that_of_the_prober() {
        assert_eq!(SHORTEST as usize, PROBE_BYTES);
    }
}
