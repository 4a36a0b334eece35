//! Doubts about the numbers of a run: the evidence in the rows, and the fix for each.

use super::Fix;
use crate::host::check::{Problem, Unfit};
use crate::plan::PlanWarning;
use crate::results::row::{CaseWarning, Row, Status, Warning};

/// A reason why another run of a case may show another number.
pub(super) struct Doubt {
    what: &'static str,
    pub(super) fix: Fix,
    evidence: Evidence,
}

enum Evidence {
    Status(Status),
    /// Accepts the warnings that show the doubt.
    Warnings(fn(&Warning) -> bool),
}

impl Doubt {
    /// Returns the doubt in words, which may have a value of one of these rows.
    pub(super) fn in_words(&self, rows: &[&Row]) -> String {
        let mut warnings = rows.iter().flat_map(|row| &row.warnings);
        let shared_cpu = warnings.find_map(|warning| match warning {
            Warning::Plan(PlanWarning::BothEndsShareCpu { cpu }) => Some(cpu),
            _ => None,
        });
        match (self.fix, shared_cpu) {
            (Fix::Apart, Some(cpu)) => format!("{} {cpu}", self.what),
            _ => self.what.to_owned(),
        }
    }

    /// Returns whether the doubt is that cases failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.evidence, Evidence::Status(Status::Failed))
    }

    pub(super) fn is_of(&self, row: &Row) -> bool {
        let is_busy = || row.warnings.iter().any(Warning::is_other_programs);
        match self.fix {
            // What takes the CPUs from the threads unsettles their traffic.
            Fix::Longer => self.is_evident(row) && !is_busy(),
            STOP => self.is_evident(row) || is_busy() && DOUBTS[UNSETTLED].is_evident(row),
            _ => self.is_evident(row),
        }
    }

    fn is_evident(&self, row: &Row) -> bool {
        match &self.evidence {
            Evidence::Status(status) => row.status == *status,
            Evidence::Warnings(show_it) => row.warnings.iter().any(show_it),
        }
    }
}

const CHECK: Fix = Fix::Check("mend what this finds");
pub(super) const STOP: Fix = Fix::Check("stop what else runs, which this names");

/// Number of grave doubts, which come first in [`DOUBTS`]. One case with a grave doubt rules out a good grade.
pub(super) const GRAVE: usize = 10;
/// Index of the doubt that traffic had not settled.
const UNSETTLED: usize = 9;
/// Number of doubts about the setup, the first of all. They hold for all cases alike, so they say less about each.
pub(super) const OF_SETUP: usize = 2;

/// List of all doubts, the grave ones first.
///
/// Some warnings are no doubts: warnings about a case's setup (threads that share CPUs) say nothing against its
/// number, unless they are both ends of a wire. Nor does the load before the start: if it lasts, windows show it.
pub(super) const DOUBTS: [Doubt; 11] = [
    Doubt {
        // The number of the CPU follows.
        what: "both ends share CPU",
        fix: Fix::Apart,
        evidence: Evidence::Warnings(|warning| {
            matches!(warning, Warning::Plan(PlanWarning::BothEndsShareCpu { .. }))
        }),
    },
    Doubt {
        what: "the machine is not set up to measure",
        fix: CHECK,
        evidence: Evidence::Warnings(|warning| warning.problem().is_some_and(is_of_setup)),
    },
    Doubt {
        what: "failed",
        fix: Fix::Again("mend why cases failed (said below the table), and run this again"),
        evidence: Evidence::Status(Status::Failed),
    },
    Doubt {
        what: "interrupted",
        fix: Fix::Resume,
        evidence: Evidence::Status(Status::Interrupted),
    },
    Doubt {
        what: "the rate was not kept",
        fix: Fix::Words(
            "choose a lower --rate, and a longer --warmup if some was late before the windows",
        ),
        evidence: Evidence::Warnings(|warning| {
            matches!(warning, Warning::Case(CaseWarning::RateNotKept { .. }))
        }),
    },
    Doubt {
        what: "not the speed of a board: emulated, or a debug build",
        fix: Fix::Words("run a release build on the board itself (cargo build --release)"),
        evidence: Evidence::Warnings(|warning| warning.problem().is_some_and(is_of_no_board)),
    },
    Doubt {
        what: "CPUs slowed by heat or power",
        fix: CHECK,
        evidence: Evidence::Warnings(|warning| {
            matches!(
                warning,
                Warning::Case(
                    CaseWarning::Throttled { .. }
                        | CaseWarning::Hot { .. }
                        | CaseWarning::StillHot { .. }
                )
            )
        }),
    },
    Doubt {
        what: "a CPU ran slower than at the start",
        fix: CHECK,
        evidence: Evidence::Warnings(|warning| {
            matches!(warning, Warning::Case(CaseWarning::SlowerCpu))
        }),
    },
    Doubt {
        what: "CPU time lost to other programs",
        fix: STOP,
        evidence: Evidence::Warnings(|warning| {
            matches!(
                warning,
                Warning::Case(CaseWarning::LostCpuTime | CaseWarning::DisturbedWindowsDiffer)
            )
        }),
    },
    Doubt {
        what: "traffic not settled",
        fix: Fix::Longer,
        evidence: Evidence::Warnings(|warning| {
            matches!(
                warning,
                Warning::Case(
                    CaseWarning::QueuesMoved
                        | CaseWarning::ShortWarmUp { .. }
                        | CaseWarning::EmptyWindow
                        | CaseWarning::LostWindow { .. }
                        | CaseWarning::BuffersChanged
                )
            )
        }),
    },
    Doubt {
        what: "fewer than six rounds, or threads not pinned",
        fix: Fix::Rounds,
        evidence: Evidence::Warnings(|warning| {
            matches!(
                warning,
                Warning::Case(CaseWarning::FewRounds { .. } | CaseWarning::NotPinned)
            )
        }),
    },
];

fn is_of_setup(problem: &Problem) -> bool {
    match problem.unfit {
        Unfit::Governor { .. }
        | Unfit::LowClock { .. }
        | Unfit::CpuQuota { .. }
        | Unfit::SmallBuffers { .. }
        | Unfit::Rps { .. }
        | Unfit::Conntrack
        | Unfit::FirmwareThrottles { .. }
        | Unfit::UnderVoltage
        | Unfit::KernelThrottles
        | Unfit::HotBoard { .. } => true,
        Unfit::DebugBuild
        | Unfit::Emulated { .. }
        | Unfit::ForeignBinary { .. }
        | Unfit::OtherPrograms { .. }
        | Unfit::OtherCpus { .. }
        | Unfit::Loopback { .. }
        | Unfit::LinkDown { .. }
        | Unfit::Wireless { .. }
        | Unfit::RadioSleeps { .. }
        | Unfit::LinkSleeps { .. }
        | Unfit::HalfDuplex { .. }
        | Unfit::SlowLink { .. }
        | Unfit::DriverLoses { .. }
        | Unfit::DropsOfOthers { .. }
        | Unfit::ProgramLoses { .. } => false,
    }
}

fn is_of_no_board(problem: &Problem) -> bool {
    matches!(
        problem.unfit,
        Unfit::DebugBuild | Unfit::Emulated { .. } | Unfit::ForeignBinary { .. }
    )
}
