//! The course of a soak: takes outcomes, writes events and minutes to the log, and shows them.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::journal::Journal;
use crate::commands::session::progress::text_line;
use crate::commands::{say, show};
use crate::host::clock;
use crate::listen::row::time_of_day;
use crate::results::log::LogWriter;
use crate::soak::event::{Counter, Event, Remark};
use crate::soak::far_end::{FarEnd, News};
use crate::soak::finder::{Finder, Limits};
use crate::soak::log::{Entry, Header, Note, Quota, SoakLog};
use crate::soak::minute::{Minute, Minutes};
use crate::soak::notes::{Notes, Watch};
use crate::soak::summary::Summary;
use crate::soak::time_text;
use crate::sys::clock_watch::ClockWatch;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::workload::Prober;
use crate::workload::probe::{Batch, Target};

/// Batches that wait for a slow disk, at most: a minute of them.
const MAX_WAITING: usize = 600;
/// Interval at which the kernel is asked and news are looked for.
const LOOK: Duration = Duration::from_millis(100);
/// Length from which an event is announced before it is over, in nanoseconds.
const LONG_NS: u64 = 2_000_000_000;

/// A running soak.
pub(super) struct Course {
    header: Header,
    journal: Journal<LogWriter>,
    summary: Summary,
    quota: Quota,
    quiet: bool,
    bar: ProgressBar,
    /// Time of the soak before this process, in nanoseconds.
    base_ns: u64,
    /// A process before this one has begun the soak.
    is_resumed: bool,
    /// Start of this process's part, by two clocks.
    started: (SystemTime, Instant),
    finder: Finder,
    minutes: Minutes,
    /// Bound of the error of this host's clock, in microseconds. 0: not known, or both ends are this host.
    clock_error_us: Arc<AtomicU32>,
    clock: ClockWatch,
    notes: Notes,
    /// Events that wait for the losses of the other end's host meanwhile.
    waiting: VecDeque<Event>,
    /// Time of the last answer about these, in nanoseconds since the start of this process's part.
    answered_ns: u64,
    is_announced: bool,
    probes: u64,
    lost: u64,
}

impl Course {
    /// Returns a course that has not begun. `past`: the log of its first part.
    pub(super) fn new(
        header: Header,
        past: Option<&SoakLog>,
        journal: Journal<LogWriter>,
        quiet: bool,
    ) -> Self {
        let new = || Summary::new(header.clone());
        let summary = past.map_or_else(new, SoakLog::summary);
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let limits = Limits {
            gap_ns: header.gap_ns(),
            outage_ns: nanoseconds(header.outage),
            delay_ns: nanoseconds(header.delay),
        };
        let minutes = Minutes::new(header.gap_ns());
        let (minutes, clock_error_us) = match header.to {
            None => (minutes, Arc::default()),
            Some(_) => (minutes.with_one_way(), clock::watch()),
        };
        let bar = text_line();
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self {
            journal,
            summary,
            quota: Quota::default(),
            quiet,
            bar,
            is_resumed: past.is_some(),
            base_ns: past.map_or(0, SoakLog::elapsed_ns),
            started: (SystemTime::now(), Instant::now()),
            finder: Finder::new(limits),
            minutes,
            clock_error_us,
            clock: ClockWatch::new(),
            notes: Notes::default(),
            waiting: VecDeque::new(),
            answered_ns: 0,
            is_announced: false,
            probes: 0,
            lost: 0,
            header,
        }
    }

    /// Returns the summary.
    pub(super) fn into_summary(self) -> Summary {
        self.summary.settled()
    }

    /// Probes until the time is over or a signal comes.
    ///
    /// # Errors
    /// Fails if no socket can be made, or if the log lacks lines at the end.
    pub(super) fn run(
        &mut self,
        far_end: FarEnd,
        target: Arc<Target>,
        root: &Root,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let (mut watch, unreadable) = Watch::start(root, &self.header.interface);
        if let Some(why) = unreadable.filter(|_| !self.quiet) {
            say(&format!(
                "the kernel's log cannot be read, so events lack its lines: {why}"
            ));
        }
        let prober = Prober::new(self.header.probing(self.base_ns), target)
            .context("cannot make a socket")?;
        let (send, batches) = mpsc::sync_channel(MAX_WAITING);
        let stop = interrupt.asked();
        self.started = (SystemTime::now(), Instant::now());
        self.clock = ClockWatch::new();
        // Also if the log has nothing of the part before: what follows did not begin when that one did.
        if self.is_resumed {
            self.write(&self.remark(Remark::Resumed))?;
        }
        // A batch that finds no room is left out: the prober must not wait.
        let probe = move || prober.run(&stop, |batch| drop(send.try_send(batch)));
        let thread = thread::Builder::new().name("prober".to_owned());
        thread.spawn(probe).context("cannot start a thread")?;
        let watched = self.watch(&batches, &far_end, &mut watch);
        drop(far_end);
        self.bar.finish_and_clear();
        if watched.is_err() {
            // The summary has it all.
            for event in std::mem::take(&mut self.waiting) {
                self.summary.take(&Entry::Event(Box::new(event)));
            }
            if let Some(open) = self.finder.open() {
                self.summary.take(&Entry::Open(Box::new(open)));
            }
            self.summary.take(&Entry::SoFar(self.minutes.so_far()));
        }
        watched.and_then(|()| self.end(interrupt))
    }

