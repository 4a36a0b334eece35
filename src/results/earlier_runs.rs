//! Rates of earlier runs of the same cases on the same machine. They show how far the next run may differ from this one.

use serde::{Deserialize, Serialize};

/// Rates of one case in earlier runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierRuns {
    /// Key of the case.
    pub case: String,
    /// Datagrams received per second in each run, at least four.
    pub received_pps: Vec<f64>,
}
