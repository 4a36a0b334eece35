//! `udpbench watch`: a line per window about the sockets of another program, and what was found in the end.

mod args;

use std::process::ExitCode;
use std::time::{Duration, Instant};

pub use self::args::WatchArgs;
use crate::VERSION;
use crate::host::check::Finding;
use crate::host::facts::RcvbufLimit;
use crate::log::name::now;
use crate::program::diagnosis::{Limits, findings};
use crate::program::losses::not_looked_at;
use crate::program::{Interval, Observer, Program, ThreadTimes};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::fold;
use crate::term::output::{is_header_due, say, show, show_to_reader, width};
use crate::term::table::Columns;

/// Time between two looks at sockets and threads, on average.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Width of a line in columns. The numbers always fit.
const WIDTH: usize = 80;

/// Returns the time before the next look. It varies, so that a program which reads ten times a second is not always
/// seen in the same state.
fn before_look(n: u32) -> Duration {
    BETWEEN_LOOKS * (70 + n % 61 * 37 % 61) / 100
}

/// Watches another program until interrupted, or for `--count` lines or `--for` a time. Exit code 1: its sockets are
/// closed.
///
/// # Errors
/// Fails if there is no such program, or if standard output cannot be written.
pub fn run(args: &WatchArgs, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    let program = Program::find(args.target())?;
    let heading = format!("udpbench {VERSION} watches {program}; Ctrl-C ends");
    let end = args.length.map(|length| Instant::now() + length);
    let mut watch = Watch {
        observer: Observer::new(program),
        window: args.window,
        looks: 0,
        end,
        seen: Interval::default(),
        dropping: Interval::default(),
        interrupt,
    };
    // From here on, everything is counted.
    say(&heading);
    let header = columns().empty().dense().header(WIDTH);
    let mut is_open = true;
    for printed in 0.. {
        if args.count == Some(printed) || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let Ok(line) = watch.line() else {
            // The terminal echoed ^C into the current line.
            say("");
            break;
        };
        let Some(line) = line else {
            say("its sockets are closed");
            is_open = false;
            break;
        };
        let header = if is_header_due(printed) { &header } else { "" };
        if !show_to_reader(&format!("{header}{line}"))? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    show(&watch.findings_text())?;
    Ok(match is_open {
        // Ctrl-C is the normal end, not a failure, as with ping(8).
        _ if interrupt.signal().is_some() && !interrupt.is_ctrl_c() => interrupt.exit_code().into(),
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

struct Watch<'a> {
    observer: Observer,
    window: Duration,
    /// Looks so far.
    looks: u32,
    /// Time of the end. `None`: not given.
    end: Option<Instant>,
    /// All windows together.
    seen: Interval,
    /// The windows in which the program's sockets dropped something.
    dropping: Interval,
    interrupt: &'a Interrupt,
}

impl Watch<'_> {
    /// Returns the line of the next window. `None`: the program has closed its sockets.
    fn line(&mut self) -> Result<Option<String>, Interrupted> {
        let looked = self.look_for_a_window();
        let window = self.observer.finish();
        if window.socket_drops > 0 {
            self.dropping.add(&window);
        }
        self.seen.add(&window);
        self.dropping.holders.clone_from(&self.seen.holders);
        let mut line = columns().empty().dense();
        line.row(columns().cells(&window));
        Ok(looked?.then(|| line.body(WIDTH)))
    }

    /// Looks until the window is over. False: the program has closed its sockets.
    fn look_for_a_window(&mut self) -> Result<bool, Interrupted> {
        let window = Instant::now() + self.window;
        let end = self.end.map_or(window, |end| end.min(window));
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let pause = before_look(self.looks);
            self.looks = self.looks.wrapping_add(1);
            let interrupted = self.interrupt.sleep(left.min(pause));
            let is_open = self.observer.look();
            interrupted?;
            if !is_open || left <= pause {
                return Ok(is_open);
            }
        }
    }

    fn findings_text(&self) -> String {
        let root = Root::new("/");
        let limits = Limits {
            rmem_default: root.number("proc/sys/net/core/rmem_default"),
            rmem_max: RcvbufLimit::read(&root),
        };
        let name = self.observer.program().name();
        let findings = findings(&self.seen, &self.dropping, name, limits);
        let texts: String = findings.iter().map(Finding::text).collect();
        let seconds = self.seen.length.as_secs_f64();
        match not_looked_at(&self.seen, self.observer.no_reasons()) {
            None if findings.is_empty() => {
                format!("this host dropped nothing at or before its sockets in {seconds:.0} s\n")
            }
            None => texts,
            Some(places) => {
                let none = if findings.is_empty() {
                    format!("no drop was seen in {seconds:.0} s. ")
                } else {
                    String::new()
                };
                let unseen = format!("{none}Not looked at: {places}");
                format!("{texts}{}\n", fold::text(&unseen, width().into()))
            }
        }
    }
}

/// Returns the columns of a window. Headings are padded to the width of the numbers below them.
fn columns() -> Columns<'static, Interval> {
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    Columns::<Interval>::default()
        .word("UTC     ", |_| {
            now().get(11..19).unwrap_or_default().to_owned()
        })
        .number(" kpps", |it| {
            format!("{:.1}", it.read as f64 / it.length.as_secs_f64() / 1e3)
        })
        .number(" KiB", |it| {
            let queued = it.sockets.values().map(|socket| socket.state.queued_bytes);
            (queued.max().unwrap_or(0) / 1024).to_string()
        })
        .number("full%", move |it| or_dash(it.full().map(percent)))
        .number("socket", |it| it.socket_drops.to_string())
        .number("kernel", |it| {
            (it.backlog_drops + it.protocol_drops).to_string()
        })
        .number("  nic", move |it| {
            // In another namespace, no interface can be looked at.
            let is_seen = !it.lost.interfaces.is_empty();
            let most = it.interface_drops.values().max().copied();
            or_dash(is_seen.then(|| most.unwrap_or(0).to_string()))
        })
        .number("cpu%", move |it| {
            or_dash(it.busiest().map(|_| percent(it.cpus_used())))
        })
        .number("wait%", move |it| {
            or_dash(
                it.busiest()
                    .map(|busiest| percent(it.share(busiest.waited_ns))),
            )
        })
        .number("on", move |it| {
            let main = it.busiest().and_then(ThreadTimes::main_cpu);
            or_dash(main.map(|(cpu, _)| cpu.to_string()))
        })
        .number("softirq", move |it| {
            or_dash(it.softirq_cpu().map(|(cpu, _)| cpu.to_string()))
        })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::net::SocketAddr;

    use super::*;
    use crate::program::SocketSeen;
    use crate::sys::udp_sockets::UdpSocketState;

    fn cell(seen: &Interval, heading: &str) -> String {
        let headings = columns().empty();
        let mut headings = headings.headings();
        let at = headings.position(|(text, _)| text.trim() == heading);
        columns().cells(seen).remove(at.expect("a column"))
    }

    fn socket(queued_bytes: u32, buffer_bytes: Option<u32>) -> SocketSeen {
        let state = UdpSocketState {
            inode: 1,
            local: SocketAddr::from(([0; 4], 7)),
            ipv6_only: false,
            is_connected: false,
            device: 0,
            queued_bytes,
            buffer_bytes,
            drops: 0,
        };
        SocketSeen {
            state,
            least_queued_bytes: 0,
            drops: 0,
            looks: 10,
            full_looks: 0,
            owners: BTreeSet::new(),
        }
    }

    #[test]
    fn each_queue_is_set_against_its_own_buffer() {
        let seen = |sockets: [SocketSeen; 2]| Interval {
            sockets: (1..).zip(sockets).collect(),
            ..Interval::default()
        };
        let both = seen([socket(0, Some(8192)), socket(4_640_000, Some(8_000_000))]);
        assert_eq!(cell(&both, "full%"), "58");
        let mut sum = Interval::default();
        sum.add(&both);
        assert_eq!(cell(&sum, "full%"), "58");
        let unknown = seen([socket(5, None), socket(6, None)]);
        assert_eq!(cell(&unknown, "full%"), "-");
    }

    #[test]
    fn interfaces_that_cannot_be_looked_at_have_a_dash() {
        let mut seen = Interval::default();
        assert_eq!(cell(&seen, "nic"), "-");
        seen.lost.interfaces = BTreeMap::from([("eth0 rx_dropped".to_owned(), 0)]);
        assert_eq!(cell(&seen, "nic"), "0");
        seen.interface_drops = BTreeMap::from([("eth0 rx_dropped".to_owned(), 7)]);
        assert_eq!(cell(&seen, "nic"), "7");
    }
}
