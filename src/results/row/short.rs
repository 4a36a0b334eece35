//! Runs in which a CSV has a column by default: those in which it matters.

use std::collections::BTreeSet;

use crate::data::{Case, Workload};

/// Kind of runs, in the words of docs/COLUMNS.md, and whether a run is one, for the column of this name.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    /// Words. Empty: no run; `--columns all` has the column.
    pub words: &'static str,
    /// Returns whether a run is one of them.
    pub(crate) has: fn(&Run, &str) -> bool,
}

/// Properties of a run that decide which columns it shows.
pub(crate) struct Run {
    pub(crate) cases: Vec<Case>,
    pub(crate) is_verified: bool,
    pub(crate) is_metered: bool,
    /// Columns in which some case differs from the usual value.
    pub(crate) unusual: BTreeSet<String>,
}

macro_rules! shorts {
    ($($name:ident: $words:literal, $has:expr;)+) => {
        #[allow(non_upper_case_globals, missing_docs, reason = "they are read in the table of the columns")]
        impl Short {
            $(pub(crate) const $name: Self = Self { words: $words, has: $has };)+
        }
    };
}

shorts! {
    Always: "always", |_, _| true;
    Never: "", |_, _| false;
    Unusual: "varied", |run, column| run.unusual.contains(column);
    Workload: "not `flood`", |run, _| run.any(|case| case.workload.is_some());
    Rate: "`--rate`", |run, _| run.any(|case| case.rate.is_some());
    Paced: "flood, `--rate`", |run, _| run.any(Case::is_paced);
    Flood: "flood", |run, _| run.floods();
    Rr: "`rr`", |run, _| run.any(Case::is_rr);
    Bidir: "`bidir`", |run, _| run.any(|case| case.workload == Some(Workload::Bidir));
    Flows: "`--flows`", |run, _| run.any(|case| case.flows.is_some());
    Wire: "two hosts", |run, _| run.crosses();
    Path: "flood, two hosts", |run, _| run.floods() && run.crosses();
    OneHostFlood: "flood, one host", |run, _| run.floods() && !run.crosses();
    Cpu: "one host", |run, _| !run.crosses();
    Reference: "reference", |run, _| run.has_reference();
    Ratio: "reference, no `--rate`", |run, _| run.has_reference() && run.is_free();
    CpuRatio: "reference, one host", |run, _| run.has_reference() && !run.crosses();
    Absolute: "no reference, no `--rate`", |run, _| !run.has_reference() && run.is_free();
    Free: "no `--rate`", |run, _| run.is_free();
    FreeCpu: "no `--rate`, one host", |run, _| run.is_free() && !run.crosses();
    Power: "power meter", |run, _| run.is_metered;
    Verify: "`--verify`", |run, _| run.is_verified;
}

impl Run {
    fn any(&self, is: fn(&Case) -> bool) -> bool {
        self.cases.iter().any(is)
    }

    fn floods(&self) -> bool {
        self.any(|case| !case.is_rr())
    }

    fn crosses(&self) -> bool {
        self.any(|case| case.direction.is_some())
    }

    fn has_reference(&self) -> bool {
        self.any(Case::is_reference)
    }

    fn is_free(&self) -> bool {
        self.any(|case| case.rate.is_none())
    }
}
