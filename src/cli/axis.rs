//! The options of `find cliff`, `find idle` and `find knee`: searches along one parameter.

use std::time::Duration;

use clap::Args;

use super::number::within;
use crate::data::ThinkTime;
use crate::term::percent;
use crate::text::duration;
use crate::verdict::judge::By;

/// Options of each of these searches, and all that `find cliff` has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct AxisArgs {
    /// Smallest change that counts
    #[arg(long, value_name = "PCT", value_parser = percent::parse, conflicts_with = "resume")]
    pub threshold: Option<f64>,
    /// Length of a trial
    ///
    /// Trials of find idle are longer if three silences are
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "50ms", conflicts_with = "resume")]
    pub trial: Duration,
}

/// Options of a search for the silence after which a round trip takes longer or a request is lost.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct IdleArgs {
    /// The shortest and the longest silence, from 1us to 10s
    #[arg(
        long,
        value_name = "TIME,TIME",
        value_delimiter = ',',
        num_args = 1,
        default_value = "10us,1s",
        conflicts_with = "resume"
    )]
    pub silence: Vec<ThinkTime>,
    /// Threshold and length of the trials.
    #[command(flatten)]
    pub axis: AxisArgs,
}

/// Options of a search for the batch or train from which on more brings little.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct KneeArgs {
    /// What is compared
    #[arg(long, value_enum, default_value_t, conflicts_with = "resume")]
    pub by: By,
    /// Most rounds, 16 or more
    ///
    /// Each has a trial of every batch or train that is still in question. A knee that is sure ends the search
    #[arg(long, value_name = "N", value_parser = within(FEWEST_ROUNDS..=10_000), default_value = "120", conflicts_with = "resume")]
    pub rounds: u32,
    /// Threshold and length of the trials.
    #[command(flatten)]
    pub axis: AxisArgs,
}

/// With fewer, not even rounds that all agree would show a gain.
const FEWEST_ROUNDS: u32 = 16;

pub(super) const CLIFF_AFTER_HELP: &str = "\
Examples:
  udpbench find cliff --engine std                       round trips, from 16 to 9000 B
  udpbench find cliff --engine std --payload 1400,1600   between these two
  udpbench find cliff --workload flood --threads 2       the time for each datagram of a flood
  udpbench find cliff --threshold 5%                     smaller changes
  udpbench find cliff --resume results/TIME-BOARD-find.jsonl

Method:
  Payloads from the shortest to the longest of --payload are measured, each 40 % longer than the
  one before. Where two neighbours differ by --threshold, halving finds the byte, for up to 4
  steps. The time of a round trip is the median. A gradual change is no step.";

pub(super) const IDLE_AFTER_HELP: &str = "\
Examples:
  udpbench find idle                                     over loopback: the sleep of the CPUs
  udpbench wire pi@board find idle                       and the sleep of the Ethernet link
  udpbench wire pi@board find idle --silence 1ms,100ms --threshold 20%
  udpbench find idle --resume results/TIME-BOARD-find.jsonl

Method:
  A client is silent before each request (--think-time), for times on a grid of 1, 2 and 5 in each
  decade. Where neighbours differ, both are measured again. A difference that is confirmed is a
  step. By default, this takes a minute and a half. Long silences take most of it.";

pub(super) const KNEE_AFTER_HELP: &str = "\
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
