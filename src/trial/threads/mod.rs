//! The bench threads of one run, from the start to the last join.

pub(crate) mod bench_thread;
pub(crate) mod programs;
mod workers;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use nix::sys::eventfd::{EfdFlags, EventFd};

use self::bench_thread::BenchThread;
use crate::data::{Case, Side};
use crate::engine::{FlowCounts, Meter, Pool, Refusals};
use crate::engines::{self, Engines};
use crate::host::placement::Placement;
use crate::sys::wakeup;
use crate::trial::messages::spec::EndRole;
use crate::trial::spawned::wait_for_input;
use crate::workload::context::{CALLED_OFF, Control, ThreadContext};
use crate::workload::{PaceMeter, Program, RoundTripMeter};

/// The bench threads of one run. Dropping it stops and joins them, whatever they are doing.
pub(crate) struct BenchThreads {
    control: Arc<Control>,
    /// The bench threads, workers last.
    pub(crate) all: Vec<BenchThread>,
    pool: Option<Pool>,
    /// Readable once a bench thread has ended.
    ended: Arc<EventFd>,
}

impl BenchThreads {
    /// Starts a thread for each program and waits until all of them are at the start barrier.
    ///
    /// # Errors
    /// Fails if a thread cannot be started, or if an engine cannot open its sockets. No thread is left waiting.
    pub(crate) fn assemble(
        case: &Case,
        engines: Engines,
        part: EndRole,
        programs: Vec<Program>,
        placement: &Placement,
    ) -> anyhow::Result<Self> {
        wakeup::install().context("cannot install the signal handler that wakes bench threads")?;
        let ended = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let (pool, workers) = workers::start(case, engines, part, placement)?;
        let mut threads = Self {
            control: Arc::default(),
            all: Vec::with_capacity(programs.len()),
            pool,
            ended: Arc::new(ended.context("cannot make an eventfd")?),
        };
        // Collectors of responses come last and share the CPUs of the threads that send the requests. The other
        // direction of a bidirectional flood also uses the same CPUs.
        let mut cpus = placement.cpus().chain(placement.cpus());
        for program in programs {
            threads.start(case, engines, program, cpus.next().flatten())?;
        }
        if !threads.control.start_barrier.wait_for(threads.all.len()) {
            threads.finish()?;
            bail!("a bench thread failed before the start");
        }
        threads.all.extend(workers);
        threads.all.iter_mut().for_each(BenchThread::watch_wait);
        Ok(threads)
    }

    fn start(
        &mut self,
        case: &Case,
        (sender, receiver): Engines,
        program: Program,
        cpu: Option<usize>,
    ) -> anyhow::Result<()> {
        let side = program.side();
        let entry = match side {
            Side::Alone => engines::together(sender, receiver).unwrap_or(sender),
            _ if program.is_of_senders() => sender,
            _ => receiver,
        };
        let (round_trips, flow_counts) = (program.round_trips(), program.flow_counts());
        let pace_meter = program.pace();
        let serves_from_one = side == Side::Server && case.serves_from_one_socket();
        let run = entry.thread_of(case, serves_from_one);
        let run = run.with_context(|| format!("{entry} does not go over {}", case.transport()))?;
        let meter = Arc::new(Meter::new(case.payload.bytes()));
        let pool = self.pool.clone().filter(|_| entry.runs_on_workers(case));
        let is_pooled = pool.is_some();
        let cpu = cpu.filter(|_| !is_pooled);
        let handle = thread::Builder::new()
            .name(format!("{side} {}", self.all.len()))
            .spawn({
                let control = Arc::clone(&self.control);
                let meter = Arc::clone(&meter);
                let ended = Ended(Arc::clone(&self.ended));
                let mut context = ThreadContext::new(Arc::clone(&control), Arc::clone(&meter));
                context.pool = pool;
                context.executable = entry.executable;
                context.sched = case.sched;
                let context = Arc::new(context);
                move || {
                    let _ended = ended;
                    let run = |context: &Arc<ThreadContext>| run(program, context);
                    bench_thread::live(run, cpu, &control, &context)
                }
            })
            .with_context(|| format!("cannot start thread {}", self.all.len() + 1))?;
        self.all.push(BenchThread {
            side,
            meter,
            cpu,
            is_pooled,
            round_trips,
            pace_meter,
            flow_counts,
            handle: Some(handle),
            ..BenchThread::default()
        });
        Ok(())
    }

