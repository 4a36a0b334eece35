//! Forwards frames in one direction: reads them at one end, judges them, holds them if need be, and writes them at the
//! other end.

use std::io;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::libc;
use serde_json::{Value, json};

use crate::judge::held::{Held, Holding, Part};
use crate::judge::rules::{Direction, Rules};
use crate::judge::{Fate, Judge, Passage, Verdict};
use crate::tap::Tap;

/// Largest number of held frames: a few hundred megabytes. Further ones are dropped.
const MAX_HELD: usize = 1 << 18;

/// Forwards the frames of one direction.
#[derive(Debug)]
pub(crate) struct Forwarder {
    direction: Direction,
    judge: Judge,
    holding: Holding,
    tally: Tally,
    started: Instant,
}

/// Counts of frames and datagrams by their fate. In each of the two accountings, `read + copied = written + dropped +
/// refused + too_many_held`, plus the frames that are still held.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    frames: Accounting,
    datagrams: Accounting,
    bytes_read: u64,
    bytes_written: u64,
    read_errors: u64,
    other_frames: u64,
    uncounted_datagrams: u64,
    stray_fragments: u64,
    delayed: u64,
    reordered: u64,
    misdirected: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Accounting {
    read: u64,
    copied: u64,
    written: u64,
    dropped: u64,
    /// Frames that the other end's kernel did not take.
    refused: u64,
    too_many_held: u64,
}

impl Forwarder {
    /// Creates a forwarder that has seen no frame.
    pub(crate) fn new(rules: &Rules, direction: Direction) -> Self {
        Self {
            direction,
            judge: Judge::new(rules, direction),
            holding: Holding::default(),
            tally: Tally::default(),
            started: Instant::now(),
        }
    }

    /// Moves at most `most` waiting frames and returns their number.
    ///
    /// # Errors
    /// Fails if the end that it reads from is gone.
    pub(crate) fn forward(
        &mut self,
        from: &Tap,
        to: &Tap,
        buffer: &mut [u8],
        most: usize,
    ) -> anyhow::Result<usize> {
        for moved in 0..most {
            // Frames that wait for a rate are ahead of the next one.
            self.release(to);
            match from.read(buffer) {
                Ok(None) => return Ok(moved),
                Ok(Some(bytes)) => self.take(&mut buffer[..bytes], to),
                Err(error) if is_gone(&error) => {
                    return Err(error)
                        .with_context(|| format!("{}: the interface is gone", self.direction));
                }
                Err(_) => self.tally.read_errors += 1,
            }
        }
        Ok(most)
    }

    /// Writes the held frames that are due, and returns their number.
    pub(crate) fn release(&mut self, to: &Tap) -> usize {
        let mut released = 0;
        while self
            .holding
            .next()
            .is_some_and(|at| at <= self.started.elapsed())
        {
            let Some(held) = self.holding.take_due(self.started.elapsed()) else {
                break;
            };
            self.pass(&held.frame, held.part, held.passage, to);
            self.holding.reuse(held);
            released += 1;
        }
        released
    }

    /// Returns the time until the next frame is due.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        let next = self.holding.next()?;
        Some(next.saturating_sub(self.started.elapsed()))
    }

    fn take(&mut self, frame: &mut [u8], to: &Tap) {
        let now = self.started.elapsed();
        self.tally.frames.read += 1;
        self.tally.bytes_read += frame.len() as u64;
        let plain = match self.judge.judge(frame, now) {
            Verdict::Other => &mut self.tally.other_frames,
            Verdict::Uncounted => &mut self.tally.uncounted_datagrams,
            Verdict::Stray => &mut self.tally.stray_fragments,
            Verdict::Datagram(fate) => {
                self.tally.datagrams.read += 1;
                return self.follow(fate, frame, Part::First, now, to);
            }
            Verdict::Fragment(fate) => return self.follow(fate, frame, Part::Later, now, to),
        };
        *plain += 1;
        write(&mut self.tally, frame, Part::Uncounted, to);
    }

    fn follow(&mut self, fate: Fate, frame: &[u8], part: Part, now: Duration, to: &Tap) {
        match fate {
            Fate::Dropped => self.tally.each(part, |accounting| accounting.dropped += 1),
            Fate::Passes(passage) => {
                if part == Part::First {
                    self.tally.delayed += u64::from(passage.at > now);
                    self.tally.reordered += u64::from(passage.behind > 0);
                    self.tally.misdirected += u64::from(passage.is_misdirected);
                }
                if passage.at <= now {
                    self.pass(frame, part, passage, to);
                } else if self.has_room(part) {
                    self.holding.until_due(frame, part, passage);
                }
            }
        }
    }

    /// Writes a due frame, unless others have to pass before it.
    fn pass(&mut self, frame: &[u8], part: Part, passage: Passage, to: &Tap) {
        if passage.behind > 0 {
            if self.has_room(part) {
                self.holding.until_passed(frame, part, passage);
            }
            return;
        }
        self.write(frame, part, passage, to);
        if part == Part::First {
            self.holding.one_passed();
            while let Some(held) = self.holding.take_passed() {
                let Held {
                    frame,
                    part,
                    passage,
                } = &held;
                self.write(frame, *part, *passage, to);
                self.holding.reuse(held);
            }
        }
    }

    fn has_room(&mut self, part: Part) -> bool {
        let has_room = self.holding.len() < MAX_HELD;
        if !has_room {
            self.tally
                .each(part, |accounting| accounting.too_many_held += 1);
        }
        has_room
    }

    fn write(&mut self, frame: &[u8], part: Part, passage: Passage, to: &Tap) {
        write(&mut self.tally, frame, part, to);
        for _ in 0..passage.copies {
            self.tally.each(part, |accounting| accounting.copied += 1);
            write(&mut self.tally, frame, part, to);
        }
    }

    /// Reports the counts so far.
    pub(crate) fn report(&self) -> Value {
        let Tally {
            frames, datagrams, ..
        } = self.tally;
        let mut report = json!({
            "rules": self.judge.report(),
            "delayed": self.tally.delayed,
            "reordered": self.tally.reordered,
            "misdirected": self.tally.misdirected,
            "uncounted": self.tally.uncounted_datagrams,
            "stray_fragments": self.tally.stray_fragments,
            "other_frames": self.tally.other_frames,
            "read_errors": self.tally.read_errors,
            "bytes_read": self.tally.bytes_read,
            "bytes_written": self.tally.bytes_written,
        });
        report["datagrams"] = datagrams.report(self.holding.datagrams());
        report["frames"] = frames.report(self.holding.len());
        report
    }
}

impl Tally {
    /// Counts a frame, and also a datagram if it is the first or only frame of one that counts.
    fn each(&mut self, part: Part, count: impl Fn(&mut Accounting)) {
        count(&mut self.frames);
        if part == Part::First {
            count(&mut self.datagrams);
        }
    }
}

impl Accounting {
    fn report(&self, held: usize) -> Value {
        json!({
            "seen": self.read,
            "copied": self.copied,
            "passed": self.written,
            "dropped": self.dropped,
            "refused": self.refused,
            "too_many_held": self.too_many_held,
            "held": held,
        })
    }
}

fn write(tally: &mut Tally, frame: &[u8], part: Part, to: &Tap) {
    match to.write(frame) {
        Ok(()) => {
            tally.bytes_written += frame.len() as u64;
            tally.each(part, |accounting| accounting.written += 1);
        }
        Err(_) => tally.each(part, |accounting| accounting.refused += 1),
    }
}

/// Returns whether the device is gone: the error of tun_chr_read_iter (drivers/net/tun.c).
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBADFD)
}
