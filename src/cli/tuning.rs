//! The options of `find tuning`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::host::tuning::Name;
use crate::text::duration;
use crate::text::number::within;

/// Settings to try, and the method.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct TuningArgs {
    /// Settings to try [default: all but pause, speed and control]
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub setting: Vec<Name>,
    /// Changes settings, one at a time; without it, only shows them
    #[arg(long)]
    pub yes: bool,
    /// Rounds, 12 or more
    ///
    /// Each has a pair of trials of every setting and case
    #[arg(long, value_name = "N", value_parser = within(FEWEST_ROUNDS..=1000), default_value = "30")]
    pub rounds: u32,
    /// Length of a trial
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "100ms")]
    pub trial: Duration,
}

/// With fewer, not even pairs that all agree would be called a change, where 20 settings and cases are asked.
const FEWEST_ROUNDS: u32 = 12;

/// The options of the watchdog.
#[derive(Args, Debug)]
pub struct PutBackArgs {
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}
