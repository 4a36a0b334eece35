//! Doubts about the numbers of a run: the evidence in the rows, and the fix for each.

use super::Fix;
use crate::host::check::OTHER_PROGRAMS;
use crate::results::row::{Row, Status};

/// A reason why another run of a case may show another number.
pub(super) struct Doubt {
    what: &'static str,
    pub(super) fix: Fix,
    evidence: Evidence,
}

enum Evidence {
    Status(Status),
    /// Beginnings of the warnings that show the doubt.
    Warnings(&'static [&'static str]),
}

impl Doubt {
    /// Returns the doubt in words, which may have a value of one of these rows.
    pub(super) fn in_words(&self, rows: &[&Row]) -> String {
        if !self.what.is_empty() {
            return self.what.to_owned();
        }
        let mut warnings = rows.iter().flat_map(|row| &row.warnings);
        let warning = warnings.find(|warning| self.is_said_by(warning));
        let said = warning.and_then(|warning| warning.split([',', ':']).next());
        said.unwrap_or_default().to_owned()
    }

    /// Returns whether the doubt is that cases failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.evidence, Evidence::Status(Status::Failed))
    }

    pub(super) fn is_of(&self, row: &Row) -> bool {
        let is_busy = || row.warnings.iter().any(|it| it.starts_with(OTHER_PROGRAMS));
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
            Evidence::Warnings(_) => row.warnings.iter().any(|warning| self.is_said_by(warning)),
        }
    }

    fn is_said_by(&self, warning: &str) -> bool {
        match self.evidence {
            Evidence::Status(_) => false,
            Evidence::Warnings(begin) => begin.iter().any(|begin| warning.starts_with(begin)),
        }
    }
}

const CHECK: Fix = Fix::Check("mend what this finds");
const STOP: Fix = Fix::Check("stop what else runs, which this names");

/// Number of grave doubts, which come first in [`DOUBTS`]. One case with a grave doubt rules out a good grade.
pub(super) const GRAVE: usize = 9;
/// Index of the doubt that traffic had not settled.
const UNSETTLED: usize = 8;
/// Number of doubts about the setup, the first of all. They hold for all cases alike, so they say less about each.
pub(super) const OF_SETUP: usize = 2;

/// List of all doubts, the grave ones first.
///
/// Some warnings are no doubts: warnings about a case's setup (threads that share CPUs) say nothing against its
/// number, unless they are both ends of a wire. Nor does the load before the start: if it lasts, windows show it.
pub(super) const DOUBTS: [Doubt; 10] = [
    Doubt {
        // In the words of the warning, with the CPU.
        what: "",
        fix: Fix::Apart,
        evidence: Evidence::Warnings(&["both ends share CPU "]),
    },
    Doubt {
        what: "the machine is not set up to measure",
        fix: CHECK,
        evidence: Evidence::Warnings(&[
            "the cpufreq governor is ",
            "this control group grants ",
            "net.core.rmem_max grants ",
            "RPS hands packets of lo ",
            "conntrack tracks datagrams",
            "the firmware reports ",
            "the kernel throttles a CPU",
            "the temperature is ",
        ]),
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
        what: "not the speed of a board: emulated, or a debug build",
        fix: Fix::Words("run a release build on the board itself (cargo build --release)"),
        evidence: Evidence::Warnings(&[
            "this board is emulated",
            "a binary for ",
            "this is a debug build",
        ]),
    },
    Doubt {
        what: "CPUs slowed by heat or power",
        fix: CHECK,
        evidence: Evidence::Warnings(&[
            "the board was throttled",
            "the temperature reached",
            "still not below ",
        ]),
    },
    Doubt {
        what: "a CPU ran slower than at the start",
        fix: CHECK,
        evidence: Evidence::Warnings(&["a CPU ran more than"]),
    },
    Doubt {
        what: "CPU time lost to other programs",
        fix: STOP,
        evidence: Evidence::Warnings(&[
            "benchmark threads lost CPU time",
            "without disturbed windows",
        ]),
    },
    Doubt {
        what: "traffic not settled",
        fix: Fix::Longer,
        evidence: Evidence::Warnings(&[
            "queues were filling or emptying",
            "traffic takes ",
            "nothing was received in a window",
            "the granted buffer sizes changed",
        ]),
    },
    Doubt {
        what: "fewer than six rounds, or threads not pinned",
        fix: Fix::Rounds,
        evidence: Evidence::Warnings(&["intervals of ", "a thread could not be pinned"]),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails when somebody rewords a warning.
    #[test]
    fn the_warnings_are_those_that_rows_have() {
        // Both files repeat the warnings of other files.
        const OWN: [&str; 2] = ["quality/mod.rs", "quality/doubts.rs"];
        let mut waiting = vec![std::path::PathBuf::from("src")];
        let mut sources = String::new();
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).expect("a directory");
                waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
            } else if !OWN.iter().any(|own| path.ends_with(own)) {
                sources += &std::fs::read_to_string(&path).unwrap_or_default();
            }
        }
        for doubt in &DOUBTS {
            if let Evidence::Warnings(beginnings) = doubt.evidence {
                for begin in beginnings {
                    assert!(sources.contains(&format!("\"{begin}")), "{begin}");
                }
            }
        }
    }
}
