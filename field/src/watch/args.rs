//! `watch`: what was typed, nothing else.

use std::time::Duration;

use clap::Args;

use crate::program::Target;
use crate::text::duration;
use crate::text::number::within;

/// The options of `watch`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("../help/watch.txt").trim_end())]
pub struct WatchArgs {
    /// Number of lines [default: until Ctrl-C]
    #[arg(long, help_heading = "Measuring", value_name = "N", value_parser = within(1_u32..=u32::MAX), allow_negative_numbers = true)]
    pub count: Option<u32>,

    /// Time after which it ends [default: at Ctrl-C]
    #[arg(long = "for", help_heading = "Measuring", value_name = "TIME", value_parser = duration::parse, conflicts_with = "count")]
    pub length: Option<Duration>,

    /// Time of each line
    #[arg(long, help_heading = "Measuring", value_name = "TIME", default_value = "1s", value_parser = duration::parse)]
    pub window: Duration,

    /// Watches the sockets that another program has open on this port
    #[arg(long, help_heading = "What", value_name = "N", required_unless_present = "pid", value_parser = within(1_u16..=u16::MAX))]
    pub port: Option<u16>,

    /// Watches all UDP sockets of this process
    #[arg(long, help_heading = "What", value_name = "PID", conflicts_with = "port", value_parser = within(1_u32..=i32::MAX.unsigned_abs()))]
    pub pid: Option<u32>,
}

impl WatchArgs {
    /// Returns the program to watch, of which the command line has the port or the process.
    pub fn target(&self) -> Target {
        let by_process = Target::Pid(self.pid.unwrap_or_default());
        self.port.map_or(by_process, Target::Port)
    }
}
