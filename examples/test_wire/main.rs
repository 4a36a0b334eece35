//! Joins two TAP devices and applies rules to the UDP datagrams between them: drop, delay, duplicate, reorder and
//! limit, by the number of a datagram. Reports exactly what it did, so tests know the truth. A test double of a cable,
//! for kernels without netem.
//!
//! Frames are read from one device and written to the other unchanged. Only UDP is subject to rules: ARP, neighbour
//! discovery and ssh pass. The fragments of a datagram share the first one's fate.

mod forwarder;
mod judge;
mod tap;
mod wire;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use nix::errno::Errno;
use serde_json::Value;
use udpbench::error::UsageError;

use judge::rules::Rules;
use tap::{Location, Tap};
use wire::Wire;

const HELP: &str = "\
rules, separated by semicolons; a>b or b>a in front limits one to a direction:
  drop WHICH
  duplicate WHICH
  misdirect WHICH                   to port 9, which is closed
  delay WHICH by TIME
  reorder WHICH by K                until K others that are not held back have passed
  limit RATE [queue Q] [burst B]    above RATE, datagrams wait in a queue of Q [100]; a full queue drops
  police RATE [burst B]             above RATE, datagrams are dropped
  count size LIST, count port LIST  number only these, and apply rules to no others

  WHICH   all, LIST (numbers from 1, in each direction), every K, size LIST (bytes of payload),
          or silence TIME: the first, and each that comes TIME or more after the one before
  LIST    such as 3,5-7,100-
  RATE    10000/s (datagrams) or 20mbit/s (of frames)

Rules apply in this order: drop, police, limit, misdirect and duplicate, delay, reorder. Dropped
datagrams have numbers, too. A copy follows its original and is not counted against a rate. The
fragments of a datagram share the fate of the first, and only the first counts; each fragment is
copied by itself, and the receiver makes one datagram of both copies.

examples:
  test_wire --end near:eth0 --end far:eth0 \"a>b drop 3,5-7\"
  test_wire --end near:eth0 --end far:eth0 \"count size 300-; drop every 10; b>a delay all by 2ms\"
  test_wire --end 4711:eth0 --end far:eth0 \"limit 20mbit/s queue 50; delay size 1400- by 100us\"
  test_wire --end near:eth0 --end far:eth0 \"a>b drop silence 20ms; b>a reorder 4 by 3\"

It prints `ready` when both ends are up. It ends by SIGINT, SIGTERM or the end of standard input,
and then writes its report, a line of JSON; a line `report` on standard input asks for one before.
No frame is lost unseen: `kernel` has the drops of a device's own queue (tx_dropped), `refused`
the frames that a device did not take, and
seen + copied = passed + dropped + refused + too_many_held + held.

exit codes: 0 ended as asked, 1 something broke, 2 bad input, 77 no TAP device is available";

/// Joins two TAP devices and applies rules to the UDP datagrams between them
#[derive(Debug, Parser)]
#[command(after_help = HELP)]
struct Arguments {
    /// A TAP device to make, once for the end a and once for b; NETNS is a name, a path or a pid
    #[arg(long = "end", value_name = "[NETNS:]NAME", required = true)]
    ends: Vec<Location>,
    /// Write the last report to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Rules for datagrams, as below
    rules: Vec<String>,
}

/// Exit code of a skipped test, as automake has it.
const SKIPPED: u8 = 77;

fn main() -> ExitCode {
    let Err(error) = run(Arguments::parse()) else {
        return ExitCode::SUCCESS;
    };
    if is_no_tap(&error) {
        eprintln!("SKIPPED: {error:#}");
        return ExitCode::from(SKIPPED);
    }
    eprintln!("error: {error:#}");
    if error.is::<UsageError>() {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let rules = Rules::parse(&arguments.rules.join(";"))
        .map_err(|(rule, problem)| UsageError::flag("RULES", &rule, problem))?;
    let count = arguments.ends.len();
    let ends: [Location; 2] = arguments
        .ends
        .try_into()
        .map_err(|_| UsageError::flag("--end", &count, "write it twice, once for each end"))?;
    let [a, b] = ends;
    let mut wire = Wire::new([Tap::new(a)?, Tap::new(b)?], &rules)?;
    say("ready")?;
    wire.run(|report| say(&report.to_string()))?;
    let report = wire.report()?;
    match arguments.report {
        None => say(&report.to_string()),
        Some(file) => write(&file, &report),
    }
}

fn write(file: &PathBuf, report: &Value) -> anyhow::Result<()> {
    fs::write(file, format!("{report}\n"))
        .with_context(|| format!("--report {}: cannot write", file.display()))
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .context("cannot write to standard output")
}

/// Returns whether TAP is missing or not permitted on this host.
fn is_no_tap(error: &anyhow::Error) -> bool {
    const REASONS: [Errno; 5] = [
        Errno::EPERM,
        Errno::EACCES,
        Errno::ENODEV,
        Errno::ENXIO,
        Errno::ENOENT,
    ];
    let is_of_tap = error.chain().any(|cause| {
        let text = cause.to_string();
        text.contains("/dev/net/tun") || text.contains("TAP device")
    });
    let code = error
        .root_cause()
        .downcast_ref::<io::Error>()
        .and_then(io::Error::raw_os_error);
    is_of_tap && code.is_some_and(|code| REASONS.contains(&Errno::from_raw(code)))
}
