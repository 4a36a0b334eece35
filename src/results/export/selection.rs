//! Selection of CSV columns: the ones that matter for a run, or all. It is made before anything is measured, because
//! rows are appended below the header.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::data::{Batch, BlockKey, Case, EngineName, Payload, Workload};
use crate::plan::{Plan, Schedule};
use crate::results::row::{Column, Row, Short};

/// Columns of a file, in order.
#[derive(Clone, Debug)]
pub struct Selection(Vec<&'static Column>);

/// The columns that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColumnSet {
    /// Those that matter for the run
    #[default]
    Short,
    /// All
    All,
}

impl Default for Selection {
    fn default() -> Self {
        Self::all()
    }
}

impl Selection {
    /// Returns the selection of all columns.
    pub fn all() -> Self {
        Self(Column::ALL.iter().collect())
    }

    /// Returns the columns for a run of this plan.
    pub fn of_plan(asked: ColumnSet, plan: &Plan, schedule: &Schedule) -> Self {
        let cases = plan.cases().map(|planned| planned.case);
        let kind = RunKind {
            is_verified: schedule.verify,
            is_metered: schedule.settings.meter.is_some(),
        };
        Self::new(asked, cases, kind)
    }

    fn new(asked: ColumnSet, cases: impl Iterator<Item = Case>, kind: RunKind) -> Self {
        if asked == ColumnSet::All {
            return Self::all();
        }
        let run = Run::new(cases.collect(), kind);
        let columns = Column::ALL.iter();
        Self(columns.filter(|column| run.shows(column)).collect())
    }

    /// Returns the names of the selected columns.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|column| column.name).collect()
    }
}

/// Properties of a run that are not those of a case.
#[derive(Clone, Copy, Debug, Default)]
struct RunKind {
    is_verified: bool,
    is_metered: bool,
}

/// Properties of a run that decide which columns it shows.
struct Run {
    cases: Vec<Case>,
    kind: RunKind,
    /// Columns in which some case differs from the usual value.
    unusual: BTreeSet<String>,
}

impl Run {
    fn new(cases: Vec<Case>, of_run: RunKind) -> Self {
        // Engines and payloads have many values, and their columns are always shown.
        let kind = |case: &Case| Case {
            sender: EngineName::REFERENCE,
            receiver: EngineName::REFERENCE,
            payload: Payload::MIN,
            ..*case
        };
        let kinds: BTreeSet<String> = cases.iter().map(|case| kind(case).key()).collect();
        let kinds = kinds.iter().filter_map(|key| Case::of_key(key));
        let unusual = kinds.flat_map(|case| {
            let usual = values(&usual(&case));
            let own = values(&case).into_iter();
            own.filter(move |(name, value)| !value.is_null() && usual.get(name) != Some(value))
        });
        Self {
            unusual: unusual.map(|(name, _)| name).collect(),
            cases,
            kind: of_run,
        }
    }

    fn shows(&self, column: &Column) -> bool {
        let has = |is: fn(&Case) -> bool| self.cases.iter().any(is);
        let floods = has(|case| !case.is_rr());
        let crosses = has(|case| case.direction.is_some());
        let has_reference = has(Case::is_reference);
        let is_free = has(|case| case.rate.is_none());
        match column.short {
            Short::Always => true,
            Short::Never => false,
            Short::Unusual => self.unusual.contains(column.name),
            Short::Workload => has(|case| case.workload.is_some()),
            Short::Rate => has(|case| case.rate.is_some()),
            Short::Paced => has(Case::is_paced),
            Short::Flood => floods,
            Short::Rr => has(Case::is_rr),
            Short::Bidir => has(|case| case.workload == Some(Workload::Bidir)),
            Short::Flows => has(|case| case.flows.is_some()),
            Short::Wire => crosses,
            Short::Path => floods && crosses,
            Short::OneHostFlood => floods && !crosses,
            Short::Cpu => !crosses,
            Short::Reference => has_reference,
            Short::Ratio => has_reference && is_free,
            Short::CpuRatio => has_reference && !crosses,
            Short::Absolute => !has_reference && is_free,
            Short::Free => is_free,
            Short::FreeCpu => is_free && !crosses,
            Short::Power => self.kind.is_metered,
            Short::Verify => self.kind.is_verified,
        }
    }
}

/// Returns the columns that follow from a case alone.
fn values(case: &Case) -> Map<String, Value> {
    match serde_json::to_value(Row::of_case(case)) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    }
}

/// Returns the case with the same engines, workload, direction, rate, threads, payload and IP version, and usual
/// values for all other parameters.
fn usual(case: &Case) -> Case {
    let (threads, payload, ip) = (case.threads, case.payload, case.ip);
    let plain = Case::of_key(&format!("std:std/{threads}t/{payload}B/connected/{ip}"));
    let block = plain.map_or(case.block(), |plain| BlockKey {
        workload: case.workload,
        direction: case.direction,
        rate: case.rate,
        ..plain.block()
    });
    Case {
        batch: case.batch.map(|_| Batch::DEFAULT),
        ..Case::in_block(&block, case.sender, case.receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(keys: &[&str]) -> String {
        let cases = keys.iter().map(|key| Case::of_key(key).expect("a case"));
        let selection = Selection::new(ColumnSet::Short, cases, RunKind::default());
        let names: Vec<&str> = selection.columns().map(|column| column.name).collect();
        assert!(names.len() < 55, "{names:?}");
        names.join(" ")
    }

    #[test]
    fn the_columns_of_a_sweep_are_these() {
        insta::assert_snapshot!(names(&[
            "std:std/2t/26B/connected/v4",
            "std:std/2t/1460B/connected/v4",
            "mmsg:mmsg/4t/26B/connected/v4/batch32",
        ]));
    }

    #[test]
    fn the_columns_of_requests_at_a_rate_are_these() {
        insta::assert_snapshot!(names(&[
            "std:std/2t/26B/connected/v4/rr/rate2000",
            "mio-level:mio-level/2t/26B/connected/v4/rr/rate20000",
        ]));
    }

    #[test]
    fn the_columns_of_a_wire_are_these() {
        insta::assert_snapshot!(names(&[
            "std:std/2t/1460B/connected/v4/up",
            "mmsg:mmsg/2t/1460B/connected/v4/batch32/down",
        ]));
    }

    #[test]
    fn what_was_varied_or_typed_is_there_and_what_is_as_usual_is_not() {
        let plain = "std:std/2t/26B/connected/v4";
        let usual = names(&[plain]);
        for (more, columns) in [
            ("batch8", vec!["batch"]),
            ("rcvbuf65536", vec!["rcvbuf_requested_bytes"]),
            ("tos-ef/tcp", vec!["tos", "transport"]),
        ] {
            let found = names(&[plain, &format!("{plain}/{more}")]);
            let own = found
                .split(' ')
                .filter(|name| !usual.split(' ').any(|it| it == *name));
            assert_eq!(own.collect::<Vec<&str>>(), columns, "{more}");
        }
    }
}
