//! Input of the computation of a row.

use std::time::Duration;

use super::column::milliseconds;
use super::{EndedBy, NicText, Reason, Warning};
use crate::data::{Case, EnginePair, EngineProperties, Sample, Verified};
use crate::host::placement::Placement;
use crate::plan::{Meter, Schedule, Wire};
use crate::sys::power::IdlePower;

/// Input of the computation of a row.
#[derive(Clone, Debug)]
pub struct RowInput<'a> {
    /// The case.
    pub case: &'a Case,
    /// Engines of the case.
    pub engines: EnginePair<'a>,
    /// CPUs of the threads. `None`: the case does not run.
    pub pin: Option<&'a Placement>,
    /// Schedule of the run. `None`: there is none.
    pub schedule: Option<&'a Schedule>,
    /// The remote host and the links to it. `None`: all threads are on one host.
    pub wire: Option<&'a Wire>,
    /// Local and remote network interface.
    pub nics: (NicText, NicText),
    /// Warnings about the case from the plan and the sweep.
    pub warnings: Vec<Warning>,
    /// Reason why no more rounds were measured. An error: the case was not measured to the end, for this reason.
    pub ended: Result<EndedBy, Reason>,
    /// Windows of the case.
    pub samples: &'a [Sample],
    /// Rounds whose windows were measured a second time, each with the reason.
    pub repeated: &'a [(u32, String)],
    /// Result of `--verify`.
    pub verified: Option<Verified>,
    /// Windows of the reference case of the block.
    pub reference: &'a [Sample],
    /// Windows of the same case in half duplex, if this case is in full duplex.
    pub half: &'a [Sample],
    /// Windows of each case of the block with another engine.
    pub others: &'a [&'a [Sample]],
    /// Rates of the case in earlier runs, in datagrams received per second.
    pub earlier_pps: &'a [f64],
    /// Time that traffic takes to settle on this machine, if measured.
    pub settles_after: Option<Duration>,
    /// Idle powers of the machine so far.
    pub idle_powers: &'a [IdlePower],
}

impl<'a> RowInput<'a> {
    /// Returns the warm-up before each window, in milliseconds. `None`: there is no schedule.
    pub(super) fn warmup_ms(&self) -> Option<f64> {
        let schedule = self.schedule?;
        Some(milliseconds(schedule.settings.warmup))
    }

    /// Returns the name of the meter of the machine's power. `None`: there is none, or the case does not run.
    pub(super) fn meter(&self) -> Option<String> {
        let meter = self.schedule?.settings.meter.as_ref();
        meter.filter(|_| self.pin.is_some()).map(Meter::to_string)
    }

    /// Returns the input of a case that was not measured, for this reason.
    pub fn skipped(case: &'a Case, reason: String) -> Self {
        Self {
            case,
            engines: EnginePair {
                sender: &EngineProperties::PLAIN,
                receiver: &EngineProperties::PLAIN,
            },
            pin: None,
            schedule: None,
            wire: None,
            nics: <_>::default(),
            warnings: Vec::new(),
            ended: Err(Reason::Skipped(reason)),
            samples: &[],
            repeated: &[],
            verified: None,
            reference: &[],
            half: &[],
            others: &[],
            earlier_pps: &[],
            settles_after: None,
            idle_powers: &[],
        }
    }
}
