//! Compares runs: one or several before a change with one or several after it.
//!
//! | step | module |
//! |---|---|
//! | match the rows of all files, and reject rows that must not be compared | `matching`, `comparability` |
//! | estimate changes and their errors from few sweeps | `sweeps` |
//! | give the verdicts | the judge, beside this module |
//! | draw them, and say what the numbers do not show | `table` |
//!
//! `docs/METHODOLOGY.md` gives the reasons, `docs/VALIDATION.md` the error rates.

mod comparability;
mod matching;
mod sweeps;
pub mod table;

use std::collections::BTreeSet;

use self::matching::MatchedCase;
use self::sweeps::{MeasuredCase, Sweeps};
use crate::results::files::Results;
use crate::results::row::{Row, Status};
use crate::stats;
use crate::text::digits::counted;
use crate::verdict::judge::{
    Criterion, JudgedCase, JudgedChange, Judgement, Metric, Obstacle, Verdict, judge, parts,
};
use crate::verdict::rank::Technique;

/// Results of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the files before and after.
    pub names: [Vec<String>; 2],
    /// Verdicts on engines, parts and cases.
    pub judgement: Judgement,
    /// Median change of the engines that did not change themselves, as a fraction: the machine, the kernel, or what
    /// they share. `None`: nothing was compared.
    pub machine: Option<f64>,
    /// Remarks on facts that the numbers do not show.
    pub remarks: Vec<String>,
    /// True if other programs took the CPUs of the benchmark's threads in more than a quarter of the cases.
    pub is_disturbed: bool,
    /// True if an engine that was measured before is judged in no case.
    is_one_missing: bool,
    /// The first case of each side.
    first: [Option<String>; 2],
}

/// Change of the whole machine, as a fraction, from which on a comparison answers nothing, as it cannot tell the kernel
/// from a neighbour. Of ten sweeps in a row on a virtual machine, the machine's speed had a standard deviation of 3.5 %
/// (docs/VALIDATION.md): two of them differ by this much in 4 of 100.
const MACHINE_MOVED: f64 = 0.10;

/// Compares the runs before with those after.
pub fn compare(sides: [&[Results]; 2], question: Criterion) -> Comparison {
    let (matched, left_out) = matching::cases(sides);
    let mut measured: Vec<(JudgedCase, MeasuredCase)> = Vec::new();
    let mut others: Vec<JudgedCase> = Vec::new();
    let mut compared: Vec<[&Row; 2]> = Vec::new();
    for matched in &matched {
        match taken(matched, question.by) {
            Ok(taken) => {
                measured.push((case(matched, question.by, Verdict::Unclear), taken));
                let [before, after] = matched.rows.each_ref().map(|rows| rows.last());
                compared.extend(before.zip(after).map(|(before, after)| [*before, *after]));
            }
            Err(verdict) => others.push(case(matched, question.by, verdict)),
        }
    }
    let left_out = left_out.iter();
    let left_out = left_out.map(|(why, count)| format!("{} {why}", counted(*count, "case")));
    let mut remarks: Vec<String> = left_out.collect();
    remarks.extend(comparability::remarks(&compared));
    let mut rows = compared.iter().flatten();
    let is_virtual = rows.any(|row| !row.virtualization.is_empty());
    let caution = "On a virtual machine, another run may differ by more.";
    remarks.extend(is_virtual.then(|| caution.to_owned()));
    let missing = missing(sides[0], &measured);
    let is_one_missing = missing.is_some();
    remarks.extend(missing);
    let (mut cases, measured): (Vec<JudgedCase>, Vec<MeasuredCase>) = measured.into_iter().unzip();
    cases.extend(others);
    let sweeps = Sweeps::new(measured, sides.map(<[Results]>::len), question.threshold);
    let judgement = judge(question, cases, 1, &sweeps);
    let changed = judgement.engines.iter();
    let changed = changed.filter(|it| it.whole.verdict.is_news() || it.is_unattributed());
    let changed: BTreeSet<&str> = changed.map(|engine| engine.label.as_str()).collect();
    let machine = stats::median(sweeps.machine_without(&changed));
    let disturbed = matched.iter();
    let disturbed = disturbed.filter(|it| it.is_measured() && it.verdict.is_some());
    Comparison {
        names: sides.map(|files| files.iter().map(|file| file.name.clone()).collect()),
        machine: machine.map(f64::exp_m1),
        judgement,
        remarks,
        is_disturbed: 4 * disturbed.count() > matched.len(),
        is_one_missing,
        first: sides.map(|files| {
            let mut rows = files.iter().flat_map(|file| &file.rows);
            let row = rows.find(|row| row.status == Status::Ok);
            row.map(|row| row.case.key())
        }),
    }
}

impl Comparison {
    /// Returns whether the question is open: some engine may be worse by more than the threshold, was measured before
    /// and is not judged, or the whole machine is worse.
    pub fn is_inconclusive(&self) -> bool {
        let Criterion { by, threshold } = self.judgement.question;
        let machine = by.upward_if_better(self.machine.unwrap_or_default());
        // An engine that is better than the others may be the only one that did not change.
        let mut engines = self.judgement.engines.iter();
        let is_one_better = engines.any(|engine| engine.whole.verdict == Verdict::Better);
        let is_machine_worse =
            machine <= -MACHINE_MOVED || is_one_better && machine <= -threshold.fraction();
        let is_open =
            !self.judgement.is_surely_not_worse() || self.is_one_missing || is_machine_worse;
        !self.judgement.is_worse() && is_open
    }

