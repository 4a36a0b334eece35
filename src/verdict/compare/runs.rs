//! Computes the differences of one file from the base, before the verdicts.

use statrs::statistics::{Data, OrderStatistics};

use super::difference::{self, Difference, Measure};
use super::drift::Drift;
use super::pairs::{Pair, Pairs, cases_word};
use super::scatter::Scales;
use super::{Against, By, CaseChange, Change, Verdict, comparability, engines};
use crate::results::files::Results;
use crate::results::row::Row;

impl Against {
    pub(super) fn of(base: &Results, new: &Results, by: By) -> Self {
        let pairs = Pairs::of(base, new);
        let mut compared: Vec<(usize, Difference)> = Vec::new();
        let mut cases: Vec<CaseChange> = Vec::new();
        let drift = Drift::between(base, new);
        for pair in &pairs.cases {
            let (case, difference) = case(pair, by);
            compared.extend(difference.map(|difference| (cases.len(), difference)));
            cases.push(case);
        }
        let labelled = |&(n, difference): &(usize, Difference)| {
            let case = &cases[n];
            (
                case.label.as_str(),
                difference.with(drift.error(&case.block)),
            )
        };
        let labelled: Vec<_> = compared.iter().map(labelled).collect();
        let scales = Scales::of(&labelled);
        let mut remarks = remarks(&pairs, &scales, &compared, by);
        remarks.extend(drift.remark());
        let changes: Vec<Change> = labelled
            .iter()
            .map(|(label, found)| {
                Change::new(
                    found.log,
                    found.error * scales.for_label(label),
                    found.freedom.min(MOST_FREEDOM),
                )
            })
            .collect();
        let with_cases: Vec<_> = compared
            .iter()
            .map(|(n, found)| (&cases[*n], *found))
            .collect();
        let engines = engines::pooled(&with_cases, &drift);
        for ((n, _), change) in compared.iter().zip(changes) {
            cases[*n].change = Some(change);
        }
        Self {
            name: new.name.clone(),
            engines,
            cases,
            remarks,
        }
    }
}

/// Highest number of degrees of freedom of a case. From run to run, single cases change by chance more often and more
/// strongly than in a normal distribution, and their rounds do not show it. Student's distribution with 4 degrees of
/// freedom has such tails.
const MOST_FREEDOM: f64 = 4.0;

fn case(pair: &Pair, by: By) -> (CaseChange, Option<Difference>) {
    let row = pair.row();
    let mut case = CaseChange {
        case: row.case.clone(),
        label: row.label(),
        connection: row.connection,
        block: row.block(),
        measure: None,
        base: difference::ratio(row, by),
        new: None,
        change: None,
        verdict: Verdict::Unclear,
    };
    let difference = match pair {
        Pair::Broken(base, new, reason) => {
            case.verdict = match comparability::elsewhere(base, new) {
                Some(why) => Verdict::NotComparable(why),
                None => Verdict::Broken(reason.clone()),
            };
            None
        }
        Pair::Several(_, why) => {
            case.verdict = Verdict::NotComparable(why.clone());
            None
        }
        Pair::Measured(base, new) => {
            case.new = difference::ratio(new, by);
            let found = compare(base, new, by);
            found.map_err(|verdict| case.verdict = verdict).ok()
        }
    };
    if let Some(found) = &difference {
        case.measure = Some(found.measure);
        (case.base, case.new) = (Some(found.base), Some(found.new));
    }
    (case, difference)
}

/// Compares two rows of a case.
///
/// # Errors
/// Returns the verdict if there is nothing to judge.
fn compare(base: &Row, new: &Row, by: By) -> Result<Difference, Verdict> {
    if let Some(why) = comparability::obstacle(base, new) {
        return Err(Verdict::NotComparable(why));
    }
    let has_ratio = |row: &Row| difference::ratio(row, by).is_some();
    if base.is_reference() && has_ratio(base) && has_ratio(new) {
        return Err(Verdict::Reference);
    }
    Difference::between(base, new, by).map_err(Verdict::NotComparable)
}

fn remarks(
    pairs: &Pairs,
    scales: &Scales,
    compared: &[(usize, Difference)],
    by: By,
) -> Vec<String> {
    let mut remarks = pairs.left_out.clone();
    remarks.extend(reference(pairs, by));
    let of = |&(n, _): &(usize, Difference)| match pairs.cases[n] {
        Pair::Measured(base, new) => Some((base, new)),
        _ => None,
    };
    let measured: Vec<(&Row, &Row)> = compared.iter().filter_map(of).collect();
    remarks.extend(comparability::remarks(&measured));
    let is_absolute = |(_, found): &&(usize, Difference)| found.measure == Measure::Absolute;
    let absolute = compared.iter().filter(is_absolute).count();
    if absolute > 0 {
        remarks.push(format!(
            "{} compared by datagrams per second, without a reference in both: drift of the machine does \
             not cancel, and they do \
             not count for engines",
            cases_word(absolute)
        ));
    }
    if scales.common() > 1.0 {
        remarks.push(format!(
            "cases scatter {:.1} times as much between the runs as between their rounds; their intervals \
             are widened by that",
            scales.common()
        ));
    }
    remarks
}

/// Returns the remark on the reference, whose change no ratio shows.
fn reference(pairs: &Pairs, by: By) -> Option<String> {
    let changes: Vec<f64> = pairs
        .cases
        .iter()
        .filter_map(|pair| match pair {
            Pair::Measured(base, new) if compare(base, new, by) == Err(Verdict::Reference) => {
                Some(new.received_pps? / base.received_pps.filter(|&pps| pps > 0.0)? - 1.0)
            }
            _ => None,
        })
        .collect();
    let count = cases_word(changes.len());
    let median = 100.0 * Data::new(changes).median();
    median.is_finite().then(|| {
        format!(
            "{count} of the reference, std on connected sockets, not judged; its speed, drift of the \
             machine included, changed \
         by {median:+.1} % in the median"
        )
    })
}
