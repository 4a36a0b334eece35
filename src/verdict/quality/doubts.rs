//! Doubts about the numbers of a run: the evidence in the rows, and the fix for each.

use super::Fix;
use crate::host::check::{Problem, Unfit};
use crate::results::row::{BlockWarning, CaseWarning, Row, Status, Warning};

/// A reason why another run of a case may show another number.
pub(super) struct Doubt {
    pub(super) what: &'static str,
    pub(super) fix: Fix,
    is_evident: fn(&Row) -> bool,
}

impl Doubt {
    /// Returns whether the doubt is that cases failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.fix, Fix::Again(_))
    }

    pub(super) fn is_of(&self, row: &Row) -> bool {
        let is_busy = || row.warnings.iter().any(Warning::is_other_programs);
        let is_evident = self.is_evident;
        match self.fix {
            // What takes the CPUs from the threads unsettles their traffic.
            Fix::Longer => is_evident(row) && !is_busy(),
            STOP => is_evident(row) || is_busy() && is_unsettled(row),
            _ => is_evident(row),
        }
    }
}

const CHECK: Fix = Fix::Check("mend what this finds");
pub(super) const STOP: Fix = Fix::Check("stop what else runs, which this names");

/// Number of grave doubts, which come first in [`DOUBTS`]. One case with a grave doubt rules out a good grade.
pub(super) const GRAVE: usize = 10;
/// Number of doubts about the setup, the first of all. They hold for all cases alike, so they say less about each.
pub(super) const OF_SETUP: usize = 2;

/// List of all doubts, the grave ones first.
///
/// Some warnings are no doubts: warnings about a case's setup (threads that share CPUs) say nothing against its
/// number, unless they are both ends of a wire. Nor does the load before the start: if it lasts, windows show it.
pub(super) const DOUBTS: [Doubt; 11] = [
    Doubt {
        what: "both ends share a CPU",
        fix: Fix::Apart,
        is_evident: Row::shares_cpu,
    },
    Doubt {
        what: "the machine is not set up to measure",
        fix: CHECK,
        is_evident: |row| has_problem(row, is_of_setup),
    },
    Doubt {
        what: "failed",
        fix: Fix::Again("mend why cases failed (said below the table), and run this again"),
        is_evident: |row| row.status == Status::Failed,
    },
    Doubt {
        what: "interrupted",
        fix: Fix::Resume,
        is_evident: |row| row.status == Status::Interrupted,
    },
    Doubt {
        what: "the rate was not kept",
        fix: Fix::Words(
            "choose a lower --rate, and a longer --warmup if some was late before the windows",
        ),
        is_evident: |row| has(row, |it| matches!(it, CaseWarning::RateNotKept { .. })),
    },
    Doubt {
        what: "not the speed of a board: emulated, or a debug build",
        fix: Fix::Words("run a release build on the board itself (cargo build --release)"),
        is_evident: |row| has_problem(row, is_of_no_board),
    },
    Doubt {
        what: "CPUs slowed by heat or power",
        fix: CHECK,
        is_evident: |row| {
            let mut warnings = row.warnings.iter();
            warnings.any(|it| matches!(it, Warning::Block(BlockWarning::StillHot { .. })))
                || has(row, |it| {
                    matches!(it, CaseWarning::Throttled { .. } | CaseWarning::Hot { .. })
                })
        },
    },
    Doubt {
        what: "a CPU ran slower than at the start",
        fix: CHECK,
        is_evident: |row| has(row, |it| matches!(it, CaseWarning::SlowerCpu)),
    },
    Doubt {
        what: "CPU time lost to other programs",
        fix: STOP,
        is_evident: |row| {
            has(row, |it| {
                matches!(
                    it,
                    CaseWarning::LostCpuTime | CaseWarning::DisturbedWindowsDiffer
                )
            })
        },
    },
    Doubt {
        what: "traffic not settled",
        fix: Fix::Longer,
        is_evident: is_unsettled,
    },
    Doubt {
        what: "fewer than six rounds, or threads not pinned",
        fix: Fix::Rounds,
        is_evident: |row| {
            has(row, |it| {
                matches!(it, CaseWarning::FewRounds { .. } | CaseWarning::NotPinned)
            })
        },
    },
];

fn has(row: &Row, is_so: fn(&CaseWarning) -> bool) -> bool {
    let mut warnings = row.warnings.iter();
    warnings.any(|warning| matches!(warning, Warning::Case(case) if is_so(case)))
}

fn has_problem(row: &Row, is_so: fn(&Problem) -> bool) -> bool {
    let mut warnings = row.warnings.iter();
    warnings.any(|warning| warning.problem().is_some_and(is_so))
}

fn is_unsettled(row: &Row) -> bool {
    has(row, |it| {
        matches!(
            it,
            CaseWarning::QueuesMoved
                | CaseWarning::ShortWarmUp { .. }
                | CaseWarning::EmptyWindow
                | CaseWarning::LostWindow { .. }
                | CaseWarning::BuffersChanged
        )
    })
}

fn is_of_setup(problem: &Problem) -> bool {
    matches!(
        problem.unfit,
        Unfit::Governor { .. }
            | Unfit::LowClock { .. }
            | Unfit::CpuQuota { .. }
            | Unfit::SmallBuffers { .. }
            | Unfit::Rps { .. }
            | Unfit::Conntrack
            | Unfit::FirmwareThrottles { .. }
            | Unfit::UnderVoltage
            | Unfit::KernelThrottles
            | Unfit::HotBoard { .. }
    )
}

fn is_of_no_board(problem: &Problem) -> bool {
    matches!(
        problem.unfit,
        Unfit::DebugBuild | Unfit::Emulated { .. } | Unfit::ForeignBinary { .. }
    )
}
