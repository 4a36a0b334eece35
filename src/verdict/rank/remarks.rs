//! Remarks on a ranking: rows that were left out, and rows that may mislead.

use std::collections::BTreeSet;

use super::eligible::{self, EligibleRows};
use super::measure::{Measure, Unit};
use crate::results::row::Row;
use crate::text::digits::counted;

pub(super) fn of(eligible: &EligibleRows) -> Vec<String> {
    let left_out = eligible.left_out.iter();
    let mut remarks: Vec<String> = left_out
        .map(|(why, &count)| format!("{} left out: {why}", counted(count, "row")))
        .collect();
    remarks.extend(without_ratio(eligible));
    remarks.extend(repeats(eligible));
    let all = eligible.rows().count();
    for (is_so, what) in CAUTIONS {
        let count = eligible.rows().filter(|(_, row)| is_so(row)).count();
        if count > 0 {
            remarks.push(format!("{count} of {} {what}", counted(all, "row")));
        }
    }
    remarks
}

type Caution = fn(&Row) -> bool;

/// Tests for rows that ask for caution, with their remarks.
const CAUTIONS: [(Caution, &str); 4] = [
    (
        lacks_interval,
        "with a value that has no interval, and no place",
    ),
    (
        |row| row.contaminated_windows.is_some_and(|windows| windows > 0),
        "with contaminated windows (contaminated_windows)",
    ),
    (
        Row::was_throttled,
        "measured on a throttled board (throttled)",
    ),
    (|row| !row.warnings.is_empty(), "with warnings (warnings)"),
];

fn lacks_interval(row: &Row) -> bool {
    let readings = Measure::ALL.into_iter().filter_map(|measure| {
        let ratio = measure.of(row, Unit::TimesStd);
        ratio.or_else(|| measure.of(row, Unit::Absolute))
    });
    readings
        .into_iter()
        .any(|reading| reading.interval().is_none())
}

/// Returns the remark on rows without a ratio to std in groups where others have one. Ratios and speeds cannot be
/// compared.
fn without_ratio(eligible: &EligibleRows) -> Option<String> {
    let groups = eligible.groups.iter();
    let groups = groups.filter(|(group, _)| group.asked.is_none());
    let rows = groups.flat_map(|(_, engines)| {
        let unit = eligible::unit(Measure::Speed, engines);
        let rows = engines.values().flatten();
        rows.filter(move |row| Measure::Speed.of(row, unit).is_none())
    });
    let (count, why) = (
        rows.count(),
        "no ratio to std, but others of its group have one",
    );
    (count > 0).then(|| format!("{} left out: {why}", counted(count, "row")))
}

fn repeats(eligible: &EligibleRows) -> Option<String> {
    let engines = eligible
        .groups
        .values()
        .flat_map(|engines| engines.values());
    let repeated: Vec<&Vec<&Row>> = engines.filter(|rows| rows.len() > 1).collect();
    let rows = repeated.iter().copied().flatten();
    let kernels: BTreeSet<_> = rows.map(|row| (&row.kernel, &row.remote_kernel)).collect();
    let kernels = match kernels.len() {
        0 | 1 => String::new(),
        several => format!(", on {several} kernels"),
    };
    (!repeated.is_empty()).then(|| {
        let cases = counted(repeated.len(), "case");
        format!("{cases} measured more than once and averaged{kernels}")
    })
}