    fn watch(
        &mut self,
        batches: &Receiver<Batch>,
        far_end: &FarEnd,
        watch: &mut Watch,
    ) -> anyhow::Result<()> {
        loop {
            let batch = match batches.recv_timeout(LOOK) {
                Ok(batch) => Some(batch),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            watch.look(self.elapsed_ns(), &mut self.notes);
            self.look_at_clock()?;
            self.journal.look()?;
            self.tell_of_journal();
            while let Ok(news) = far_end.news.try_recv() {
                let now_ns = self.elapsed_ns();
                match news {
                    News::Program(remark) => {
                        self.notes.add(now_ns, remark.clone());
                        self.tell(&remark.to_string());
                        self.write(&self.remark(remark))?;
                    }
                    // Over loopback, they are this host's.
                    News::Lost { .. } if self.header.to.is_none() => {}
                    News::Lost { asked, places } => {
                        let (_, start) = self.started;
                        let asked = asked.saturating_duration_since(start);
                        let asked_ns = u64::try_from(asked.as_nanos()).unwrap_or(u64::MAX);
                        // What was read before an event ended has not all of it, whenever it arrives.
                        self.answered_ns = asked_ns;
                        for (place, packets) in places {
                            let counter = Counter::There(place.what.clone());
                            self.notes.count(asked_ns, counter, packets);
                        }
                    }
                }
            }
            self.take_known()?;
            if let Some(batch) = batch {
                self.take(&batch)?;
            }
        }
    }

    /// Notes if somebody set the clock. Later times are by the new one.
    fn look_at_clock(&mut self) -> anyhow::Result<()> {
        let Some(set) = self.clock.look() else {
            return Ok(());
        };
        let by = Duration::from_nanos(set.by_ns.unsigned_abs());
        let (start, _) = self.started;
        let moved = match set.by_ns {
            0.. => start.checked_add(by),
            _ => start.checked_sub(by),
        };
        self.started.0 = moved.unwrap_or(start);
        let now_ns = self.elapsed_ns();
        let remark = Remark::ClockSet { set };
        self.notes.add(now_ns, remark.clone());
        if !self.quota.admits_clock_set(self.base_ns + now_ns) {
            return Ok(());
        }
        self.tell(&remark.to_string());
        self.write(&self.remark(remark))
    }

    fn take(&mut self, batch: &Batch) -> anyhow::Result<()> {
        let clock_error_us = self.clock_error_us.load(Ordering::Relaxed);
        for outcome in &batch.outcomes {
            if let Some(minute) = self.minutes.take(outcome, clock_error_us) {
                self.take_minute(minute)?;
            }
        }
        for event in self.finder.take(batch) {
            self.is_announced = false;
            self.waiting.push_back(event);
        }
        self.take_known()?;
        self.announce()?;
        self.probes += batch.outcomes.len() as u64;
        if !self.bar.is_hidden() {
            let elapsed = time_text(self.base_ns + self.elapsed_ns());
            let length = humantime::format_duration(self.header.length);
            let (probes, events) = (self.probes, self.summary.events());
            let lost = self.lost;
            self.bar.set_message(format!(
                "{elapsed} of {length}: {probes} probes, {events} events, {lost} lost in them"
            ));
        }
        Ok(())
    }

    /// Tells of an event that lasts long and is not over.
    fn announce(&mut self) -> anyhow::Result<()> {
        let open = self
            .finder
            .open()
            .filter(|event| event.length_ns > LONG_NS && event.lost > 0);
        let Some(event) = open.filter(|_| !self.is_announced) else {
            return Ok(());
        };
        self.is_announced = true;
        let since = self.time_at(event.start_ns);
        self.tell(&format!(
            "since {}: {} lost so far",
            time_of_day(&since),
            event.lost
        ));
        self.write_open(event)?;
        self.journal.sync()
    }

    /// Shows and writes an event that is not over at the end.
    fn take_lasting(&mut self, mut event: Event) -> anyhow::Result<()> {
        event.at = self.time_at(event.start_ns);
        self.notes.explain(&mut event);
        event.notes.push(Remark::NotOver);
        let line = event.line(self.header.far_end());
        self.show(&format!("{}  {line}", time_of_day(&event.at)))?;
        event.notes.clear();
        self.write_open(event)
    }

    /// Writes how far an event that is not over has come.
    fn write_open(&mut self, mut event: Event) -> anyhow::Result<()> {
        event.at = self.time_at(event.start_ns);
        self.notes.explain(&mut event);
        event.start_ns += self.base_ns;
        if !self.quota.has_room(&event) {
            return Ok(());
        }
        event.notes.push(Remark::NotOver);
        let written = self.write_so_far();
        self.write(&Entry::Open(Box::new(event))).and(written)
    }

    fn write_so_far(&mut self) -> anyhow::Result<()> {
        let mut probes = self.minutes.so_far();
        probes.start_ns += self.base_ns;
        self.write(&Entry::SoFar(probes))
    }

    /// Takes the events of which the other end's host has told its losses, and those for which it has had its time.
    fn take_known(&mut self) -> anyhow::Result<()> {
        /// Time that a broken path takes to carry the answer after its end, at least and at most: TCP sends again after
        /// up to as long as the path was broken.
        const WAIT_NS: (u64, u64) = (1_000_000_000, 30_000_000_000);
        let now_ns = self.elapsed_ns();
        while let Some(event) = self.waiting.front() {
            let end_ns = event.start_ns + event.length_ns;
            let wait_ns = event.length_ns.clamp(WAIT_NS.0, WAIT_NS.1);
            let is_known = self.answered_ns >= end_ns || self.header.to.is_none();
            if !is_known && now_ns < end_ns + wait_ns {
                break;
            }
            let event = self.waiting.pop_front();
            event.map_or(Ok(()), |event| self.take_event(event))?;
        }
        Ok(())
    }

    fn take_event(&mut self, mut event: Event) -> anyhow::Result<()> {
        self.lost += event.lost;
        event.at = self.time_at(event.start_ns);
        self.notes.explain(&mut event);
        event.start_ns += self.base_ns;
        if !self.quota.admits(&event) {
            return Ok(());
        }
        let line = event.line(self.header.far_end());
        self.show(&format!("{}  {line}", time_of_day(&event.at)))?;
        // First the time that the event is in, lest a log that ends between them have less time than silence.
        let written = self.write_so_far();
        // The summary has it also without a log.
        self.write(&Entry::Event(Box::new(event))).and(written)?;
        self.journal.sync()
    }

    fn take_minute(&mut self, mut minute: Minute) -> anyhow::Result<()> {
        minute.probes.start_ns += self.base_ns;
        self.quota.add_to(&mut minute);
        self.write(&Entry::Minute(Box::new(minute)))?;
        if let Some(open) = self.finder.open().filter(|_| self.is_announced) {
            self.write_open(open)?;
        }
        self.journal.sync()
    }

    fn end(&mut self, interrupt: &Interrupt) -> anyhow::Result<()> {
        for event in std::mem::take(&mut self.waiting) {
            self.take_event(event)?;
        }
        let is_lasting = self.finder.is_lasting();
        let event = self.finder.finish();
        let event = event.map_or(Ok(()), |event| {
            if is_lasting {
                self.take_lasting(event)
            } else {
                self.take_event(event)
            }
        });
        let minute = self.minutes.finish();
        let minute = minute.map_or(Ok(()), |minute| self.take_minute(minute));
        event.and(minute)?;
        if interrupt.signal().is_none() {
            self.write(&self.remark(Remark::Ended))?;
        }
        let ended = self.journal.end();
        self.tell_of_journal();
        ended
    }

    fn write(&mut self, entry: &Entry) -> anyhow::Result<()> {
        self.summary.take(entry);
        self.journal.append(serde_json::to_vec(entry)?)
    }

    /// Returns the line of the log for a remark of this moment.
    fn remark(&self, what: Remark) -> Entry {
        let elapsed_ns = self.elapsed_ns();
        Entry::Remark(Note {
            at: self.time_at(elapsed_ns),
            start_ns: self.base_ns + elapsed_ns,
            what,
        })
    }

    /// Returns the time since the start of this process's part.
    fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.1.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn time_at(&self, elapsed_ns: u64) -> String {
        let time = self.started.0 + Duration::from_nanos(elapsed_ns);
        humantime::format_rfc3339_millis(time).to_string()
    }

    /// Shows an event: on standard output, as the summary.
    fn show(&self, line: &str) -> anyhow::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let shown = || show(&format!("{line}\n"));
        if io::stderr().is_terminal() {
            self.bar.suspend(shown)
        } else {
            shown()
        }
    }

    /// Says whether the log can be written, if that has changed: also if nothing but errors is shown.
    fn tell_of_journal(&mut self) {
        if let Some(news) = self.journal.news() {
            self.bar.suspend(|| say(&news));
        }
    }

    /// Says something on standard error.
    fn tell(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| say(line));
        }
    }
}
