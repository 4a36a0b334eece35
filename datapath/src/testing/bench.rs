//! The thread with a time limit in which a check runs, and the engine that it starts there.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Finding, Point};
use crate::engine::{
    Addressing, BatchCount, Direction, Endpoint, Engine, Group, IoOptions, Meter, ThreadArgs,
    Wakeups, panic_message,
};
use crate::sys::wakeup;

/// Payload of each sent datagram, in bytes.
pub(super) const BYTES: usize = 300;
/// Limit for the datagrams of a call.
pub(super) const BATCH: usize = 4;
/// Time between two looks at a thread.
const LOOK: Duration = Duration::from_millis(1);

/// Outcome of a check. The first finding ends it.
pub(super) type Outcome = Result<(), Finding>;

/// Runs checks of an engine and collects what they find.
pub(super) struct Bench<E> {
    limit: Duration,
    findings: Vec<Finding>,
    /// True if a call did not return. The next one would not either.
    hangs: bool,
    engine: PhantomData<E>,
}

impl<E: Engine> Bench<E> {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            limit,
            findings: Vec::new(),
            hangs: false,
            engine: PhantomData,
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Runs a check in a thread of its own. A panic is a finding; so is a check that does not end.
    pub(super) fn check(
        &mut self,
        when: impl Into<String>,
        check: impl FnOnce(&Stage) -> Outcome + Send + 'static,
    ) {
        let steer = |_: &Stage, _: &JoinHandle<Outcome>| ();
        self.check_steered(when, check, steer);
    }

    /// Runs a check like [`Bench::check`], and meanwhile calls `steer` every millisecond.
    pub(super) fn check_steered(
        &mut self,
        when: impl Into<String>,
        check: impl FnOnce(&Stage) -> Outcome + Send + 'static,
        mut steer: impl FnMut(&Stage, &JoinHandle<Outcome>),
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
            steer(&stage, &thread);
            thread::sleep(LOOK);
        }
        let outcome = thread.join().unwrap_or_else(|panic| {
            let text = format!("panicked: {}", panic_message(&*panic));
            Err(Finding::new(Point::Panic, text))
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
    /// Counters of the bench thread.
    pub(super) meter: Arc<Meter>,
}

impl Stage {
    fn new(limit: Duration) -> Self {
        Self {
            // Before the thread is given up, so that it ends.
            deadline: Instant::now() + limit / 2,
            now: Mutex::new((Point::Opens, "start or open")),
            meter: Arc::default(),
        }
    }

    /// Notes the next call: the point that it breaks if it does not return, and its description.
    pub(super) fn begin(&self, point: Point, call: &'static str) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (point, call);
    }

    /// Fails if the call in progress has returned without anything until now.
    pub(super) fn still_has_time(&self, last: &str) -> Outcome {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        let (point, call) = *self.now.lock().unwrap_or_else(PoisonError::into_inner);
        Err(Finding::new(
            point,
            format!("{call} moved nothing in many calls; the last returned {last}"),
        ))
    }

    fn hangs(&self, limit: Duration) -> Finding {
        let (point, call) = *self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let text =
            format!("{call} has not returned for {limit:?}; what comes after it was not checked");
        Finding::new(point, text)
    }
}

/// Starts the engine on this thread, whose waits `wakeups` ends.
pub(super) fn start_with<E: Engine>(
    wakeups: &Arc<Wakeups>,
    meter: &Arc<Meter>,
) -> Result<E, Finding> {
    wakeup::install().expect("sigaction works");
    let args = ThreadArgs {
        wakeups: Arc::clone(wakeups),
        meter: Arc::clone(meter),
        pool: None,
    };
    E::start(&args).map_err(|error| Finding::new(Point::Opens, format!("start failed: {error}")))
}

/// Starts the engine on this thread.
pub(super) fn start<E: Engine>() -> Result<E, Finding> {
    start_with(&Arc::default(), &Arc::default())
}

/// Opens an I/O object.
pub(super) fn open<E: Engine, A: Addressing>(
    engine: &E,
    options: IoOptions,
) -> Result<E::DatagramIo<A>, Finding> {
    let opened = engine.open::<A>(options);
    opened.map_err(|error| Finding::new(Point::Opens, format!("open failed: {error}")))
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
pub(super) fn is_a_batch<E: Engine>(call: &str, count: u64, has_limit: bool) -> Outcome {
    let moves_many = matches!(E::ABOUT.group, Group::Batch | Group::Offload);
    let found = if count > 1 && !moves_many {
        format!(
            "{call} moved {count} datagrams, though ABOUT.group is {}: say Group::Batch, or rows with so many at once \
             are taken for wrong",
            E::ABOUT.group
        )
    } else if has_limit && count > BATCH as u64 {
        format!("{call} moved {count} datagrams, though IoOptions::batch is {BATCH}")
    } else {
        return Ok(());
    };
    Err(Finding::new(Point::Batch, found))
}

/// Describes a count.
pub(super) fn words(count: BatchCount) -> String {
    let BatchCount { packets, bytes } = count;
    let s = if packets == 1 { "" } else { "s" };
    format!("{packets} datagram{s} of {bytes} B in all")
}
