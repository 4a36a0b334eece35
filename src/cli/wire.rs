//! The other host, and what is measured between it and this one.

use clap::{Args, Subcommand, ValueHint};

use super::find::FindArgs;
use super::remote::host;
use super::run::{LatencyArgs, RunArgs};
use super::soak::SoakArgs;

/// The options of `wire`.
#[derive(Args, Debug)]
#[command(after_help = WIRE_AFTER_HELP, disable_help_subcommand = true, subcommand_help_heading = "Instead of a sweep", subcommand_value_name = "WHAT")]
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

const WIRE_AFTER_HELP: &str = "\
Examples:
  udpbench wire pi@board                           the sweep, in both directions
  udpbench wire pi@board --deploy                  copies udpbench to the other host first
  udpbench wire pi@board latency                   round trips
  udpbench wire pi@board find lossless             the highest rate without loss
  udpbench wire pi@board soak --for 8h             each outage of a night

More examples:
  udpbench wire pi@board --threads 4 --payload 1460 --direction up
  udpbench wire pi@board --address 192.168.7.2     over the interface that has this address
  udpbench wire pi@board --rsh 'ssh -p 2222'       with options of ssh
  udpbench wire box --rsh 'docker exec -i' --deploy --address 172.17.0.2

Needs:
  The same version of udpbench on both hosts (--deploy). Nothing is left running on the other host.
  Datagrams go between ports that the kernels choose: a firewall in between has to let UDP pass.";
