//! `watch`: what was typed, nothing else.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::number::within;
use super::{ParameterArgs, PlacementArgs};
use crate::host::program::Target;
use crate::text::duration;

/// The options of `watch`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/watch.txt").trim_end())]
pub struct WatchArgs {
    /// Number of lines [default: until Ctrl-C]
    #[arg(long, help_heading = "Measuring", value_name = "N", value_parser = within(1_u32..=u32::MAX), allow_negative_numbers = true)]
    pub count: Option<u32>,

    /// Time after which it ends [default: at Ctrl-C]
    #[arg(long = "for", help_heading = "Measuring", value_name = "TIME", value_parser = duration::parse, conflicts_with = "count")]
    pub length: Option<Duration>,

    /// Measured time of each line
    #[arg(long, help_heading = "Measuring", value_name = "TIME", default_value = "1s", value_parser = duration::parse)]
    pub window: Duration,

    /// Traffic before each window opens [default: of the board profile, mostly 50ms]
    #[arg(long, help_heading = "Measuring", value_name = "TIME", value_parser = duration::parse)]
    pub warmup: Option<Duration>,

    /// Watches the sockets that another program has open on this port, instead of traffic of its own
    #[arg(long, help_heading = "What", value_name = "N", conflicts_with_all = OWN_TRAFFIC, value_parser = within(1_u16..=u16::MAX))]
    pub port: Option<u16>,

    /// Watches all UDP sockets of this process, instead of traffic of its own
    #[arg(long, help_heading = "What", value_name = "PID", conflicts_with_all = OWN_TRAFFIC, conflicts_with = "port", value_parser = within(1_u32..=i32::MAX.unsigned_abs()))]
    pub pid: Option<u32>,

    /// The case: a value each.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// Placement of the threads.
    #[command(flatten)]
    pub placement: PlacementArgs,

    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

/// Options of own traffic, which another program's has not.
const OWN_TRAFFIC: [&str; 3] = ["ParameterArgs", "PlacementArgs", "warmup"];

impl WatchArgs {
    /// Returns the program to watch. `None`: traffic of its own.
    pub fn program(&self) -> Option<Target> {
        let by_port = self.port.map(Target::Port);
        by_port.or_else(|| self.pid.map(Target::Pid))
    }
}
