//! The site that is this process.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use anyhow::{Context, bail};

use super::connections::Connections;
use super::ends::{Ends, into_sides};
use super::path_watch::PathWatch;
use super::programs::{ProgramBuilder, Trackers};
use super::readings::{Finished, Idle, Reading};
use super::reason_watch::ReasonWatch;
use super::running::{Running, Start};
use super::scope::{self, Scope};
use super::site::{Edge, Edges, Flow, Part, Site, SiteBrief};
use super::sockets::Sockets;
use super::threads::LaneThreads;
use crate::data::Counts;
use crate::engines;
use crate::platform::placement::Placement;
use crate::sys::files::Root;
use crate::sys::host_id::HostId;
use crate::sys::kernel::Discards;
use crate::sys::sensors::Watch;

/// Runs its part in threads of this process. Dropping it stops and joins them, whatever they are doing.
pub struct Local<'a> {
    root: &'a Root,
    stage: Stage<'a>,
    reasons: ReasonWatch,
    /// Whether the trial asks for them.
    asks_why: bool,
}

/// How far the trial is.
enum Stage<'a> {
    /// There is none.
    Closed,
    /// Its sockets are being made.
    Open(Box<Opened<'a>>),
    /// Its threads are there.
    Assembled(Box<Running<'a>>),
}

struct Opened<'a> {
    brief: SiteBrief,
    start: Start<'a>,
    ends: Box<dyn Ends>,
    scope: Scope,
}

impl<'a> Local<'a> {
    /// Sensors are read below `root`.
    pub fn new(root: &'a Root) -> Self {
        Self {
            root,
            stage: Stage::Closed,
            reasons: ReasonWatch::default(),
            asks_why: false,
        }
    }

    /// The ends of the open trial, and what makes an address of a message one of its sockets.
    fn ends(&mut self) -> anyhow::Result<(&mut dyn Ends, Scope)> {
        match &mut self.stage {
            Stage::Open(opened) => Ok((&mut *opened.ends, opened.scope)),
            _ => bail!("no trial is open whose sockets could be made"),
        }
    }

    fn running(&mut self) -> anyhow::Result<&mut Running<'a>> {
        match &mut self.stage {
            Stage::Assembled(running) => Ok(running),
            _ => bail!("no trial has its threads"),
        }
    }

    /// Leaves no trial behind.
    fn take(&mut self) -> Stage<'a> {
        std::mem::replace(&mut self.stage, Stage::Closed)
    }
}

