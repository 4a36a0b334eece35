//! Trials in this process, by its own clock, up to the start barrier and as a whole; the settings that are changed for a
//! trial.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::data::{LoopbackTrains, Mlock, Sample, Sched};
use crate::host::tuning::{NotChanged, Tuning};
use crate::plan::Meter;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::sys::kernel_drops::Discards;
use crate::sys::own_loopback::OwnLoopback;
use crate::sys::power::{MeanPower, PowerMeter};
use crate::sys::scheduling::{LockedMemory, Raised};
use crate::sys::sensors::Watch;
use crate::trial::changes::changed_settings::ChangedSettings;
use crate::trial::changes::watchdog::put_back;
use crate::trial::end::echo_end::EchoLosses;
use crate::trial::end::running_end::{RunningEnd, Start};
use crate::trial::end::wait::{drain, pass, window};
use crate::trial::messages::end_result;
use crate::trial::messages::spec::{EndRole, Flow, TrialSpec};
use crate::trial::messages::two_hosts::Token;
use crate::trial::readings::losses::{PathWatch, ReasonWatch};
use crate::trial::sockets::connections::Connections;
use crate::trial::sockets::udp_sockets::{RemotePeer, UdpSockets};
use crate::trial::sockets::{EndSockets, bind, flows, into_sides};
use crate::trial::threads::BenchThreads;
use crate::trial::threads::programs::{ProgramBuilder, Trackers};

/// State that all trials in this process share.
pub struct LocalTrials {
    root: Root,
    /// The loopback that only this process has. `None`: it is on that of the host.
    loopback: Option<OwnLoopback>,
    reasons: ReasonWatch,
    /// Settings that are changed for the current trial.
    changed: Option<ChangedSettings>,
    /// Losses on the way to an echo. `None`: there is none.
    pub(crate) echo: Option<EchoLosses>,
}

impl LocalTrials {
    /// Starts without a changed setting; sensors are read below `root`. `loopback`: that of this process alone, if it
    /// has one.
    pub fn new(root: &Root, loopback: Option<OwnLoopback>) -> Self {
        Self {
            root: root.clone(),
            loopback,
            reasons: ReasonWatch::default(),
            changed: None,
            echo: None,
        }
    }

    /// Returns the root of the file system that sensors are read from.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Changes the settings of a tuning for a trial that takes about `trial`.
    ///
    /// # Errors
    /// Fails if the watchdog cannot be started or does not answer, or if a setting could not be put back. The inner
    /// error is the reason why the settings cannot be changed.
    pub(crate) fn change(
        &mut self,
        tuning: &Tuning,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), NotChanged>> {
        let changed = ChangedSettings::change(tuning, trial, &self.root, interrupt)?;
        Ok(changed.map(|changed| self.changed = Some(changed)))
    }

    /// Puts the settings of a tuning back. The inner error is the reason why they did not stay changed until now.
    ///
    /// # Errors
    /// Fails if a setting cannot be put back.
    pub(crate) fn put_back(
        &mut self,
        tuning: &Tuning,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), String>> {
        match self.changed.take() {
            Some(changed) => changed.put_back(interrupt),
            // This process restarted since the trial failed; the watchdog puts the settings back at the same time.
            None => put_back(&tuning.settings, &self.root).map(Ok),
        }
    }

    /// Runs a trial whose two ends are both on this host: sockets, threads, start, warm-up, window, drain, accounting.
    ///
    /// # Errors
    /// Fails if something cannot be built or breaks.
    pub fn run(&mut self, spec: &TrialSpec) -> anyhow::Result<Sample> {
        let engines = spec.engines()?;
        let mut running = self.begin(spec)?;
        let window = window(&spec.settings, &mut running)?;
        running.stop();
        drain(None, &mut running)?;
        let end = running.finish(window)?;
        Ok(end_result::sample(&spec.case, engines, &[end]))
    }

    /// Measures the receive rate, in datagrams per second, in each of `slices` slices of time since the threads
    /// started.
    ///
    /// # Errors
    /// Fails if something cannot be built or breaks.
    pub(crate) fn rate_over_time(
        &mut self,
        spec: &TrialSpec,
        slices: u32,
        slice: Duration,
    ) -> anyhow::Result<Vec<f64>> {
        let mut running = self.begin(spec)?;
        running.threads.open_start();
        let start = Instant::now();
        let (mut since, mut before) = (start, running.counts()?.received);
        let mut rates = Vec::new();
        for n in 1..=slices {
            let left = (slice * n).saturating_sub(start.elapsed());
            pass(left, &mut running)?;
            let (now, received) = (Instant::now(), running.counts()?.received);
            let seconds = now.duration_since(since).as_secs_f64();
            rates.push(received.saturating_sub(before) as f64 / seconds);
            (since, before) = (now, received);
        }
        running.threads.finish()?;
        Ok(rates)
    }

    /// Opens both ends of a trial on this host, up to its start.
    fn begin<'a>(&'a mut self, spec: &'a TrialSpec) -> anyhow::Result<RunningEnd<'a>> {
        self.pass_trains(spec.case.loopback)?;
        let mut opened = self.open(spec, EndRole::Both, None)?;
        let receivers = opened.sockets.bind()?;
        let flows = flows::find(&spec.case, &receivers, &mut *opened.sockets)?;
        flows::assign(&spec.case, &flows, &mut *opened.sockets)?;
        flows::confirm(&spec.case, &flows, &mut *opened.sockets)?;
        opened.assemble(&flows)
    }