    /// Returns why no case was compared. `None`: some were.
    pub fn obstacle(&self) -> Option<String> {
        let mut cases = self.judgement.cases.iter();
        if cases.any(|case| case.answer.verdict.was_judged()) {
            return None;
        }
        let cases = self.judgement.cases.iter();
        let reasons = cases.filter_map(|case| case.answer.verdict.reason());
        let mut reasons = reasons.map(ToString::to_string).chain(self.remarks.clone());
        let first = reasons
            .next()
            .unwrap_or_else(|| "there are no rows".to_owned());
        Some(match &self.first {
            [Some(before), Some(after)] if self.judgement.cases.is_empty() && before != after => {
                format!(
                    "{first}: BEFORE has {before}, AFTER {after} (udpbench ab measures two settings in turn)"
                )
            }
            _ => first,
        })
    }
}

/// Returns the engines that were measured before and can be judged in no case, in a remark.
fn missing(before: &[Results], measured: &[(JudgedCase, MeasuredCase)]) -> Option<String> {
    let rows = before.iter().flat_map(|file| &file.rows);
    let labels = rows.filter(|row| row.status == Status::Ok).map(Row::label);
    let labels: BTreeSet<String> = labels.collect();
    let is_missing = |label: &String| !measured.iter().any(|(case, _)| case.label == *label);
    let missing: Vec<String> = labels.into_iter().filter(is_missing).collect();
    (!missing.is_empty()).then(|| match measured {
        [] => "no engine is judged in any case".to_owned(),
        _ => format!("judged in no case, as said above: {}", missing.join(", ")),
    })
}

fn case(matched: &MatchedCase, by: Metric, verdict: Verdict) -> JudgedCase {
    let row = matched.row();
    let values = matched.rows.each_ref().map(|rows| {
        let values = rows.iter().map(|row| value(row, by));
        values.collect::<Option<Vec<f64>>>().and_then(stats::median)
    });
    JudgedCase {
        label: row.label(),
        key: row.case.key(),
        parts: parts::of_case(&row.case),
        values,
        answer: JudgedChange {
            cases: 1,
            change: None,
            verdict,
        },
    }
}

/// Returns the logarithms of a case.
///
/// # Errors
/// Returns the verdict if there is nothing to judge.
fn taken(matched: &MatchedCase, by: Metric) -> Result<MeasuredCase, Verdict> {
    let (rows, first) = (&matched.rows, matched.row());
    if matched.is_measured() {
        let mut all = rows.iter().flatten();
        let is_at_a_rate = by == Metric::Speed && first.target_pps.is_some();
        let why = all.find_map(|row| comparability::obstacle(first, row));
        if let Some(why) = why.or(is_at_a_rate.then_some(Obstacle::AtARate)) {
            return Err(Verdict::NotComparable(why));
        }
    }
    if let Some(verdict) = &matched.verdict {
        return Err(verdict.clone());
    }
    let logs = |side: usize| -> Option<Vec<f64>> {
        let values = rows[side].iter().map(|row| value(row, by));
        values.map(|value| Some(value?.ln())).collect()
    };
    let Some((before, after)) = logs(0).zip(logs(1)) else {
        let what = by.words()[0].to_owned();
        return Err(Verdict::NotComparable(Obstacle::NoValue { what }));
    };
    let state_pct = match first.virtualization.as_str() {
        "" => 0.0,
        _ => Technique::of(&first.case).state_pct(),
    };
    Ok(MeasuredCase {
        label: first.label(),
        block: first.block(),
        parts: parts::of_case(&first.case),
        logs: [before, after],
        within: sweeps::mean(rows.iter().flatten().map(|row| within(row, by))),
        state: state_pct / 100.0,
    })
}

/// Returns the value of a row that is compared. `None`: it is not a positive number.
fn value(row: &Row, by: Metric) -> Option<f64> {
    let value = match by {
        Metric::Speed => row.received_pps,
        Metric::Cpu => row.cpu_ns_per_packet,
    };
    value.filter(|value| value.is_finite() && *value > 0.0)
}

/// Returns the variance of the logarithm of a row's value, by its windows. 0: it is not known.
fn within(row: &Row, by: Metric) -> f64 {
    let deviation_pct = match by {
        Metric::Speed => row.residual_sd_pct,
        Metric::Cpu => row.residual_cpu_sd_pct,
    };
    let deviation_pct = deviation_pct.filter(|pct| (0.0..MOST_SCATTER_PCT).contains(pct));
    let windows = row.counted_windows().max(1) as f64;
    stats::error_of_estimate(deviation_pct.unwrap_or_default() / 100.0, windows).powi(2)
}

/// Scatter from which on a number in a file is damaged, in percent.
const MOST_SCATTER_PCT: f64 = 1e4;

#[cfg(test)]
mod tests;
