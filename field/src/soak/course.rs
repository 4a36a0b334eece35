//! The course of a soak: takes outcomes, writes events and minutes to the log, and shows them.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::journal::Journal;
use crate::host::clock;
use crate::log::LogWriter;
use crate::soak::event::{Counter, Event, Remark};
use crate::soak::far_end::{FarEnd, News};
use crate::soak::finder::{Finder, Limits};
use crate::soak::log::{Entry, Note, Quota, SoakHeader, SoakLog};
use crate::soak::minute::{Minute, Minutes};
use crate::soak::notes::{Notes, Watch};
use crate::soak::summary::Summary;
use crate::sys::clock_watch::ClockWatch;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::term::output::{say, show};
use crate::time::{nanoseconds, time_of_day, time_text};
use crate::workload::Prober;
use crate::workload::probe::{ProbeBatch, Target};

/// Batches that wait for a slow disk, at most: a minute of them.
const MAX_WAITING: usize = 600;
/// Interval at which the kernel is asked and news are looked for.
const LOOK: Duration = Duration::from_millis(100);
/// Length from which an event is announced before it is over, in nanoseconds.
const LONG_NS: u64 = 2_000_000_000;

/// A running soak.
pub(super) struct Course {
    header: SoakHeader,
    journal: Journal<LogWriter>,
    /// Lines of the log so far: a few kilobytes a minute.
    entries: Vec<Entry>,
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
    events: u64,
    lost: u64,
}

impl Course {
    /// Returns a course that has not begun. `past`: the log of its first part.
    pub(super) fn new(
        header: SoakHeader,
        past: Option<&SoakLog>,
        journal: Journal<LogWriter>,
        quiet: bool,
    ) -> Self {
        let limits = Limits {
            gap_ns: header.gap_ns(),
            outage_ns: nanoseconds(header.outage),
            delay_ns: nanoseconds(header.delay),
        };
        let style = ProgressStyle::with_template("{msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::new_spinner().with_style(style);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let has_two_hosts = header.to.is_some();
        Self {
            journal,
            entries: past.map_or_else(Vec::new, |log| log.lines.clone()),
            quota: Quota::default(),
            quiet,
            bar,
            is_resumed: past.is_some(),
            base_ns: past.map_or(0, SoakLog::elapsed_ns),
            started: (SystemTime::now(), Instant::now()),
            finder: Finder::new(limits),
            minutes: Minutes::new(header.gap_ns(), has_two_hosts),
            clock_error_us: has_two_hosts.then(clock::watch).unwrap_or_default(),
            clock: ClockWatch::start(),
            notes: Notes::default(),
            waiting: VecDeque::new(),
            answered_ns: 0,
            is_announced: false,
            probes: 0,
            events: 0,
            lost: 0,
            header,
        }
    }

    /// Returns the summary.
    pub(super) fn summary(&self) -> Summary<'_> {
        Summary {
            header: &self.header,
            entries: &self.entries,
        }
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
        if let Some(why) = unreadable {
            self.tell(&format!(
                "the kernel's log cannot be read, so events lack its lines: {why}"
            ));
        }
        let prober = Prober::new(self.header.probing(self.base_ns), target)
            .context("cannot make a socket")?;
        let (send, batches) = mpsc::sync_channel(MAX_WAITING);
        let stop = interrupt.asked();
        self.started = (SystemTime::now(), Instant::now());
        self.clock = ClockWatch::start();
        // Also if the log has nothing of the part before: what follows did not begin when that one did.
        if self.is_resumed {
            self.write_remark(Remark::Resumed);
        }
        // A batch that finds no room is left out: the prober must not wait.
        let probe = move || prober.run(&stop, |batch| drop(send.try_send(batch)));
        let thread = thread::Builder::new().name("prober".to_owned());
        thread.spawn(probe).context("cannot start a thread")?;
        self.watch(&batches, &far_end, &mut watch);
        drop(far_end);
        self.bar.finish_and_clear();
        self.end(interrupt)
    }

