//! `watch`: what was typed, nothing else.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::number::within;
use super::{ParameterArgs, PlacementArgs};
use crate::host::program::Target;
use crate::text::duration;

/// The options of `watch`.
// What it shares with the sweep conflicts with --resume, which is not here.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP, group = ArgGroup::new("resume"))]
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

const AFTER_HELP: &str = "\
Examples:
  udpbench watch                             a line per second until Ctrl-C
  udpbench watch --engine gso-gro --payload 9k --rcvbuf 212992
  udpbench watch --engine std --pin 2:3      while you change the governor, IRQs or the fan
  udpbench watch --count 60 >before.txt      a minute of it, in a file
  udpbench watch --workload rr               round trips instead of loss
  sudo udpbench watch --port 7502            where another program's datagrams are dropped

Method:
  One case, window after window, each with fresh sockets. Each parameter has one value.

Columns:
  UTC       when the window opened
  Mb/s      payload received
  kpps      thousands of datagrams received per second; kreq/s: of responses
  loss%     of what was sent
  where     place of most drops: the socket (its buffer was full), or elsewhere in the kernel
  p50, p99  round trips, in microseconds
  lost      requests without a response within 250 ms
  tx ns     CPU time of the senders per datagram sent
  rx ns     CPU time of the receivers per datagram received
  cpu ns    CPU time of all threads per datagram received
  C         temperature of the hottest sensor after the window, in degrees Celsius
  MHz       lowest clock that cpufreq set on the CPUs of the threads

Columns with --port or --pid:
  kpps      thousands of datagrams per second that all programs of this network namespace read:
            the kernel does not count them for each socket
  KiB       fullest receive queue; full%: of the buffer
  socket    datagrams that the sockets dropped: the reason follows at the end
  kernel    packets that the backlog, IP, a firewall or UDP dropped, for any program
  nic       packets that an interface or its driver lost; -: those of another namespace
  cpu%      CPU time of the program, of one CPU
  wait%     time in which its busiest thread waited for a CPU
  on        CPU of that thread
  softirq   CPU whose softirq received most packets

Remarks:
  throttled  the board protected itself from heat or low voltage
  slow CPU   a CPU ran more than 10 % slower than at the start
  load 12%   a bench thread was preempted for this part of the window
  overload   fewer requests were answered than --rate sent: no round trips
  failed     the window could not be measured, for the reason that follows

Exit codes:
  0    done, also by Ctrl-C
  1    no window could be measured
  2    bad input
  143  ended by SIGTERM; 129: by SIGHUP, as when ssh drops";
