//! What is known of a column besides its values.

/// A column of the results.
#[derive(Debug)]
pub struct Column {
    /// Its name, with the unit at its end where there is one.
    pub name: &'static str,
    /// Its unit. Empty: a text, a count or a ratio.
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    pub doc: &'static str,
    /// The heading that it stands below in docs/COLUMNS.md.
    pub section: &'static str,
    /// What it covers.
    pub over: Over,
    /// When it is empty.
    pub empty: &'static str,
    /// The type of its values.
    pub holds: Holds,
    /// Whether JSON has `null` where it is empty; else it is an empty text, or never empty.
    pub may_be_null: bool,
    /// In which runs it is among the columns of a CSV.
    pub short: Short,
}

/// What a column covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// What was asked for.
    Plan,
    /// Host and program, at the start.
    Start,
    /// From the opening to the closing of each window.
    Window,
    /// The datagrams sent from the opening of each window on, until the queues were empty.
    Drain,
    /// Each window with its warm-up and its drain.
    Run,
    /// The windows of `--verify`.
    Verify,
    /// How the case went, over all windows.
    Case,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Texts.
    Text,
    /// Several texts, which a CSV joins.
    Texts,
    /// Whole numbers.
    WholeNumbers,
    /// Numbers with decimals.
    Decimals,
}

impl Holds {
    /// Whether they are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::WholeNumbers | Self::Decimals)
    }
}

/// In which runs a column is in a CSV by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// In all.
    Always,
    /// In none: `--columns all` has it.
    Never,
    /// Where a case has another value than the usual one.
    Unusual,
    /// With another workload than `flood`.
    Workload,
    /// With a rate.
    Rate,
    /// With a flood at a rate.
    Paced,
    /// With a flood.
    Flood,
    /// With requests.
    Ask,
    /// With a flood in both directions.
    Duplex,
    /// With several flows for each thread.
    Flows,
    /// Between two hosts.
    Wire,
    /// With a flood between two hosts.
    Path,
    /// With a flood on one host.
    Here,
    /// On one host, where all CPU time is of one kind of CPU.
    Cpu,
    /// With a reference.
    Reference,
    /// With a reference, and cases without a rate.
    Ratio,
    /// With a reference, on one host.
    CpuRatio,
    /// Without a reference, for cases without a rate.
    Absolute,
    /// With cases without a rate.
    Free,
    /// With cases without a rate, on one host.
    FreeCpu,
    /// With `--verify`.
    Verify,
}

/// Declares the columns: the fields of [`Row`], and [`Column::ALL`], the table of what is known of them. An entry is a
/// sentence, then name and type, unit, what it covers, when it is in a CSV, and when it is empty.
macro_rules! columns {
    ($($section:literal { $(
        $(#[doc = $doc:literal])+
        $(#[serde($($serde:tt)+)])?
        $name:ident: $type:ty, $unit:literal, $over:ident, $short:ident, $empty:literal;
    )+ })+) => {
        /// One row. Units are in the names; what could not be measured is empty, never 0.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct Row {
            $($($(#[doc = $doc])+ $(#[serde($($serde)+)])? pub $name: $type,)+)+
        }

        impl $crate::results::row::Column {
            /// All columns, in their order.
            pub const ALL: &'static [Self] = &[$($(
                Self {
                    name: stringify!($name),
                    unit: $unit,
                    doc: concat!($($doc),+),
                    section: $section,
                    over: $crate::results::row::column::Over::$over,
                    empty: $empty,
                    holds: <$type as $crate::results::row::column::Cell>::HOLDS,
                    may_be_null: <$type as $crate::results::row::column::Cell>::MAY_BE_NULL,
                    short: $crate::results::row::column::Short::$short,
                },
            )+)+];
        }
    };
}
pub(super) use columns;

/// A type of values.
pub(super) trait Cell {
    const HOLDS: Holds;
    const MAY_BE_NULL: bool = false;
}

impl<T: Cell> Cell for Option<T> {
    const HOLDS: Holds = T::HOLDS;
    const MAY_BE_NULL: bool = true;
}

macro_rules! cells {
    ($($holds:ident: $($type:ty),+;)+) => {
        $($(impl Cell for $type { const HOLDS: Holds = Holds::$holds; })+)+
    };
}
pub(super) use cells;
