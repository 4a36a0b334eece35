//! The loop that moves frames in both directions, and ends when it is told to.
//!
//! One thread does it all: a second one would take the CPU that the programs at the ends need, and this way what a
//! report says is of one moment.

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

use crate::judge::rules::{Direction, Rules};
use crate::tap::Tap;
use crate::way::Way;

/// How many frames one direction moves before it is the other's turn: at some microseconds each, what is due in the
/// other waits that long.
const TURN: usize = 8;
/// Rounds between two looks at the signals and at standard input while there are frames.
const LOOK_EVERY: u32 = 64;
/// A sleep ends up to so much later than it should on a quiet machine: the rest of the time is spent awake.
const WAKE_LATENCY: Duration = Duration::from_micros(60);
/// The largest frame of a TAP device, and more: MAX_MTU (drivers/net/tun.c), Ethernet header, VLAN tag.
const FRAME_BYTES: usize = 66_000;

/// Two ends, and what is between them.
#[derive(Debug)]
pub(crate) struct Wire {
    ends: [Tap; 2],
    there: Way,
    back: Way,
    buffer: Box<[u8]>,
    signals: SignalFd,
    input: Vec<u8>,
}

/// What standard input and signals ask for.
enum Asked {
    Nothing,
    /// So many reports.
    Reports(usize),
    End,
}

impl Wire {
    /// Over which no frame has gone. From here on SIGINT and SIGTERM end [`Wire::run`], and not the process.
    ///
    /// # Errors
    /// When signals cannot be blocked.
    pub(crate) fn new(ends: [Tap; 2], rules: &Rules) -> anyhow::Result<Self> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGINT);
        set.add(Signal::SIGTERM);
        set.thread_block().context("cannot block signals")?;
        // As is: sleeps end up to 50 us late.
        prctl::set_timerslack(1).context("cannot have sleeps end in time")?;
        Ok(Self {
            ends,
            there: Way::new(rules, Direction::There),
            back: Way::new(rules, Direction::Back),
            buffer: vec![0; FRAME_BYTES].into_boxed_slice(),
            signals: SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK)
                .context("cannot wait for signals")?,
            input: Vec::new(),
        })
    }

    /// Moves frames until it is told to end.
    ///
    /// # Errors
    /// When a device is gone, or a report cannot be said.
    pub(crate) fn run(&mut self, say: impl Fn(&Value) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut round: u32 = 0;
        loop {
            round = round.wrapping_add(1);
            let is_idle = self.turn()? == 0;
            let sleep = if is_idle {
                self.idle()
            } else {
                Some(Duration::ZERO)
            };
            if sleep == Some(Duration::ZERO) && round % LOOK_EVERY != 0 {
                continue;
            }
            match self.wait(sleep)? {
                Asked::Nothing => {}
                Asked::Reports(count) => {
                    self.take_all()?;
                    (0..count).try_for_each(|_| say(&self.report()?))?;
                }
                Asked::End => return self.take_all(),
            }
        }
    }

    /// Both directions, once. How many frames moved.
    fn turn(&mut self) -> anyhow::Result<usize> {
        let [a, b] = &self.ends;
        let there = self.there.forward(a, b, &mut self.buffer, TURN)?;
        let back = self.back.forward(b, a, &mut self.buffer, TURN)?;
        Ok(there + back)
    }

    /// Takes what has been sent so far: it belongs into the report that was asked for after that. A flood that
    /// still goes on is cut off.
    fn take_all(&mut self) -> anyhow::Result<()> {
        const MOST_TURNS: usize = 16_384;
        for _ in 0..MOST_TURNS {
            if self.turn()? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// How long there is nothing to do; none: until something comes.
    fn idle(&self) -> Option<Duration> {
        let due = [self.there.due_in(), self.back.due_in()];
        let next = due.into_iter().flatten().min()?;
        Some(next.saturating_sub(WAKE_LATENCY))
    }

    /// Sleeps until a frame or anything else comes.
    fn wait(&mut self, time: Option<Duration>) -> anyhow::Result<Asked> {
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
            return Ok(Asked::End);
        }
        if !line {
            return Ok(Asked::Nothing);
        }
        self.read_lines()
    }

    fn read_lines(&mut self) -> anyhow::Result<Asked> {
        let mut bytes = [0; 4096];
        let read = unistd::read(io::stdin(), &mut bytes).context("cannot read standard input")?;
        if read == 0 {
            return Ok(Asked::End);
        }
        self.input.extend_from_slice(&bytes[..read]);
        let Some(end) = self.input.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Asked::Nothing);
        };
        let lines: Vec<u8> = self.input.drain(..=end).collect();
        let lines = lines.split(|byte| *byte == b'\n');
        Ok(Asked::Reports(
            lines.filter(|line| *line == b"report").count(),
        ))
    }

    /// What has become of the frames of both directions, and what the kernel counted at the ends.
    ///
    /// # Errors
    /// When the namespace of an end cannot be entered.
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
