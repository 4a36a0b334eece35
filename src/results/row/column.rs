//! Description of columns: unit, meaning, type, and the runs that show them.

use super::Short;

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
    /// Period that the column covers.
    pub over: Over,
    /// Conditions under which the column is empty.
    pub empty: &'static str,
    /// Type of the values.
    pub holds: Holds,
    /// True if an empty value is `null` in JSON. Otherwise it is an empty text, or the column is never empty.
    pub may_be_null: bool,
    /// Runs in which a CSV has the column by default.
    pub short: Short,
}

/// Period that a column covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Settings of the plan.
    Plan,
    /// State of host and program at the start.
    Start,
    /// Time from the opening to the closing of each window.
    Window,
    /// Datagrams sent from the opening of each window on, until the queues were empty.
    Drain,
    /// Each window with its warm-up and its drain.
    Run,
    /// Windows of `--verify`.
    Verify,
    /// Whole case, over all windows.
    Case,
}

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Texts.
    Text,
    /// Sentences with a code.
    Sentence,
    /// Several of them, which a CSV joins.
    Sentences,
    /// Whole numbers.
    WholeNumbers,
    /// Numbers with decimals.
    Decimals,
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
                Self {$($(
                    $name: columns!(@value $value $(, $places)?),
                    $($low: low::<$places>($value), $high: high::<$places>($value),)?
                )+)+}
            }

            $($($(
                #[doc = concat!("Returns `", stringify!($name), "` with its interval.")]
                pub fn $get(&self) -> $crate::results::row::Interval {
                    [self.$name, self.$low, self.$high]
                }
            )?)+)+

            /// Returns the row with line breaks and control characters escaped in every text: see
            /// [`escape`](crate::term::escape). For display; files have the original texts.
            #[must_use]
            pub fn escaped_for_terminal(&self) -> Self {
                Self {$($(
                    $name: Cell::escaped(&self.$name),
                    $($low: self.$low, $high: self.$high,)?
                )+)+}
            }
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
    (@value $value:expr, $places:literal) => { middle::<$places>($value) };
    (@column $name:ident, $doc:expr, $type:ty, $section:literal, $unit:literal, $over:ident, $short:ident,
        $empty:literal) => {
        Column {
            name: stringify!($name),
            unit: $unit,
            doc: $doc,
            section: $section,
            over: Over::$over,
            empty: $empty,
            holds: <$type as Cell>::HOLDS,
            may_be_null: <$type as Cell>::MAY_BE_NULL,
            short: Short::$short,
        }
    };
}
pub(super) use columns;

/// Type of the values of a column.
pub(super) trait Cell: Clone {
    const HOLDS: Holds;
    const MAY_BE_NULL: bool = false;

    /// Returns the value with the control characters of texts escaped.
    fn escaped(&self) -> Self {
        self.clone()
    }
}

impl<T: Cell> Cell for Option<T> {
    const HOLDS: Holds = T::HOLDS;
    const MAY_BE_NULL: bool = true;

    fn escaped(&self) -> Self {
        self.as_ref().map(Cell::escaped)
    }
}

macro_rules! cells {
    ($($holds:ident: $($type:ty),+;)+) => {
        $($(impl Cell for $type { const HOLDS: Holds = Holds::$holds; })+)+
    };
}
pub(super) use cells;
