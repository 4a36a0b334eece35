//! All that a row is made from.

use std::time::Duration;

use super::Outcome;
use crate::data::{Case, Pair, Sample, Verified};

/// All that a row is made from.
#[derive(Clone, Debug)]
pub struct RowInput<'a> {
    /// The case.
    pub case: &'a Case,
    /// What is known of its engines.
    pub engines: Pair<'a>,
    /// Where it was pinned.
    pub pin: String,
    /// The network interfaces of this host and of the other one, in words. Empty: all is on one host.
    pub nics: (String, String),
    /// What may mislead about it.
    pub warnings: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Its windows.
    pub samples: &'a [Sample],
    /// The rounds whose windows were measured a second time, and why.
    pub repeated: &'a [(u32, String)],
    /// What was found in its datagrams, with `--verify`.
    pub verified: Option<Verified>,
    /// The windows of the reference case of its block.
    pub reference: &'a [Sample],
    /// The windows of the same case in half duplex, if this is in full.
    pub half: &'a [Sample],
    /// The windows of each case of its block that has another engine.
    pub others: &'a [&'a [Sample]],
    /// How long traffic takes to settle on this machine, if that is known.
    pub settles_after: Option<Duration>,
    /// What `--until` asked for.
    pub until_pct: Option<f64>,
}
