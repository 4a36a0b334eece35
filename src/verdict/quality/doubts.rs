//! Doubts about the numbers of a run: the evidence in the rows, and the fix for each.

use super::Fix;
use crate::results::row::{Row, Warning};

/// A reason why another run of a case may show another number.
pub(super) struct Doubt {
    pub(super) what: &'static str,
    pub(super) fix: Fix,
    /// Codes of the warnings, or a status, that show the doubt.
    codes: &'static [&'static str],
}

impl Doubt {
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
        let mut codes = row.warnings.iter().map(Warning::code);
        self.codes.contains(&row.status.to_string().as_str())
            || codes.any(|code| self.codes.contains(&code))
    }
}

const CHECK: Fix = Fix::Check("mend what this finds");
pub(super) const STOP: Fix = Fix::Check("stop what else runs, which this names");

/// Number of grave doubts, which come first in [`DOUBTS`]. One case with a grave doubt rules out a good grade.
pub(super) const GRAVE: usize = 10;
/// Index of the doubt that cases failed.
pub(super) const FAILED: usize = 2;
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
        what: "both ends share a CPU",
        fix: Fix::Apart,
        codes: &["shared-cpu"],
    },
    Doubt {
        what: "the machine is not set up to measure",
        fix: CHECK,
        codes: &[
            "governor",
            "low-clock",
            "cpu-quota",
            "small-buffers",
            "rps",
            "conntrack",
            "firmware-throttles",
            "under-voltage",
            "kernel-throttles",
            "hot-board",
        ],
    },
    Doubt {
        what: "failed",
        fix: Fix::Again("mend why cases failed (said below the table), and run this again"),
        codes: &["failed"],
    },
    Doubt {
        what: "interrupted",
        fix: Fix::Resume,
        codes: &["interrupted"],
    },
    Doubt {
        what: "the rate was not kept",
        fix: Fix::Words(
            "choose a lower --rate, and a longer --warmup if some was late before the windows",
        ),
        codes: &["rate-not-kept"],
    },
    Doubt {
        what: "not the speed of a board: emulated, or a debug build",
        fix: Fix::Words("run a release build on the board itself (cargo build --release)"),
        codes: &["debug-build", "emulated", "foreign-binary"],
    },
    Doubt {
        what: "CPUs slowed by heat or power",
        fix: CHECK,
        codes: &["throttled", "hot", "still-hot"],
    },
    Doubt {
        what: "a CPU ran slower than at the start",
        fix: CHECK,
        codes: &["slower-cpu"],
    },
    Doubt {
        what: "CPU time lost to other programs",
        fix: STOP,
        codes: &["lost-cpu-time", "disturbed-windows-differ"],
    },
    Doubt {
        what: "traffic not settled",
        fix: Fix::Longer,
        codes: &[
            "queues-moved",
            "short-warm-up",
            "empty-window",
            "lost-window",
            "buffers-changed",
        ],
    },
    Doubt {
        what: "fewer than six rounds, or threads not pinned",
        fix: Fix::Rounds,
        codes: &["few-rounds", "not-pinned"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::check::Unfit;
    use crate::plan::PlanWarning;
    use crate::results::row::{CaseWarning, Status};

    #[test]
    fn each_doubt_is_shown_by_warnings_that_there_are_or_by_a_status() {
        let known = [PlanWarning::CODES, CaseWarning::CODES, Unfit::CODES].concat();
        let statuses = [Status::Failed, Status::Interrupted].map(|it| it.to_string());
        for code in DOUBTS.iter().flat_map(|doubt| doubt.codes) {
            let is_status = statuses.iter().any(|status| status == code);
            assert!(is_status || known.contains(code), "{code}");
        }
        assert_eq!(DOUBTS[FAILED].what, "failed");
        assert_eq!(DOUBTS[UNSETTLED].fix, Fix::Longer);
    }
}