    fn watch(&mut self, batches: &Receiver<ProbeBatch>, far_end: &FarEnd, watch: &mut Watch) {
        loop {
            let batch = match batches.recv_timeout(LOOK) {
                Ok(batch) => Some(batch),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            watch.look(self.elapsed_ns(), &mut self.notes);
            self.look_at_clock();
            self.journal.look();
            self.tell_of_journal();
            while let Ok(news) = far_end.news.try_recv() {
                self.take_news(news);
            }
            self.take_known();
            if let Some(batch) = batch {
                self.take(&batch);
            }
        }
    }

    fn take_news(&mut self, news: News) {
        match news {
            News::Program(remark) => {
                self.notes.add(self.elapsed_ns(), remark.clone());
                self.tell(&remark.to_string());
                self.write_remark(remark);
            }
            // Over loopback, they are this host's.
            News::Lost { .. } if self.header.to.is_none() => {}
            News::Lost { asked, places } => {
                let (_, start) = self.started;
                // What was read before an event ended has not all of it, whenever it arrives.
                self.answered_ns = nanoseconds(asked.saturating_duration_since(start));
                for (place, packets) in places {
                    let counter = Counter::There(place.what.clone());
                    self.notes.count(self.answered_ns, counter, packets);
                }
            }
        }
    }

    /// Notes if somebody set the clock. Later times are by the new one.
    fn look_at_clock(&mut self) {
        let Some(set) = self.clock.look() else {
            return;
        };
        let (now, elapsed) = (SystemTime::now(), self.started.1.elapsed());
        self.started.0 = now.checked_sub(elapsed).unwrap_or(now);
        let now_ns = self.elapsed_ns();
        let remark = Remark::ClockSet { set };
        self.notes.add(now_ns, remark.clone());
        if self.quota.admits(self.base_ns + now_ns, 0) {
            self.tell(&remark.to_string());
            self.write_remark(remark);
        }
    }

    fn take(&mut self, batch: &ProbeBatch) {
        let clock_error_us = self.clock_error_us.load(Ordering::Relaxed);
        for outcome in &batch.outcomes {
            if let Some(minute) = self.minutes.take(outcome, clock_error_us) {
                self.take_minute(minute);
            }
        }
        for event in self.finder.take(batch) {
            self.is_announced = false;
            self.waiting.push_back(event);
        }
        self.take_known();
        self.announce();
        self.probes += batch.outcomes.len() as u64;
        if !self.bar.is_hidden() {
            self.bar.set_message(format!(
                "{} of {}: {} probes, {} events, {} lost in them",
                time_text(self.base_ns + self.elapsed_ns()),
                humantime::format_duration(self.header.length),
                self.probes,
                self.events,
                self.lost
            ));
        }
    }

    /// Tells of an event that lasts long and is not over.
    fn announce(&mut self) {
        let open = self.finder.open().filter(|_| !self.is_announced);
        let Some(event) = open.filter(|it| it.length_ns > LONG_NS && it.lost > 0) else {
            return;
        };
        self.is_announced = true;
        let since = self.time_at(event.start_ns);
        let (since, lost) = (time_of_day(&since), event.lost);
        self.tell(&format!("since {since}: {lost} lost so far"));
        self.write_open(event);
    }

    /// Writes how far an event that is not over has come, if the log has room for it then.
    fn write_open(&mut self, event: Event) {
        let event = self.explained(event, false);
        if self.quota.has_room(event.start_ns) {
            self.write_event(Entry::Open(event.into()));
        }
    }

    /// Returns an event with its time of day, its notes and its time in the whole soak.
    fn explained(&self, mut event: Event, is_over: bool) -> Event {
        event.at = self.time_at(event.start_ns);
        self.notes.explain(&mut event);
        if !is_over {
            event.notes.push(Remark::NotOver);
        }
        event.start_ns += self.base_ns;
        event
    }

    /// Takes the events of which the other end's host has told its losses, and those for which it has had its time.
    fn take_known(&mut self) {
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
            if let Some(event) = self.waiting.pop_front() {
                self.take_event(event, true);
            }
        }
    }

    /// Shows and writes an event, unless there were very many in this hour. `is_over`: it is not cut off by the end.
    fn take_event(&mut self, event: Event, is_over: bool) {
        self.events += 1;
        self.lost += event.lost;
        let event = self.explained(event, is_over);
        if self.quota.admits(event.start_ns, event.silent_ns) {
            self.show(&event);
            self.write_event(if is_over {
                Entry::Event(event.into())
            } else {
                Entry::Open(event.into())
            });
        }
    }

    fn write_event(&mut self, event: Entry) {
        // First the time that the event is in, lest a log that ends between them have less time than silence.
        let mut probes = self.minutes.so_far();
        probes.start_ns += self.base_ns;
        self.write(Entry::SoFar(probes));
        self.write(event);
        self.journal.sync();
    }

    fn take_minute(&mut self, mut minute: Minute) {
        minute.probes.start_ns += self.base_ns;
        self.quota.add_to(&mut minute);
        self.write(Entry::Minute(minute.into()));
        if let Some(open) = self.finder.open().filter(|_| self.is_announced) {
            self.write_open(open);
        }
        self.journal.sync();
    }

    fn end(&mut self, interrupt: &Interrupt) -> anyhow::Result<()> {
        for event in std::mem::take(&mut self.waiting) {
            self.take_event(event, true);
        }
        let is_over = !self.finder.is_lasting();
        if let Some(event) = self.finder.finish() {
            self.take_event(event, is_over);
        }
        if let Some(minute) = self.minutes.finish() {
            self.take_minute(minute);
        }
        if interrupt.signal().is_none() {
            self.write_remark(Remark::Ended);
        }
        let ended = self.journal.end();
        self.tell_of_journal();
        ended
    }

    /// Writes a line of the log. The summary has it also without a log.
    fn write(&mut self, entry: Entry) {
        let line = serde_json::to_vec(&entry);
        self.journal.append(line.unwrap_or_default());
        self.entries.push(entry);
    }

    /// Writes the line of the log for a remark of this moment.
    fn write_remark(&mut self, what: Remark) {
        let elapsed_ns = self.elapsed_ns();
        self.write(Entry::Remark(Note {
            at: self.time_at(elapsed_ns),
            start_ns: self.base_ns + elapsed_ns,
            what,
        }));
    }

    /// Returns the time since the start of this process's part.
    fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.started.1.elapsed())
    }

    fn time_at(&self, elapsed_ns: u64) -> String {
        let time = self.started.0 + Duration::from_nanos(elapsed_ns);
        humantime::format_rfc3339_millis(time).to_string()
    }

    /// Shows an event: on standard output, as the summary. If that fails, the summary will say so.
    fn show(&self, event: &Event) {
        let line = event.line(self.header.far_end());
        let shown = || drop(show(&format!("{}  {line}\n", time_of_day(&event.at))));
        match io::stderr().is_terminal() {
            _ if self.quiet => {}
            true => self.bar.suspend(shown),
            false => shown(),
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
