//! The thread with a time limit in which a check runs, and the engine that it opens there.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{Finding, Point};
use crate::engine::prelude::*;
use crate::engine::{is_to_be_made_again, lock, panic_message};
use crate::sys::wakeup;

/// Payload of each sent datagram, in bytes.
pub(super) const BYTES: usize = 300;
/// Limit for the datagrams of a call.
pub(super) const BATCH: usize = 4;
/// Time between two looks at a thread.
const LOOK: Duration = Duration::from_millis(1);

/// Outcome of a check. The first finding ends it.
pub(super) type CheckResult = Result<(), Finding>;

/// Returns a finding, which ends a check.
pub(super) fn broken<T>(point: Point, found: impl Into<String>) -> Result<T, Finding> {
    Err(Finding::new(point, found))
}

/// Runs checks and collects what they find.
pub(super) struct Bench {
    limit: Duration,
    pub(super) findings: Vec<Finding>,
    /// True if a call did not return. The next one would not either.
    hangs: bool,
}

impl Bench {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            limit,
            findings: Vec::new(),
            hangs: false,
        }
    }

    /// Runs a check in a thread of its own. A panic is a finding; so is a check that does not end.
    pub(super) fn check(
        &mut self,
        when: impl Into<String>,
        check: impl FnOnce(&Stage) -> CheckResult + Send + 'static,
    ) {
        self.check_steered(when, check, |_| ());
    }

    /// Runs a check like [`Bench::check`], and meanwhile calls `steer` every millisecond.
    pub(super) fn check_steered(
        &mut self,
        when: impl Into<String>,
        check: impl FnOnce(&Stage) -> CheckResult + Send + 'static,
        mut steer: impl FnMut(&Stage),
    ) {
        if self.hangs {
            return;
        }
        let stage = Arc::new(Stage::new(self.limit));
        let thread = thread::spawn({
            let stage = Arc::clone(&stage);
            move || check(&stage)
        });
        let begin = Instant::now();
        while !thread.is_finished() {
            if begin.elapsed() > self.limit {
                self.hangs = true;
                self.add(stage.hangs(self.limit), when.into());
                return;
            }
            steer(&stage);
            thread::sleep(LOOK);
        }
        let outcome = thread.join().unwrap_or_else(|panic| {
            let text = format!("panicked: {}", panic_message(&*panic));
            broken(Point::Panic, text)
        });
        if let Err(finding) = outcome {
            self.add(finding, when.into());
        }
    }

    /// Adds a finding, or only its circumstances if another check has found the same.
    fn add(&mut self, finding: Finding, when: String) {
        let is_same = |it: &&mut Finding| it.point == finding.point && it.found == finding.found;
        match self.findings.iter_mut().find(is_same) {
            Some(known) => known.when.push(when),
            None => self.findings.push(Finding {
                when: vec![when],
                ..finding
            }),
        }
    }
}

/// Current step of a check: whoever waits for it reads this when its time is over.
pub(super) struct Stage {
    /// Time at which a check must give up calls that return without anything.
    deadline: Instant,
    now: Mutex<(Point, &'static str)>,
    /// Counters of the bench thread. Its thread ID is set once it waits.
    pub(super) meter: Arc<Meter>,
    /// Calls that returned without a datagram.
    pub(super) empty_calls: AtomicU32,
}

impl Stage {
    fn new(limit: Duration) -> Self {
        Self {
            // Before the thread is given up, so that it ends.
            deadline: Instant::now() + limit / 2,
            now: Mutex::new((Point::Opens, "start or open")),
            meter: Arc::default(),
            empty_calls: AtomicU32::default(),
        }
    }

    /// Notes the next call: the point that it breaks if it does not return, and its description.
    pub(super) fn begin(&self, point: Point, call: &'static str) {
        *lock(&self.now) = (point, call);
    }

    fn now(&self) -> (Point, &'static str) {
        *lock(&self.now)
    }

