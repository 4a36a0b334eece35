//! Description of columns: unit, meaning, type, and the runs that show them; and how their values are written.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::time::Duration;

use serde::Serializer;

use super::Warning;
use crate::data::{Case, Workload};

/// A column of the results.
#[derive(Debug)]
pub struct Column {
    /// Name, which ends with the unit if there is one.
    pub name: &'static str,
    /// Unit. Empty: a text, a count or a ratio.
    pub unit: &'static str,
    /// Meaning, in one sentence.
    pub doc: &'static str,
    /// Heading above the column in docs/COLUMNS.md.
    pub section: &'static str,
    /// Period that the column covers: `Plan`: settings of the plan; `Start`: state of host and program at the start;
    /// `Window`: from the opening to the closing of each window; `Drain`: datagrams sent from the opening of each
    /// window on, until the queues were empty; `Run`: each window with its warm-up and its drain; `Verify`: windows of
    /// `--verify`; `Case`: all windows of the case.
    pub over: &'static str,
    /// Conditions under which the column is empty, or `never`. `no window`, `no speed` (no window, or the case failed)
    /// and `unchecked` are explained in docs/COLUMNS.md.
    pub empty: &'static str,
    /// Type of the values, in Rust's words. An empty value of an `Option` is `null` in JSON; otherwise it is an empty
    /// text, or the column is never empty.
    pub type_name: &'static str,
    /// Runs in which a CSV has the column by default.
    pub short: Short,
}

/// An estimate with the lower and the upper bound of its interval, as far as they are known.
pub type Interval = [Option<f64>; 3];

/// Declares the columns: the fields of [`Row`], and [`Column::ALL`], which describes them. An entry is a sentence,
/// then name and type, unit, period, the runs whose CSV has it, the conditions under which it is empty, and its value.
/// With an estimate, the bounds of its interval are declared, too.
macro_rules! columns {
    (|$it:ident: &$computed:ty| $($section:literal { $(
        $(#[doc = $doc:literal])+
        $(#[serde($($serde:tt)+)])?
        $name:ident: $type:ty, $unit:literal, $over:ident, $short:ident, $empty:literal => $value:expr
        $(, $places:literal in $get:ident($low:ident, $high:ident), $rarer:ident, $emptier:literal)?;
    )+ })+) => {
        /// One row of the results. The names have the units. Values that could not be measured are empty, never 0.
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct Row {$($(
            $(#[doc = $doc])+
            $(#[serde($($serde)+)])?
            pub $name: $type,
            $(
                #[doc = concat!("Lower bound of the interval of `", stringify!($name), "`.")]
                pub $low: $type,
                #[doc = concat!("Upper bound of the interval of `", stringify!($name), "`.")]
                pub $high: $type,
            )?
        )+)+}

        impl Row {
            pub(super) fn of($it: &$computed) -> Self {
                $($($(let $get = $value;)?)+)+
                Self {$($(
                    $name: columns!(@value $value $(, $get, $places)?),
                    $($low: low::<$places>($get), $high: high::<$places>($get),)?
                )+)+}
            }

            $($($(
                #[doc = concat!("Returns `", stringify!($name), "` with its interval.")]
                pub fn $get(&self) -> $crate::results::row::Interval {
                    [self.$name, self.$low, self.$high]
                }
            )?)+)+
        }

        impl Column {
            /// Complete list of columns, in order.
            #[expect(clippy::large_stack_arrays, reason = "a constant is not on the stack")]
            pub const ALL: &'static [Self] = &[$($(
                columns!(@column $name, concat!($($doc),+), $type, $section, $unit, $over, $short, $empty),
                $(
                    columns!(@column $low, concat!(" Lower bound of the interval of `", stringify!($name), "`."),
                        $type, $section, $unit, $over, $rarer, $emptier),
                    columns!(@column $high, concat!(" Upper bound of the interval of `", stringify!($name), "`."),
                        $type, $section, $unit, $over, $rarer, $emptier),
                )?
            )+)+];
        }
    };
    (@value $value:expr) => { $value };
    (@value $value:expr, $get:ident, $places:literal) => { middle::<$places>($get) };
    (@column $name:ident, $doc:expr, $type:ty, $section:literal, $unit:literal, $over:ident, $short:ident,
        $empty:literal) => {
        Column {
            name: stringify!($name),
            unit: $unit,
            doc: $doc,
            section: $section,
            over: stringify!($over),
            empty: $empty,
            type_name: stringify!($type),
            short: Short::$short,
        }
    };
}
pub(super) use columns;

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

/// Writes the warnings in one text.
pub(super) fn joined<S: Serializer>(
    warnings: &[Warning],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = warnings.iter().map(Warning::to_string).collect();
    serializer.serialize_str(&texts.join("; "))
}

/// Writes a text, which is empty if there is no value.
#[expect(clippy::ref_option, reason = "serde passes it so")]
pub(super) fn or_empty<S: Serializer>(
    value: &Option<impl Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_str(""),
    }
}

/// Writes a text.
pub(super) fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Writes the key of a case.
pub(super) fn key<S: Serializer>(case: &Case, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&case.key())
}

/// Rounds a number to `PLACES` decimals, to avoid exponents in spreadsheets and meaningless digits.
pub(super) fn decimals<const PLACES: u8>(value: f64) -> f64 {
    let scale = 10_f64.powi(PLACES.into());
    (value * scale).round() / scale
}

/// Returns a duration in milliseconds, rounded to the microsecond.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    decimals::<3>(1e3 * duration.as_secs_f64())
}
