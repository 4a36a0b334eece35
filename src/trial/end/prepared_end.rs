//! One end of a trial up to the start barrier: its sockets, and the readings from before there are any.

use anyhow::Context;

use crate::data::{Mlock, Sched};
use crate::host::placement::Placement;
use crate::plan::Meter;
use crate::sys::files::Root;
use crate::sys::kernel_drops::Discards;
use crate::sys::power::{MeanPower, PowerMeter};
use crate::sys::real_time::{LockedMemory, Raised};
use crate::sys::sensors::Watch;
use crate::trial::end::running_end::{RunningEnd, Start};
use crate::trial::messages::spec::{EndRole, Flow, TrialSpec};
use crate::trial::messages::two_hosts::Token;
use crate::trial::readings::losses::{PathWatch, ReasonWatch};
use crate::trial::sockets::bind;
use crate::trial::sockets::connections::Connections;
use crate::trial::sockets::udp_sockets::{RemotePeer, UdpSockets};
use crate::trial::sockets::{EndSockets, into_sides};
use crate::trial::threads::BenchThreads;
use crate::trial::threads::programs::{ProgramBuilder, Trackers};

/// The parts of a trial's end that exist before its threads.
pub(crate) struct PreparedEnd<'a> {
    spec: &'a TrialSpec,
    part: EndRole,
    start: Start<'a>,
    /// Sockets of this end.
    pub(crate) sockets: Box<dyn EndSockets>,
}

impl<'a> PreparedEnd<'a> {
    /// Prepares an end: reads the sensors below `root` and the kernel's counters for the first time.
    ///
    /// Between two hosts, `token` proves to each host that the other one is there.
    ///
    /// # Errors
    /// Fails if this host has no address for the sockets.
    pub(crate) fn new(
        spec: &'a TrialSpec,
        part: EndRole,
        token: Option<Token>,
        root: &'a Root,
        reasons: Option<&'a mut ReasonWatch>,
    ) -> anyhow::Result<Self> {
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
        let meter = meter.and_then(|_| PowerMeter::find(root));
        Ok(Self {
            spec,
            part,
            start: Start {
                watch: Watch::start(root),
                power: meter.map(|meter| MeanPower::start(meter, root)),
                discards: Discards::read(),
                path: None,
                reasons,
            },
            sockets,
        })
    }

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
        let placement = placement_of(part, &spec.placement);
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

/// Returns the CPUs of the threads that run at this end.
fn placement_of(part: EndRole, placement: &Placement) -> Placement {
    let local = |cpus: &Vec<Option<usize>>, runs_here| {
        if runs_here { cpus.clone() } else { Vec::new() }
    };
    Placement {
        senders: local(&placement.senders, part.sends()),
        receivers: local(&placement.receivers, part.receives()),
    }
}
