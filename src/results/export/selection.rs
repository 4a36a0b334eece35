//! Selection of CSV columns: the ones that matter for a run, or all. It is made before anything is measured, because
//! rows are appended below the header.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::csv::fields;
use crate::data::{Batch, BlockKey, Case, EngineName, Payload};
use crate::plan::{Plan, Schedule};
use crate::results::row::{Column, Row, Run};

/// Names of the columns of a file, in order.
#[derive(Clone, Debug, Default)]
pub struct Selection(Vec<&'static str>);

/// The columns that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColumnSet {
    /// Those that matter for the run
    #[default]
    Short,
    /// All
    All,
}

impl Selection {
    /// Returns the selection of all columns.
    pub fn all() -> Self {
        Self::of(|_| true)
    }

    fn of(has: impl Fn(&Column) -> bool) -> Self {
        let columns = Column::ALL.iter().filter(|column| has(column));
        Self(columns.map(|column| column.name).collect())
    }

    /// Returns the columns for a run of this plan.
    pub fn of_plan(asked: ColumnSet, plan: &Plan, schedule: &Schedule) -> Self {
        let cases = plan.cases().map(|planned| planned.case);
        let is_metered = schedule.settings.meter.is_some();
        Self::new(asked, cases.collect(), schedule.verify, is_metered)
    }

    fn new(asked: ColumnSet, cases: Vec<Case>, is_verified: bool, is_metered: bool) -> Self {
        if asked == ColumnSet::All {
            return Self::all();
        }
        let run = Run {
            unusual: unusual(&cases),
            cases,
            is_verified,
            is_metered,
        };
        Self::of(|column| (column.short.has)(&run, column.name))
    }

    /// Returns the names of the selected columns.
    pub fn names(&self) -> &[&'static str] {
        &self.0
    }
}

/// Returns the columns in which some case differs from the usual value.
fn unusual(cases: &[Case]) -> BTreeSet<String> {
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
    unusual.map(|(name, _)| name).collect()
}

/// Returns the columns that follow from a case alone.
fn values(case: &Case) -> Map<String, Value> {
    fields(&Row::of_case(case)).unwrap_or_default()
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
        let cases = keys
            .iter()
            .map(|key| Case::of_key(key).expect("a case"))
            .collect();
        let selection = Selection::new(ColumnSet::Short, cases, false, false);
        let names = selection.names();
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
