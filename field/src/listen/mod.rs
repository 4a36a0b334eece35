//! `udpbench listen`: receives datagrams that udpbench did not send, and says what came and what was lost. It sends
//! nothing.
//!
//! Each window becomes a [`row`], the rows are in the [`log`], and [`sequence`] says what the numbers of a source tell.
//! Only this file and `socket` touch a socket.

mod args;
mod json;
pub mod log;
mod output;
pub mod row;
pub mod sequence;
mod socket;
mod summary;
mod totals;

use std::net::UdpSocket;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Builder};
use std::time::Duration;

use anyhow::{Context, anyhow};

pub use self::args::{ListenArgs, ListenShape};
use self::output::Output;
use self::row::{Row, Shown};
use self::totals::{Heard, Totals};
use crate::VERSION;
use crate::data::listened::ListenWindow;
use crate::error::UsageError;
use crate::program::{Observer, Program, Target};
use crate::sys::interrupt::Interrupt;
use crate::term::output::{is_header_due, say, show, show_to_reader, to_stdout, width};
use crate::text::duration;
use crate::workload::listening::{self, ListenEnd, ListenOptions, WindowPipe};

/// Time after which the kernel stamps arrivals: it begins a moment after the request.
const UNTIL_STAMPS: Duration = Duration::from_millis(20);
/// Time between two looks at the counters of the kernel.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Windows that are printed while the next one is counted.
const WINDOWS: usize = 3;
/// Shortest run and gap.
const MIN_LENGTH: Duration = Duration::from_nanos(1);
/// Shortest window.
const MIN_WINDOW: Duration = Duration::from_millis(10);

/// Listens until interrupted, or for `--count` lines or `--for` a time. Exit code 1: nothing came.
///
/// # Errors
/// Fails on bad input, if the socket fails, or if an output cannot be written.
pub fn run(args: &ListenArgs, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    check_times(args)?;
    let opened = socket::open(args)?;
    let output = Output::create(args, &opened)?;
    let mut lines = Lines::new(args, opened.buffer_bytes, output)?;
    thread::sleep(UNTIL_STAMPS);
    lines.observer.forget();
    let drops_before = socket::empty(&opened.socket)?;
    // From here on, everything is counted.
    let about = &opened.about;
    say(&format!(
        "udpbench {VERSION} listens on {about}; Ctrl-C ends"
    ));
    if let Some(note) = &opened.note {
        say(&format!("note: {note}"));
    }
    let options = ListenOptions {
        numbered: args.numbered(),
        silence: args.gap,
        window: args.window,
        length: args.length.or_else(|| Some(args.window * args.count?)),
        drops_before,
    };
    let end = lines.listen(options, &opened.socket, interrupt)?;
    if interrupt.signal().is_some() {
        // The terminal echoed ^C into the current line.
        say("");
    }
    let heard = Heard {
        totals: lines.totals,
        end,
        no_reasons: lines.observer.no_reasons().map(str::to_owned),
        buffer_bytes: opened.buffer_bytes,
    };
    let said = summary::lines(&heard, args);
    let for_programs = json::summary(&heard, &said);
    let written = lines.output.end(&for_programs);
    match args.format {
        ListenShape::Json => {
            let text = serde_json::to_string_pretty(&for_programs)?;
            to_stdout(format!("{text}\n").as_bytes())?;
        }
        ListenShape::Table if lines.reader_is_gone => {}
        ListenShape::Table => {
            let (_, came) = &said[0];
            let rest = log::text(&said[1..], width().into());
            let findings = summary::findings(&heard);
            show(&format!("{came}\n{rest}{findings}"))?;
        }
    }
    written?;
    Ok(if interrupt.signal().is_some() && !interrupt.is_ctrl_c() {
        interrupt.exit_code().into()
    } else if heard.totals.datagrams == 0 {
        ExitCode::FAILURE
    } else {
        // Ctrl-C is the normal end.
        ExitCode::SUCCESS
    })
}

