//! The other host, and what is measured between it and this one.

use clap::{Args, Subcommand, ValueHint};

use super::remote::host;
use super::{FindArgs, LatencyArgs, RunArgs, SoakArgs};

/// The options of `wire`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/wire.txt").trim_end(), disable_help_subcommand = true, subcommand_help_heading = "Instead of a sweep", subcommand_value_name = "WHAT")]
pub struct WireArgs {
    /// The other host, as ssh knows it, or what --rsh names
    #[arg(value_name = "[USER@]HOST", value_parser = host, value_hint = ValueHint::Hostname)]
    pub to: String,

    /// Measurement between the hosts. Without one, the sweep runs.
    #[command(subcommand)]
    pub what: Option<WireCommand>,

    /// The options of the sweep.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Measurements between two hosts, besides the sweep.
#[derive(Debug, Subcommand)]
pub enum WireCommand {
    /// Measures round-trip times, as udpbench latency
    Latency(Box<LatencyArgs>),
    /// Finds a threshold, as udpbench find
    Find(Box<FindArgs>),
    /// Sends at a constant rate for hours, as udpbench soak
    Soak(Box<SoakArgs>),
}
