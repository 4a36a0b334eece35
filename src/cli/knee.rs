//! The options of `find knee`.

use std::time::Duration;

use clap::Args;

use super::number::within;
use crate::term::{duration, percent};
use crate::verdict::judge::By;

/// Threshold of a gain, and the time of the search.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct KneeArgs {
    /// What is compared
    #[arg(long, value_enum, default_value_t, conflicts_with = "resume")]
    pub by: By,
    /// Largest gain that counts as none
    #[arg(long, value_name = "PCT", value_parser = percent::parse_within, default_value = "2%", conflicts_with = "resume")]
    pub threshold: f64,
    /// Most rounds, 16 or more
    ///
    /// Each has a trial of every batch or train that is still in question. A knee that is sure ends the search
    #[arg(long, value_name = "N", value_parser = within(FEWEST_ROUNDS..=10_000), default_value = "120", conflicts_with = "resume")]
    pub rounds: u32,
    /// Length of a trial
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "50ms", conflicts_with = "resume")]
    pub trial: Duration,
}

/// With fewer, not even rounds that all agree would show a gain.
const FEWEST_ROUNDS: u32 = 16;

pub(super) const AFTER_HELP: &str = "\
Examples:
  udpbench find knee                                     batches of mmsg, trains of gso
  udpbench find knee --engine mmsg,uring --payload 64,1460
  udpbench find knee --by cpu --engine gso               the CPU time of each datagram instead
  udpbench wire pi@board find knee --direction up
  udpbench find knee --resume results/TIME-BOARD-find.jsonl

Method:
  --batch, or --train of engines that have one, is measured at 1, 2, 4 and so on, in shuffled
  rounds of floods. The knee is the smallest number over which no larger one gains more than
  --threshold. Numbers that are surely not in question any more are left out of later rounds.";
