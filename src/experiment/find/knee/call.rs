//! The parameter that a search for a knee chooses.

use crate::data::{Batch, Case, Train};

/// Number of datagrams per call that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `--batch`.
    Batch,
    /// `--train`.
    Train,
}

impl Call {
    /// Returns the name of the parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Train => "train",
        }
    }

    /// Returns the parameter that is searched in a case, which is its train if it has one, with the highest value.
    pub fn of(case: &Case) -> (Self, u16) {
        match (case.train, case.batch) {
            (Some(train), _) => (Self::Train, train.into()),
            (None, batch) => (Self::Batch, batch.map_or(1, u16::from)),
        }
    }

    /// Returns the case without the parameter that is searched.
    pub fn left_out(case: &Case) -> Case {
        match Self::of(case).0 {
            Self::Train => Case {
                train: None,
                ..*case
            },
            Self::Batch => Case {
                batch: None,
                ..*case
            },
        }
    }

    /// Returns the case with another number of datagrams per call. `None`: the parameter cannot have it.
    pub(super) fn set(self, case: &Case, datagrams: u16) -> Option<Case> {
        let mut case = *case;
        match self {
            Self::Train => case.train = Some(Train::try_from(datagrams).ok()?),
            Self::Batch => case.batch = Some(Batch::try_from(datagrams).ok()?),
        }
        Some(case)
    }
}
