//! The loop that moves frames in both directions until told to end.
//!
//! One thread does it all: a second one would take the CPU that the programs at the ends need. A report also shows both
//! directions at one moment.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::Context;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::unistd;
use serde_json::{Value, json};

use crate::forwarder::Forwarder;
use crate::judge::rules::{Direction, Rules};
use crate::tap::Tap;

/// Frames that one direction moves before it is the other's turn. At some microseconds each, due frames of the other
/// direction are hardly late.
const TURN: usize = 8;
/// Turns between two polls of signals and standard input while there are frames.
const TURNS_PER_POLL: u32 = 64;
/// Time by which a sleep may end late on a quiet machine. Sleeps end earlier by this time, and the loop spins for the
/// rest.
const WAKE_LATENCY: Duration = Duration::from_micros(60);
/// At least the largest frame of a TAP device: MAX_MTU (drivers/net/tun.c), Ethernet header, VLAN tag.
const FRAME_BYTES: usize = 66_000;

/// Two TAP devices, and the frames between them.
#[derive(Debug)]
pub(crate) struct Wire {
    ends: [Tap; 2],
    there: Forwarder,
    back: Forwarder,
    buffer: Box<[u8]>,
    signals: SignalFd,
    input: Vec<u8>,
}

/// A request by a signal or on standard input.
enum Command {
    Nothing,
    /// Number of reports to print.
    Reports(usize),
    End,
}

impl Wire {
    /// Creates an idle wire. From now on, SIGINT and SIGTERM end [`Wire::run`], not the process.
    ///
    /// # Errors
    /// Fails if signals cannot be blocked.
    pub(crate) fn new(ends: [Tap; 2], rules: &Rules) -> anyhow::Result<Self> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGINT);
        set.add(Signal::SIGTERM);
        set.thread_block().context("cannot block signals")?;
        // By default, sleeps end up to 50 us late.
        prctl::set_timerslack(1).context("cannot have sleeps end in time")?;
        Ok(Self {
            ends,
            there: Forwarder::new(rules, Direction::NearToFar),
            back: Forwarder::new(rules, Direction::FarToNear),
            buffer: vec![0; FRAME_BYTES].into_boxed_slice(),
            signals: SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK)
                .context("cannot wait for signals")?,
            input: Vec::new(),
        })
    }

    /// Moves frames until told to end.
    ///
    /// # Errors
    /// Fails if a device is gone, or if a report cannot be printed.
    pub(crate) fn run(&mut self, say: impl Fn(&Value) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut round: u32 = 0;
        loop {
            round = round.wrapping_add(1);
            let is_idle = self.turn()? == 0;
            let sleep = if is_idle {
                self.idle_for()
            } else {
                Some(Duration::ZERO)
            };
            if sleep == Some(Duration::ZERO) && round % TURNS_PER_POLL != 0 {
                continue;
            }
            match self.wait(sleep)? {
                Command::Nothing => {}
                Command::Reports(count) => {
                    self.take_all()?;
                    (0..count).try_for_each(|_| say(&self.report()?))?;
                }
                Command::End => return self.take_all(),
            }
        }
    }

    /// Moves some frames in each direction and returns their number.
    fn turn(&mut self) -> anyhow::Result<usize> {
        let [a, b] = &self.ends;
        let there = self.there.forward(a, b, &mut self.buffer, TURN)?;
        let back = self.back.forward(b, a, &mut self.buffer, TURN)?;
        Ok(there + back)
    }

    /// Moves the frames that were sent before a report was requested, which it has to contain. Stops in the middle of
    /// an endless flood.
    fn take_all(&mut self) -> anyhow::Result<()> {
        const MOST_TURNS: usize = 16_384;
        for _ in 0..MOST_TURNS {
            if self.turn()? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Returns the time until a held frame is due. `None`: no frame is held.
    fn idle_for(&self) -> Option<Duration> {
        let due = [self.there.due_in(), self.back.due_in()];
        let next = due.into_iter().flatten().min()?;
        Some(next.saturating_sub(WAKE_LATENCY))
    }

    /// Waits for a frame or a command, at most for `time`.
    fn wait(&mut self, time: Option<Duration>) -> anyhow::Result<Command> {
        let input = io::stdin();
        let mut watched = [
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(input.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.ends[0].as_fd(), PollFlags::POLLIN),
            PollFd::new(self.ends[1].as_fd(), PollFlags::POLLIN),
        ];
        ppoll(&mut watched, time.map(TimeSpec::from_duration), None)
            .context("cannot wait for frames")?;
        let [signal, line, ..] = watched.map(|fd| fd.any().unwrap_or(false));
        if signal {
            return Ok(Command::End);
        }
        if !line {
            return Ok(Command::Nothing);
        }
        self.read_lines()
    }

    fn read_lines(&mut self) -> anyhow::Result<Command> {
        let mut bytes = [0; 4096];
        let read = unistd::read(io::stdin(), &mut bytes).context("cannot read standard input")?;
        if read == 0 {
            return Ok(Command::End);
        }
        self.input.extend_from_slice(&bytes[..read]);
        let Some(end) = self.input.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Command::Nothing);
        };
        let lines: Vec<u8> = self.input.drain(..=end).collect();
        let lines = lines.split(|byte| *byte == b'\n');
        Ok(Command::Reports(
            lines.filter(|line| *line == b"report").count(),
        ))
    }

    /// Reports the fate of the frames of both directions, and the kernel's counters of both ends.
    ///
    /// # Errors
    /// Fails if the namespace of an end cannot be entered.
    pub(crate) fn report(&self) -> anyhow::Result<Value> {
        let [a, b] = &self.ends;
        Ok(json!({
            "a": a.report()?,
            "b": b.report()?,
            "a>b": self.there.report(),
            "b>a": self.back.report(),
        }))
    }
}
