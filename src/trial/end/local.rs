//! Trials in this process, by its own clock, up to the start barrier and as a whole; the settings that are changed for
//! a trial.

use std::time::Instant;

use anyhow::{Context, bail, ensure};

use crate::data::{LoopbackTrains, Mlock, Sample, Sched};
use crate::plan::Meter;
use crate::sys::files::Root;
use crate::sys::kernel_drops::Discards;
use crate::sys::own_loopback::OwnLoopback;
use crate::sys::power::{MeanPower, PowerMeter};
use crate::sys::scheduling::{LockedMemory, Raised};
use crate::sys::sensors::Watch;
use crate::trial::changes::changed_settings::ChangedSettings;
use crate::trial::end::echo_end::EchoLosses;
use crate::trial::end::running_end::{RunningEnd, StartReadings};
use crate::trial::end::wait::{drain, pass, window};
use crate::trial::messages::end_result;
use crate::trial::messages::spec::{EndRole, Flow, TrialSpec};
use crate::trial::readings::losses::{PathWatch, ReasonWatch};
use crate::trial::sockets::connections::Connections;
use crate::trial::sockets::udp_sockets::UdpSockets;
use crate::trial::sockets::{EndSockets, bind, flows};
use crate::trial::threads::BenchThreads;
use crate::trial::threads::programs::{ProgramBuilder, Trackers};

/// State that all trials in this process share.
#[derive(Default)]
pub struct LocalTrials {
    /// Root of the file system that sensors are read from.
    pub(crate) root: Root,
    /// The loopback that only this process has. `None`: it is on that of the host.
    loopback: Option<OwnLoopback>,
    reasons: ReasonWatch,
    /// Settings that are changed for the current trial.
    pub(crate) changed: Option<ChangedSettings>,
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
            ..Self::default()
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
    /// started. A slice is as long as a window.
    ///
    /// # Errors
    /// Fails if something cannot be built or breaks.
    pub(crate) fn rate_over_time(
        &mut self,
        spec: &TrialSpec,
        slices: u32,
    ) -> anyhow::Result<Vec<f64>> {
        let mut running = self.begin(spec)?;
        running.threads.open_start();
        let start = Instant::now();
        let (mut since, mut before) = (start, running.counts()?.received);
        let mut rates = Vec::new();
        for n in 1..=slices {
            let left = (spec.settings.window * n).saturating_sub(start.elapsed());
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
        let mut opened = self.open(spec, EndRole::Both)?;
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
    ) -> anyhow::Result<PreparedEnd<'a>> {
        let sockets: Box<dyn EndSockets> = match spec.case.transport {
            None => Box::new(UdpSockets::new(spec.case, spec.peer_of(part))?),
            Some(transport) => Box::new(Connections::of(spec.case, transport)),
        };
        let has_sensor = matches!(spec.settings.meter, Some(Meter::Sensor(_)));
        let meter = has_sensor.then(|| PowerMeter::find(&self.root)).flatten();
        Ok(PreparedEnd {
            spec,
            part,
            start: StartReadings {
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
    start: StartReadings<'a>,
    /// Sockets of this end.
    pub(crate) sockets: Box<dyn EndSockets>,
}

impl<'a> PreparedEnd<'a> {
    /// Starts the threads and waits until all of them are at the start barrier. The senders are in the order of
    /// `flows`.
    ///
    /// # Errors
    /// Fails if something cannot be built. No thread is left waiting for ever.
    pub(crate) fn assemble(mut self, flows: &[Flow]) -> anyhow::Result<RunningEnd<'a>> {
        let (spec, part, case) = (self.spec, self.part, self.spec.case);
        let engines = spec.engines()?;
        let probes = self.sockets.queue_probes(engines)?;
        // Probes that were sent more than once may be left in the queues.
        probes.discard_unread();
        let buffers = self.sockets.buffers()?;
        ensure!(
            flows.len() == case.flow_count(),
            "cannot assemble the threads: {} flows, not those of the case",
            flows.len()
        );
        let sending = if part.sends() { flows } else { &[] };
        let senders = (sending.iter()).map(|flow| self.sockets.take_sender(flow.source));
        let senders = senders.collect::<anyhow::Result<_>>();
        let senders = senders.context("cannot assemble the threads")?;
        let receivers = self.sockets.take_receivers();
        drop(self.sockets);
        bind::prefer_own_cpus(&case, &receivers, &spec.placement.receivers)?;
        let trackers = spec.verifies.then(|| Trackers::of(&case));
        let trackers = trackers.unwrap_or_default();
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
        let mut start = self.start;
        let path = (spec.peer_of(part)).map(|peer| PathWatch::start(peer.local_address));
        start.path = path.transpose()?;
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