    /// Prepares one end of a trial, without making a socket.
    ///
    /// # Errors
    /// Fails if this host has no address for it.
    pub(crate) fn open<'a>(
        &'a mut self,
        spec: &'a TrialSpec,
        part: EndRole,
        token: Option<Token>,
    ) -> anyhow::Result<PreparedEnd<'a>> {
        let addresses = spec.across(part).zip(token);
        let remote = addresses.map(|((local_address, remote), token)| RemotePeer {
            local_address,
            address: remote.ip,
            token,
        });
        let sockets: Box<dyn EndSockets> = match spec.case.transport {
            None => Box::new(UdpSockets::new(spec.case, remote)?),
            Some(transport) => Box::new(Connections::of(spec.case, transport)),
        };
        let meter = spec.settings.meter.as_ref();
        let meter = meter.filter(|meter| matches!(meter, Meter::Sensor(_)));
        let meter = meter.and_then(|_| PowerMeter::find(&self.root));
        Ok(PreparedEnd {
            spec,
            part,
            start: Start {
                watch: Watch::start(&self.root),
                power: meter.map(|meter| MeanPower::start(meter, &self.root)),
                discards: Discards::read(),
                path: None,
                reasons: spec.settings.drop_reasons.then_some(&mut self.reasons),
            },
            sockets,
        })
    }

    /// Has this process's own loopback cut trains or not, as the case asks. A program may send trains without it being
    /// known: they are cut.
    fn pass_trains(&self, asked: Option<LoopbackTrains>) -> anyhow::Result<()> {
        let set = match (self.loopback, asked) {
            (Some(own), Some(LoopbackTrains::Whole)) => own.pass_trains(),
            (Some(own), _) => own.cut_trains(),
            (None, Some(LoopbackTrains::Cut)) => {
                bail!("trains are cut on a loopback of the trial's own, which this process has not")
            }
            (None, _) => Ok(()),
        };
        set.context("the loopback of the trial's own")
    }
}

/// The parts of a trial's end that exist before its threads.
pub(crate) struct PreparedEnd<'a> {
    spec: &'a TrialSpec,
    part: EndRole,
    start: Start<'a>,
    /// Sockets of this end.
    pub(crate) sockets: Box<dyn EndSockets>,
}

impl<'a> PreparedEnd<'a> {
    /// Starts the threads and waits until all of them are at the start barrier. The senders are in the order of
    /// `flows`.
    ///
    /// # Errors
    /// Fails if something cannot be built. No thread is left waiting for ever.
    pub(crate) fn assemble(self, flows: &[Flow]) -> anyhow::Result<RunningEnd<'a>> {
        let Self {
            spec,
            part,
            mut start,
            sockets,
        } = self;
        let case = spec.case;
        let engines = spec.engines()?;
        let probes = sockets.queue_probes(engines)?;
        // Probes that were sent more than once may be left in the queues.
        probes.discard_unread();
        let buffers = sockets.buffers()?;
        let (receivers, senders) =
            into_sides(sockets, &case, part, flows).context("cannot assemble the threads")?;
        bind::prefer_own_cpus(&case, &receivers, &spec.placement.receivers)?;
        let trackers = if spec.verifies {
            Trackers::of(&case)
        } else {
            Trackers::default()
        };
        let builder = ProgramBuilder {
            case: &case,
            engines,
            flows,
            trackers: &trackers,
        };
        let programs = builder.programs(receivers, senders);
        let programs = programs.context("cannot assemble the threads")?;
        let mut placement = spec.placement.clone();
        if !part.sends() {
            placement.senders.clear();
        }
        if !part.receives() {
            placement.receivers.clear();
        }
        let locked_memory = (case.mlock == Some(Mlock::On)).then(LockedMemory::lock);
        let locked_memory = locked_memory.transpose();
        let locked_memory = locked_memory.context("--mlock: the memory cannot be locked")?;
        let threads = BenchThreads::assemble(&case, engines, part, programs, &placement)?;
        // Only now, as threads inherit the priority of the one that starts them.
        let above = case.sched.and_then(Sched::priority);
        let raised = above.map(|priority| Raised::to(priority + 1)).transpose();
        let raised = raised.context("--sched: the coordinator thread needs one priority more")?;
        // Watched only after the probes, which do not count.
        let own = spec.across(part).map(|(own, _)| own);
        start.path = own.map(PathWatch::start).transpose()?;
        if let Some(reasons) = &mut start.reasons {
            reasons.start();
        }
        #[cfg(feature = "calibration")]
        threads.delay_senders((spec.settings.delay.as_ref()).map_or(0, |delay| delay.of(&case)));
        Ok(RunningEnd {
            case,
            part,
            receives_aggregates: engines.1.about.receives_aggregates,
            threads,
            probes,
            buffers,
            placement,
            trackers,
            start,
            last: None,
            _raised: raised,
            _locked_memory: locked_memory,
        })
    }
}