    /// Waits for `duration`, or until a bench thread has ended. Returns whether one has.
    pub(crate) fn wait_for_exit(&self, duration: Duration) -> bool {
        let until = Instant::now() + duration;
        wait_for_input(&*self.ended, Some(until)).unwrap_or(false)
    }

    /// Returns whether a bench thread has ended since the last call.
    pub(crate) fn has_one_exited(&self) -> bool {
        self.ended.read().is_ok()
    }

    /// Interrupts each thread that waits for its own datagram or for a response, and has received nothing since the
    /// last look: it waits for a lost datagram.
    pub(crate) fn wake_stalled(&mut self) {
        let waits =
            |thread: &&mut BenchThread| thread.side == Side::Alone || thread.round_trips.is_some();
        for thread in self.all.iter_mut().filter(waits) {
            thread.meter.timeout_tick.fetch_add(1, Ordering::Relaxed);
            thread.meter.refresh();
            let received = thread.meter.received.read();
            if thread.last_look == Some(received) {
                thread.interrupt();
            }
            thread.last_look = Some(received);
        }
    }

    /// Returns the meters of the clients' round trips.
    pub(crate) fn round_trips(&self) -> impl Iterator<Item = &RoundTripMeter> {
        let threads = self.all.iter();
        threads.filter_map(|thread| thread.round_trips.as_deref())
    }

    /// Returns the meters of the senders at a rate, which record how they keep to it.
    pub(crate) fn pace_meters(&self) -> impl Iterator<Item = &PaceMeter> {
        let threads = self.all.iter();
        threads.filter_map(|thread| thread.pace_meter.as_deref())
    }

    /// Returns the datagrams received over each flow so far. Empty if each thread has only one flow.
    pub(crate) fn flow_packets(&self) -> Vec<u64> {
        let counts = self.all.iter().filter_map(|it| it.flow_counts.as_ref());
        counts.flat_map(FlowCounts::read).collect()
    }

    /// Opens the start barrier, so that the threads start.
    pub(crate) fn open_start(&self) {
        self.control.start_barrier.open();
    }

    /// Has the senders do `iterations` more operations for each datagram.
    #[cfg(feature = "calibration")]
    pub(crate) fn delay_senders(&self, iterations: u32) {
        self.control.delay_senders(iterations.into());
    }

    /// Returns the refusals of all threads, added up.
    pub(crate) fn refused(&self, of: impl Fn(&Refusals) -> u64) -> u64 {
        let threads = self.all.iter();
        threads.map(|thread| of(&thread.meter.refusals)).sum()
    }

    /// Stops the senders and waits until their counts are final.
    pub(crate) fn stop_sending(&self) {
        self.control.stop_sending();
        for thread in self.all.iter().filter(|thread| thread.side.initiates()) {
            thread.wait_until(|| thread.meter.done_sending.load(Ordering::Acquire));
        }
    }

    /// Stops and joins every bench thread.
    ///
    /// # Errors
    /// Returns the first error that ended a bench thread.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        self.control.stop_sending();
        self.control.stop_receiving();
        let mut outcome = Ok(());
        for thread in &mut self.all {
            thread.wait_until(|| false);
            let Some(handle) = thread.handle.take() else {
                continue;
            };
            let ended = match handle.join() {
                Ok(Ok(outcome)) => {
                    (thread.remark, thread.pace) = outcome;
                    Ok(())
                }
                // This error is not the cause: another thread has failed.
                Ok(Err(error)) if error.kind() == CALLED_OFF => Ok(()),
                Ok(Err(error)) => {
                    Err(anyhow!(error).context(format!("the {} failed", thread.side)))
                }
                Err(_) => Err(anyhow!("the {} panicked", thread.side)),
            };
            outcome = outcome.and(ended);
        }
        // Dropping the last reference ends the workers.
        self.pool = None;
        outcome
    }
}

/// Guard that reports the end of a bench thread, also if it panics.
struct Ended(Arc<EventFd>);

impl Drop for Ended {
    fn drop(&mut self) {
        // Writing can only fail after 2^64 threads have ended.
        let _ = self.0.write(1);
    }
}

impl Drop for BenchThreads {
    fn drop(&mut self) {
        // Either no thread waits at the start barrier any more, or all of them have to leave it.
        self.control.start_barrier.fail();
        let _ = self.finish();
    }
}