    fn hangs(&self, limit: Duration) -> Finding {
        let (point, call) = self.now();
        let text =
            format!("{call} has not returned for {limit:?}; what comes after it was not checked");
        Finding::new(point, text)
    }

    /// Returns what the call in progress has moved. `None`: nothing yet, so it is to be made again. Fails if the call
    /// did, or if many calls have moved nothing.
    pub(super) fn moved(
        &self,
        outcome: io::Result<BatchCount>,
    ) -> Result<Option<BatchCount>, Finding> {
        let (point, call) = self.now();
        let last = match outcome {
            Ok(BatchCount { packets: 0, .. }) => "an empty batch".to_owned(),
            Ok(moved) => return Ok(Some(moved)),
            Err(error) if is_to_be_made_again(&error) => error.to_string(),
            Err(error) => return broken(point, format!("{call} failed: {error}")),
        };
        self.empty_calls.fetch_add(1, Ordering::SeqCst);
        if Instant::now() < self.deadline {
            return Ok(None);
        }
        let found = format!("{call} moved nothing in many calls; the last returned {last}");
        broken(point, found)
    }

    /// Starts the engine on this thread and opens an I/O object.
    pub(super) fn open<E: Engine>(
        &self,
        options: IoOptions,
    ) -> Result<Opened<'_, E, E::DatagramIo>, Finding> {
        wakeup::install().expect("sigaction works");
        let args = ThreadArgs {
            wakeups: Arc::clone(&self.meter.wakeups),
            meter: Arc::clone(&self.meter),
            pool: None,
        };
        let failed = |what| {
            move |error: io::Error| Finding::new(Point::Opens, format!("{what} failed: {error}"))
        };
        let engine = E::start(&args).map_err(failed("start"))?;
        let io = engine.open(options).map_err(failed("open"))?;
        Ok(Opened {
            io,
            engine,
            stage: self,
        })
    }
}

/// An I/O object and its engine.
pub(super) struct Opened<'a, E, I> {
    // Dropped before its engine.
    pub(super) io: I,
    engine: E,
    pub(super) stage: &'a Stage,
}

impl<E: Engine, I: DatagramIo> Opened<'_, E, I> {
    /// Makes one call that sends.
    pub(super) fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let io = &mut self.io;
        (self.engine).run(async { io.transmit(endpoint, fill).await })
    }

    /// Makes one call that receives.
    pub(super) fn receive(&mut self, check: &mut impl Check) -> io::Result<BatchCount> {
        let io = &mut self.io;
        self.engine.run(async { io.receive(check).await })
    }
}

/// Returns whether the datagrams of a call differ, as with `--verify`.
pub(super) fn differ(direction: Direction) -> bool {
    direction == Direction::Sends
}

/// Returns options for a batch of several datagrams.
pub(super) fn options(endpoints: Vec<Endpoint>, direction: Direction) -> IoOptions {
    IoOptions {
        batch: BATCH,
        own_payloads: differ(direction),
        ..IoOptions::of(endpoints, direction, BYTES)
    }
}

/// Fails if a call moved more datagrams than the engine says.
pub(super) fn is_a_batch<E: Engine>(call: &str, count: u64, has_limit: bool) -> CheckResult {
    let group = E::ABOUT.group;
    let moves_many = matches!(group, Group::Batch | Group::Offload);
    if count > 1 && !moves_many {
        let found = format!(
            "{call} moved {count} datagrams, though ABOUT.group is {group}: say Group::Batch, or rows with so many at once \
             are taken for wrong"
        );
        return broken(Point::Batch, found);
    }
    if has_limit && count > BATCH as u64 {
        let found = format!("{call} moved {count} datagrams, though IoOptions::batch is {BATCH}");
        return broken(Point::Batch, found);
    }
    Ok(())
}

/// Describes a count.
pub(super) fn words(count: BatchCount) -> String {
    let BatchCount { packets, bytes } = count;
    let s = if packets == 1 { "" } else { "s" };
    format!("{packets} datagram{s} of {bytes} B in all")
}
