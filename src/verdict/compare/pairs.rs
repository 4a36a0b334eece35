//! Matches the rows of two files.

use std::collections::BTreeMap;

use crate::results::files::Results;
use crate::results::row::{Row, Status};

/// Rows of two files, by case.
pub(super) struct Pairs<'a> {
    /// Cases that were measured in the base and are in the new file.
    pub(super) cases: Vec<Pair<'a>>,
    /// Reasons why cases are left out, with their numbers: without a partner, or not measured.
    pub(super) left_out: Vec<String>,
}

/// Case that was measured in the base.
pub(super) enum Pair<'a> {
    /// Measured in both files.
    Measured(&'a Row, &'a Row),
    /// Measured in the base, failed in the new file. The text is the reason.
    Broken(&'a Row, &'a Row, String),
    /// Ambiguous case with several rows: the first row, and the reason.
    Several(&'a Row, String),
}

impl<'a> Pairs<'a> {
    pub(super) fn of(base: &'a Results, new: &'a Results) -> Self {
        let mut by_case: BTreeMap<&str, [Vec<&Row>; 2]> = BTreeMap::new();
        for (side, results) in [base, new].into_iter().enumerate() {
            for row in &results.rows {
                by_case.entry(&row.case).or_default()[side].push(row);
            }
        }
        let mut cases = Vec::new();
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        for [base, new] in by_case.values() {
            match pair(base, new) {
                Ok(pair) => cases.push(pair),
                Err(how) => *left_out.entry(how).or_default() += 1,
            }
        }
        cases.sort_by_cached_key(|pair| {
            let row = pair.row();
            (row.block(), row.label(), row.connection)
        });
        let left_out = left_out
            .iter()
            .map(|(how, count)| format!("{} {how}", cases_word(*count)));
        Self {
            cases,
            left_out: left_out.collect(),
        }
    }
}

impl<'a> Pair<'a> {
    /// Returns the row that names the case.
    pub(super) fn row(&self) -> &'a Row {
        match self {
            Self::Measured(row, _) | Self::Broken(row, ..) | Self::Several(row, _) => row,
        }
    }
}

/// Matches the rows of a case.
///
/// # Errors
/// Returns an error if there is nothing to compare, and says why.
fn pair<'a>(base: &[&'a Row], new: &[&'a Row]) -> Result<Pair<'a>, String> {
    let (base, new) = match (base, new) {
        ([base], [new]) => (*base, *new),
        (_, []) => return Err("only in BASE".to_owned()),
        ([], _) => return Err("only in NEW".to_owned()),
        ([first, ..], _) => {
            let (file, rows) = if base.len() > 1 {
                ("BASE", base.len())
            } else {
                ("NEW", new.len())
            };
            let why = format!("{rows} rows of this case in {file}: compare one run at a time");
            return Ok(Pair::Several(first, why));
        }
    };
    match (status(base), status(new)) {
        (Status::Ok, Status::Ok) => Ok(Pair::Measured(base, new)),
        (Status::Ok, Status::Failed) => {
            let reason = if new.reason.is_empty() {
                NOTHING_CAME
            } else {
                &new.reason
            };
            Ok(Pair::Broken(base, new, reason.to_owned()))
        }
        (before, now) if before == now => Err(format!("{now} in both")),
        (Status::Ok, now) => Err(format!("{now} in NEW")),
        (before, _) => Err(format!("{before} in BASE")),
    }
}

const NOTHING_CAME: &str = "nothing was received";

/// Returns the status of a row. A case that received nothing has failed, also in files of builds that called it ok.
fn status(row: &Row) -> Status {
    match row.status {
        Status::Ok
            if row.received_packets == Some(0) && row.received_pps.is_none_or(|pps| pps == 0.0) =>
        {
            Status::Failed
        }
        status => status,
    }
}

pub(super) fn cases_word(count: usize) -> String {
    format!("{count} case{}", if count == 1 { "" } else { "s" })
}