impl Site for Local<'_> {
    fn host(&self) -> HostId {
        HostId::read()
    }

    fn ended(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Assembled(running) => Some(running.threads.ended.as_fd()),
            _ => None,
        }
    }

    fn open(&mut self, brief: &SiteBrief) -> anyhow::Result<()> {
        // Its threads end before the counters are read.
        drop(self.take());
        self.asks_why = brief.drop_reasons;
        self.stage = Stage::Open(Box::new(Opened {
            start: Start {
                watch: Watch::start(self.root),
                discards: Discards::read(),
                at: Instant::now(),
                path: None,
            },
            ends: ends_of(brief)?,
            scope: Scope::of(brief.across.map(|across| across.own))?,
            brief: brief.clone(),
        }));
        Ok(())
    }

    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>> {
        let (ends, _) = self.ends()?;
        Ok(ends.bind()?.into_iter().map(scope::told).collect())
    }

    fn aim(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        let (ends, scope) = self.ends()?;
        ends.aim(scope.here(peer)).map(scope::told)
    }

    fn close_sender(&mut self, source: SocketAddr) -> anyhow::Result<()> {
        let (ends, scope) = self.ends()?;
        ends.take_sender(scope.here(source)).map(drop)
    }

    fn probe(&mut self, source: SocketAddr) -> anyhow::Result<Option<String>> {
        let (ends, scope) = self.ends()?;
        ends.probe(scope.here(source))
    }

    fn arrived(&mut self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        let (ends, scope) = self.ends()?;
        ends.arrived(scope.here(source))
    }

    fn is_proven(&mut self, source: SocketAddr) -> anyhow::Result<bool> {
        let (ends, scope) = self.ends()?;
        ends.is_proven(scope.here(source))
    }

    fn pair(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        let (ends, scope) = self.ends()?;
        ends.pair(&scope.flows_here(flows))
    }

    fn assemble(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        let Stage::Open(opened) = self.take() else {
            bail!("no trial is open whose threads could be started");
        };
        let flows = opened.scope.flows_here(flows);
        self.stage = Stage::Assembled(Box::new(opened.assemble(&flows)?));
        Ok(())
    }

    fn keep_time(&mut self, _: Edges) -> anyhow::Result<()> {
        Ok(())
    }

    fn keeps_time(&self) -> bool {
        false
    }

    fn start(&mut self) -> anyhow::Result<()> {
        if self.asks_why {
            self.reasons.start();
        }
        self.running()?.threads.open_start();
        Ok(())
    }

    fn wake_stalled(&mut self) -> anyhow::Result<()> {
        self.running()?.threads.wake_stalled();
        Ok(())
    }

    fn look(&mut self) -> anyhow::Result<()> {
        self.running()?.look()
    }

    fn snapshot(&mut self, edge: Edge) -> anyhow::Result<Reading> {
        self.running()?.snapshot(edge)
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        self.running()?.stop();
        Ok(())
    }

    fn counts(&mut self) -> anyhow::Result<Counts> {
        self.running()?.counts()
    }

    fn idle(&mut self) -> anyhow::Result<Idle> {
        Ok(self.running()?.idle())
    }

    fn finish(&mut self) -> anyhow::Result<Finished> {
        let Stage::Assembled(running) = self.take() else {
            bail!("no trial has its threads");
        };
        let mut finished = running.finish()?;
        if self.asks_why {
            finished.drop_reasons = self.reasons.moved();
        }
        Ok(finished)
    }

    fn abandon(&mut self) {
        drop(self.take());
    }
}

/// Those of a case, before there is any.
fn ends_of(brief: &SiteBrief) -> anyhow::Result<Box<dyn Ends>> {
    Ok(match brief.case.transport {
        None => Box::new(Sockets::of(brief.case, brief.across)?),
        Some(transport) => Box::new(Connections::of(brief.case, transport)),
    })
}

impl<'a> Opened<'a> {
    fn assemble(self, flows: &[Flow]) -> anyhow::Result<Running<'a>> {
        let Self {
            brief,
            mut start,
            ends,
            scope: _,
        } = self;
        let engines = engines::of(&brief.case).map_err(anyhow::Error::msg)?;
        let taps = ends.taps(engines)?;
        // Probes that were sent more than once.
        taps.take_unread();
        let buffers = ends.buffers()?;
        let (receivers, senders) = into_sides(ends, &brief.case, brief.part, flows)
            .context("cannot assemble the threads")?;
        let trackers = if brief.verifies {
            Trackers::of(&brief.case)
        } else {
            Trackers::default()
        };
        let builder = ProgramBuilder {
            case: &brief.case,
            engines,
            flows,
            trackers: &trackers,
        };
        let programs = builder.programs(receivers, senders);
        let programs = programs.context("cannot assemble the threads")?;
        let placement = placement_of(brief.part, &brief.placement);
        let threads =
            LaneThreads::assemble(&brief.case, engines, brief.part, programs, &placement)?;
        // After the probes.
        start.path = brief
            .across
            .map(|across| PathWatch::start(across.own))
            .transpose()?;
        #[cfg(feature = "calibration")]
        threads.delay_senders(
            brief
                .delay
                .as_ref()
                .map_or(0, |delay| delay.of(&brief.case)),
        );
        Ok(Running::new(
            start,
            threads,
            taps,
            buffers,
            placement,
            (brief.part, trackers),
        ))
    }
}

/// The CPUs of the threads that run here.
fn placement_of(part: Part, placement: &Placement) -> Placement {
    let here = |cpus: &Vec<Option<usize>>, runs_here| {
        if runs_here { cpus.clone() } else { Vec::new() }
    };
    Placement {
        senders: here(&placement.senders, part.sends()),
        receivers: here(&placement.receivers, part.receives()),
    }
}
