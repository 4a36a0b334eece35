//! What is measured, how, where, and where it goes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::engine::{EngineArg, engine};
use crate::data::{Batch, Buffer, Connection, Ip, Payload, SharingKind, Spread, Threads, Workers};
use crate::duration;
use crate::export::Format;
use crate::percent;
use crate::platform::placement::Pin;

/// The options of the sweep.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct RunArgs {
    /// Thread counts: 1 sends and receives in turn, more are divided between senders and receivers
    /// [default: as the board profile says, mostly 1,2,4]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Axes",
        allow_negative_numbers = true
    )]
    pub threads: Option<Vec<Threads>>,

    /// UDP payloads in bytes, 0 to 65507 [default: as the board profile says, mostly 26,300,1460]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Axes",
        allow_negative_numbers = true
    )]
    pub payload: Option<Vec<Payload>>,

    /// Engines for both sides; or gso-gro, blocking, batch, readiness, async, offload, all; see `udpbench
    /// engines`
    /// [default: std,mio-level,mio-exhaustive]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = engine, help_heading = "Axes")]
    pub engine: Option<Vec<EngineArg>>,

    /// Engines of the senders, each combined with every receiver
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = engine, help_heading = "Axes")]
    pub sender: Option<Vec<EngineArg>>,

    /// Engines of the receivers, each combined with every sender
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = engine, help_heading = "Axes")]
    pub receiver: Option<Vec<EngineArg>>,

    /// connected (send/recv), unconnected (send_to/recv_from) [default: both]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Axes"
    )]
    pub connection: Option<Vec<Connection>>,

    /// v4 (127.0.0.1), v6 (::1) [default: both]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Axes"
    )]
    pub ip: Option<Vec<Ip>>,

    /// Datagrams per call, 1 to 1024, of the engines that batch [default: 32]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Axes",
        allow_negative_numbers = true
    )]
    pub batch: Option<Vec<Batch>>,

    /// For the engines tokio and tokio-exhaustive: worker threads, up to 256, of one runtime for the whole case
    /// [default: 0, a current-thread runtime per thread]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(0..=i64::from(Workers::MAX)),
        help_heading = "Axes",
        allow_negative_numbers = true
    )]
    pub tokio_workers: Option<Vec<u16>>,

    /// How receivers share the port: reuseport, reuseaddr (the kernel gives all to one of them), separate
    /// (a port each) [default: reuseport]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Axes"
    )]
    pub sharing: Option<Vec<SharingKind>>,

    /// How reuseport assigns flows to receivers: even (the same number each, verified), hash (by the kernel), bpf
    /// (by a BPF program) [default: even]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Axes"
    )]
    pub spread: Option<Vec<Spread>>,

    /// SO_RCVBUF that receivers ask for, in bytes; the size granted is in every row [default: 4194304]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Axes",
        allow_negative_numbers = true
    )]
    pub rcvbuf: Option<Vec<Buffer>>,

    /// SO_SNDBUF that senders ask for, in bytes [default: none, the kernel's default size]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Axes",
        allow_negative_numbers = true
    )]
    pub sndbuf: Option<Vec<Buffer>>,

    /// Measured time per case, split evenly over the rounds [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Measuring")]
    pub duration: Option<Duration>,

    /// Windows per case, at least 5 [default: 6, the fewest that give a 95 % interval of the median]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000), help_heading = "Measuring", allow_negative_numbers = true)]
    pub rounds: Option<u32>,

    /// Adds rounds until every 95 % interval of a block is at most +-PCT of its median, such as 1%
    #[arg(long, value_name = "PCT", value_parser = percent::parse, help_heading = "Measuring")]
    pub until: Option<f64>,

    /// Time limit of --until, for all cases together [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "until", help_heading = "Measuring")]
    pub max_time: Option<Duration>,

    /// Traffic before each window opens [default: as the board profile says, mostly 50ms]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Measuring")]
    pub warmup: Option<Duration>,

    /// Traffic once before the first case [default: as the board profile says]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Measuring")]
    pub soak: Option<Duration>,

    /// Leaves out the reference, std on connected sockets, that every block has: no ratio_to_std
    #[arg(long, help_heading = "Measuring")]
    pub no_reference: bool,

    /// Checks the datagrams of each case for 20 ms before it is measured: counts those duplicated, reordered,
    /// truncated or corrupted
    #[arg(long, help_heading = "Measuring")]
    pub verify: bool,

    /// Seed of the shuffled order, to repeat that of an earlier run [default: random; in every row]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Measuring",
        allow_negative_numbers = true
    )]
    pub seed: Option<u32>,

    /// Connected sockets and IPv4 only, 300ms per case, short warm-up and soak, no cool-down: a useful answer in
    /// under 20 s; other options override it
    #[arg(long, help_heading = "Measuring")]
    pub quick: bool,

    /// auto, the NAME of a profile, or a path to a TOML file
    #[arg(
        long,
        value_name = "BOARD",
        default_value = "auto",
        help_heading = "Placement"
    )]
    pub board: String,

    /// CPUs of the senders, a colon, CPUs of the receivers (0,1:2,3), or none [default: as the board
    /// profile says]
    #[arg(long, value_name = "CPUS", help_heading = "Placement")]
    pub pin: Option<Pin>,

    /// The results, or - for standard output [default: results/TIME-BOARD.csv]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// csv, json, markdown, xlsx [default: by the name of the output, else csv]
    #[arg(
        long,
        value_name = "FORMAT",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub format: Option<Format>,

    /// The raw samples, one line per event [default: as the results, but .jsonl; none with -o -]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub samples: Option<PathBuf>,

    /// Resumes the sweep that wrote these raw samples: same cases, order and settings; its windows are kept
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Output",
        conflicts_with_all = [
            "threads", "payload", "engine", "sender", "receiver", "connection", "ip", "batch",
            "tokio_workers", "sharing", "spread", "rcvbuf", "sndbuf", "duration", "rounds", "until",
            "max_time", "warmup", "soak", "no_reference", "verify", "seed", "quick", "board", "pin",
            "samples",
        ]
    )]
    pub resume: Option<PathBuf>,

    /// Resumes even if the host, the program or the plan differs; the rows say so
    #[arg(long, requires = "resume", help_heading = "Output")]
    pub force: bool,

    /// No progress and no table, only errors and warnings
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,

    /// Slows the senders of an engine down by so many operations per datagram
    #[cfg(feature = "calibration")]
    #[arg(long, hide = true, value_name = "ENGINE:ITERATIONS")]
    pub delay: Option<crate::workload::delay::Delay>,
}
