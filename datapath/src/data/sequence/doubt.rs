//! Reasons not to believe numbers.

use std::fmt;

/// Reason for which the losses of a source cannot be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// All numbers are the same.
    Constant,
    /// Numbers go in steps other than 1.
    Steps {
        /// Length of a step.
        step: u64,
        /// It is 1 in the other byte order.
        is_swapped: bool,
    },
    /// Most numbers do not follow each other.
    Unordered,
    /// Several series are mixed.
    Mixed,
    /// Parts of the series have fewer than eight numbers.
    ShortParts,
    /// Numbers begin again and come in copies: which of both is not known.
    Copies,
    /// Numbers jumped to 0 or a little more: a loss over the end of the numbers, or a new beginning.
    ToZero,
    /// The numbers may have gone around unseen.
    Around {
        /// Numbers until they begin again.
        numbers: u64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("the number is always the same"),
            Self::Steps { step, is_swapped } => {
                let order = if *is_swapped {
                    ": try the other byte order"
                } else {
                    ""
                };
                write!(f, "the numbers go in steps of {step}{order}")
            }
            Self::Unordered => f.write_str("the numbers do not follow each other"),
            Self::Mixed => f.write_str("the numbers are those of several series"),
            Self::ShortParts => f.write_str("the numbers begin again after a few"),
            Self::Copies => f.write_str("the numbers repeat, as copies or as new series"),
            Self::ToZero => f.write_str("the numbers jumped to 0, by a loss or by a new beginning"),
            Self::Around { numbers } => write!(
                f,
                "{numbers} numbers may have gone by in a gap, after which they begin again"
            ),
        }
    }
}
