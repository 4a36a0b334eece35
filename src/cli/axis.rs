//! The options of `find cliff`, `find idle` and `find knee`: searches along one parameter.

use std::time::Duration;

use clap::Args;

use crate::data::ThinkTime;
use crate::term::percent;
use crate::text::duration;
use crate::text::number::within;
use crate::verdict::judge::Metric;

/// Options of each of these searches, and all that `find cliff` has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct AxisArgs {
    /// Smallest change that counts
    #[arg(long, value_name = "PCT", value_parser = percent::parse)]
    pub threshold: Option<f64>,
    /// Length of a trial
    ///
    /// Trials of find idle are longer if three silences are
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "50ms")]
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
        default_value = "10us,1s"
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
    #[arg(long, value_enum, default_value_t)]
    pub by: Metric,
    /// Most rounds, 16 or more
    ///
    /// Each has a trial of every batch or train that is still in question. A knee that is sure ends the search
    #[arg(long, value_name = "N", value_parser = within(FEWEST_ROUNDS..=10_000), default_value = "120")]
    pub rounds: u32,
    /// Threshold and length of the trials.
    #[command(flatten)]
    pub axis: AxisArgs,
}

/// With fewer, not even rounds that all agree would show a gain.
const FEWEST_ROUNDS: u32 = 16;
