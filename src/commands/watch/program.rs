//! `udpbench watch --port`: a line per window about the sockets of another program, and what was found in the end.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use super::{End, LINES_PER_HEADER};
use crate::VERSION;
use crate::cli::WatchArgs;
use crate::commands::check::finding_text;
use crate::commands::session::interrupted;
use crate::commands::{interrupt_on_signals, say, show, show_to_reader};
use crate::host::program::diagnosis::{Limits, findings};
use crate::host::program::{Interval, Observer, Program, Target};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// Time between two looks at sockets and threads.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Watches another program until interrupted, or for `--count` lines. Exit code 1: its sockets are closed.
///
/// # Errors
/// Fails if there is no such program, or if standard output cannot be written.
pub(super) fn run(args: &WatchArgs, target: Target) -> anyhow::Result<ExitCode> {
    let interrupt = interrupt_on_signals()?;
    let program = Program::find(target)?;
    say(&format!(
        "udpbench {VERSION} watches {program}; Ctrl-C ends"
    ));
    let mut watch = Watch {
        observer: Observer::new(program),
        window: args.window,
        seen: Interval::default(),
        dropping: Interval::default(),
        interrupt: &interrupt,
    };
    let end = watch.print_lines(args.count)?;
    if end == Some(End::Interrupted) {
        // The terminal echoed ^C into the current line.
        say("");
    }
    if end != Some(End::PipeClosed) {
        show(&watch.findings_text())?;
    }
    Ok(match end {
        None => ExitCode::FAILURE,
        Some(End::Interrupted) if !interrupt.is_ctrl_c() => interrupted(&interrupt).into(),
        Some(_) => ExitCode::SUCCESS,
    })
}

struct Watch<'a> {
    observer: Observer,
    window: Duration,
    /// All windows together.
    seen: Interval,
    /// The windows in which the program's sockets dropped something.
    dropping: Interval,
    interrupt: &'a Interrupt,
}

impl Watch<'_> {
    /// Prints the lines of `count` windows. Returns why it ended: `None` if the program has closed its sockets.
    fn print_lines(&mut self, count: Option<u32>) -> anyhow::Result<Option<End>> {
        let is_terminal = io::stdout().is_terminal();
        for printed in 0.. {
            if count == Some(printed) {
                break;
            }
            let Ok(is_open) = self.look_for_a_window() else {
                return Ok(Some(End::Interrupted));
            };
            if !is_open {
                say("its sockets are closed");
                return Ok(None);
            }
            let window = self.observer.finish();
            let is_due = printed == 0 || (is_terminal && printed % LINES_PER_HEADER == 0);
            let header = if is_due { HEADER } else { "" };
            let is_read = show_to_reader(&format!("{header}{}\n", line(&window)))?;
            self.add(window);
            if !is_read {
                return Ok(Some(End::PipeClosed));
            }
        }
        Ok(Some(End::Counted))
    }

    /// Looks until the window is over. False: the program has closed its sockets.
    fn look_for_a_window(&mut self) -> Result<bool, Interrupted> {
        let mut left = self.window;
        while !left.is_zero() {
            let step = left.min(BETWEEN_LOOKS);
            self.interrupt.sleep(step)?;
            left = left.saturating_sub(step);
            if !self.observer.look() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, window: Interval) {
        if window.socket_drops > 0 {
            self.dropping.add(window.clone());
        }
        self.seen.add(window);
    }

    fn findings_text(&self) -> String {
        let root = Root::new("/");
        let limit = |name| root.number(format!("proc/sys/net/core/{name}"));
        let limits = Limits {
            rmem_default: limit("rmem_default"),
            rmem_max: limit("rmem_max"),
        };
        let program = self.observer.program();
        let name = if program.name.is_empty() {
            "the program"
        } else {
            &program.name
        };
        let findings = findings(&self.seen, &self.dropping, name, limits);
        if findings.is_empty() {
            let seconds = self.seen.length.as_secs_f64();
            return format!("nothing was dropped at or before its sockets in {seconds:.0} s\n");
        }
        findings.iter().map(finding_text).collect()
    }
}

const HEADER: &str = "\
UTC       kpps  queue KiB  full%  socket  kernel     nic   cpu%  wait%  CPU  packets on
";

/// Returns the line of a window.
fn line(window: &Interval) -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let time = now.get(11..19).unwrap_or("--:--:--");
    let seconds = window.length.as_secs_f64();
    let kpps = window.read as f64 / seconds / 1e3;
    let queue = window.queued_bytes / 1024;
    let dash = || "-".to_owned();
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let full = window.buffer_bytes.map_or_else(dash, |buffer| {
        percent(f64::from(window.queued_bytes) / f64::from(buffer.max(1)))
    });
    let kernel = window.backlog_drops + window.protocol_drops;
    let nic = window.interface_drops.values().max().copied().unwrap_or(0);
    let busiest = window.busiest();
    let used = busiest.map_or_else(dash, |_| percent(window.cpus_used()));
    let waited = busiest.map_or_else(dash, |it| percent(window.share(it.waited_ns)));
    let main = busiest.and_then(|it| it.main_cpu());
    let cpu = main.map_or_else(dash, |(cpu, _)| cpu.to_string());
    let most = window
        .packets_of_cpu
        .iter()
        .max_by_key(|(_, count)| **count);
    let packets = most.filter(|(_, count)| **count > 0);
    let packets = packets.map_or_else(dash, |(cpu, _)| format!("CPU {cpu}"));
    let socket = window.socket_drops;
    format!(
        "{time} {kpps:>5.1}  {queue:>9}  {full:>5}  {socket:>6}  {kernel:>6}  {nic:>6}  {used:>5}  {waited:>5}  {cpu:>3}  \
         {packets:>10}"
    )
}