fn check_times(args: &ListenArgs) -> Result<(), UsageError> {
    for (flag, time, least, fix) in [
        (
            "--window",
            Some(args.window),
            MIN_WINDOW,
            "use 10ms or more: a line takes a moment, too",
        ),
        (
            "--for",
            args.length,
            MIN_LENGTH,
            "use a time above 0, such as 10s",
        ),
        (
            "--gap",
            args.gap,
            MIN_LENGTH,
            "use a time above 0, such as 20ms",
        ),
    ] {
        if let Some(time) = time.filter(|time| *time < least) {
            return Err(UsageError::flag(flag, &duration::text(time), fix));
        }
    }
    Ok(())
}

/// Prints a line for each window and adds the windows up.
struct Lines {
    observer: Observer,
    shown: Shown,
    /// Lines go to standard output.
    prints: bool,
    printed: u32,
    reader_is_gone: bool,
    output: Output,
    totals: Totals,
}

impl Lines {
    fn new(args: &ListenArgs, buffer_bytes: u32, output: Output) -> anyhow::Result<Self> {
        // The socket of this process is open, so that there is a program with a socket.
        let program = Program::find(Target::Pid(std::process::id()))?;
        Ok(Self {
            observer: Observer::new(program),
            shown: Shown {
                silences: args.gap.is_some(),
                sequence: args.numbered().is_some(),
                buffer_bytes,
            },
            prints: args.format == ListenShape::Table,
            printed: 0,
            reader_is_gone: false,
            output,
            totals: Totals::default(),
        })
    }

    /// Receives in a thread of its own, and prints meanwhile.
    fn listen(
        &mut self,
        options: ListenOptions,
        socket: &UdpSocket,
        interrupt: &Interrupt,
    ) -> anyhow::Result<ListenEnd> {
        let (over, windows) = mpsc::sync_channel(WINDOWS);
        let (spares, spare) = mpsc::channel();
        for _ in 0..WINDOWS {
            // Its other end is in `pipe`.
            let _ = spares.send(ListenWindow::new());
        }
        let pipe = WindowPipe { over, spare };
        let end = thread::scope(|scope| {
            let listen = || listening::listen(socket, options, interrupt, pipe);
            let thread = Builder::new().name("listening".to_owned());
            let thread = thread.spawn_scoped(scope, listen);
            let thread = thread.context("cannot start a thread")?;
            let printed = self.print(windows, &spares);
            let end = thread.join();
            let end = end.map_err(|_| anyhow!("the receiving thread panicked"))?;
            printed?;
            end.context("cannot receive")
        })?;
        // One that had hardly begun has no line.
        let last = &end.last_window;
        let is_long = Duration::from_nanos(last.length_ns) >= options.window / 2;
        self.add(last, is_long || last.datagrams > 0)?;
        Ok(end)
    }

    /// Prints windows until the receiving thread ends, or until nobody reads the lines.
    fn print(
        &mut self,
        windows: Receiver<ListenWindow>,
        spares: &Sender<ListenWindow>,
    ) -> anyhow::Result<()> {
        while !self.reader_is_gone {
            match windows.recv_timeout(BETWEEN_LOOKS) {
                Ok(window) => {
                    self.add(&window, true)?;
                    // The thread may have ended meanwhile.
                    let _ = spares.send(window);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.observer.look();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // Without a receiver of windows, the thread ends.
        drop(windows);
        Ok(())
    }

    /// Adds a window, with what the kernel counted meanwhile, and writes and prints its line. The drops of the socket
    /// are those of the window, which are exact.
    fn add(&mut self, window: &ListenWindow, has_line: bool) -> anyhow::Result<()> {
        self.observer.look();
        let mut seen = self.observer.finish();
        seen.socket_drops = window.socket_drops;
        self.totals.add(window, &seen);
        if !has_line {
            return Ok(());
        }
        let row = Row::new(window, &seen);
        self.output.window(&row, &window.first_silences);
        if self.prints && !self.reader_is_gone {
            let width = width().into();
            let table = self.shown.table(&[&row]);
            let header = is_header_due(self.printed).then(|| table.header(width));
            let text = header.unwrap_or_default() + &table.body(width);
            self.reader_is_gone = !show_to_reader(&text)?;
            self.printed = self.printed.wrapping_add(1);
        }
        Ok(())
    }
}
