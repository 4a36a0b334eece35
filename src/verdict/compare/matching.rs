//! Matches the rows of several files on two sides, by case.

use std::collections::BTreeMap;

use super::comparability;
use crate::results::files::Results;
use crate::results::row::{Failure, Reason, Row, Status, Warning};
use crate::verdict::judge::{Obstacle, Verdict};

/// Case with its rows.
pub(super) struct MatchedCase<'a> {
    /// Its rows in the files before, and in those after. None after: it was not measured in all of them.
    pub(super) rows: [Vec<&'a Row>; 2],
    /// Its verdict, if no change is to be judged.
    pub(super) verdict: Option<Verdict>,
}

const SIDES: [&str; 2] = ["BEFORE", "AFTER"];

/// Returns the cases that were measured in all files before and are in all files after, and why others are left out,
/// with their numbers.
pub(super) fn cases(sides: [&[Results]; 2]) -> (Vec<MatchedCase<'_>>, BTreeMap<String, usize>) {
    let counts = sides.map(<[Results]>::len);
    let mut by_case: BTreeMap<String, [Vec<Vec<&Row>>; 2]> = BTreeMap::new();
    for (side, files) in sides.into_iter().enumerate() {
        for (file, results) in files.iter().enumerate() {
            for row in &results.rows {
                let none = || counts.map(|count| vec![Vec::new(); count]);
                by_case.entry(row.case.key()).or_insert_with(none)[side][file].push(row);
            }
        }
    }
    let rows = sides[1].iter().flat_map(|results| &results.rows);
    let mut warnings = rows.flat_map(|row| &row.warnings);
    let busy = warnings.find(|warning| warning.is_other_programs());
    let mut cases = Vec::new();
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for rows in by_case.values() {
        match matched(rows, busy) {
            Ok(matched) => cases.push(matched),
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    cases.sort_by_cached_key(|matched| {
        let row = matched.row();
        (row.block(), row.label(), row.connection)
    });
    (cases, left_out)
}

impl<'a> MatchedCase<'a> {
    /// Returns the row that names the case.
    pub(super) fn row(&self) -> &'a Row {
        self.rows[0][0]
    }

    /// Returns whether it was measured in all files.
    pub(super) fn is_measured(&self) -> bool {
        !self.rows[1].is_empty()
    }
}

/// Matches the rows of a case, by side and file. `busy`: the other programs that used CPU time in a run after.
///
/// # Errors
/// Returns an error if there is nothing to compare, and says why.
fn matched<'a>(
    rows: &[Vec<Vec<&'a Row>>; 2],
    busy: Option<&Warning>,
) -> Result<MatchedCase<'a>, String> {
    for (side, files) in SIDES.iter().zip(rows) {
        if let Some(several) = files.iter().find(|rows| rows.len() > 1) {
            let (rows, side) = (several.len(), (*side).to_owned());
            let why = Obstacle::SeveralRows { rows, side };
            return Ok(MatchedCase {
                rows: [vec![several[0]], Vec::new()],
                verdict: Some(Verdict::NotComparable(why)),
            });
        }
    }
    for (one, other) in [(0, 1), (1, 0)] {
        if rows[other].iter().all(Vec::is_empty) {
            return Err(format!("only {}", SIDES[one]));
        }
    }
    if rows.iter().flatten().any(Vec::is_empty) {
        return Err("not in every file".to_owned());
    }
    let [before, after] = [0, 1].map(|side| rows[side].concat());
    if let Some(row) = before.iter().find(|row| status(row) != Status::Ok) {
        return Err(format!("{} {}", status(row), SIDES[0]));
    }
    let failed = after.iter().filter(|row| status(row) == Status::Failed);
    let failed: Vec<&Row> = failed.copied().collect();
    if let Some(broken) = failed.first() {
        let failure = match &broken.reason {
            Reason::Failed(failure) => failure.clone(),
            _ => Failure::NothingReceived {
                hindrance: String::new(),
            },
        };
        let (failures, runs) = (failed.len(), after.len());
        let verdict = match busy.filter(|_| failure.may_be_starved()) {
            Some(programs) => {
                let programs = programs.to_string();
                let failed = Box::new(Obstacle::Failed { failure });
                Verdict::Undecided(Obstacle::TooBusy { programs, failed })
            }
            None if failures < runs => Verdict::Undecided(Obstacle::FailedInRuns {
                failures,
                runs,
                failure,
            }),
            None => match comparability::other_system(before[0], broken) {
                Some(why) => Verdict::NotComparable(why),
                None => Verdict::Broken(Obstacle::Failed { failure }),
            },
        };
        return Ok(MatchedCase {
            rows: [vec![before[0]], Vec::new()],
            verdict: Some(verdict),
        });
    }
    if let Some(row) = after.iter().find(|row| status(row) != Status::Ok) {
        return Err(format!("{} {}", status(row), SIDES[1]));
    }
    let is_disturbed = |rows: &Vec<&Row>| rows.iter().any(|row| row.lost_cpu_time());
    let disturbed = SIDES.iter().zip([&before, &after]);
    let disturbed = disturbed.filter(|(_, rows)| is_disturbed(rows));
    let disturbed: Vec<&str> = disturbed.map(|(side, _)| *side).collect();
    let sides = disturbed.join(" and ");
    let verdict = (!sides.is_empty()).then_some(Verdict::Undecided(Obstacle::Disturbed { sides }));
    let rows = [before, after];
    Ok(MatchedCase { rows, verdict })
}

/// Returns the status of a row. A case that received nothing has failed.
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
