//! Grades the quality of a run, with the reasons for the grade.

mod doubts;

use std::cmp::Reverse;
use std::fmt;

use self::doubts::{DOUBTS, Doubt, GRAVE};
use crate::data::Workload;
use crate::results::row::{Row, Status};
use crate::stats;

/// Grades of a run, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// The machine is set up, no case failed, lost 1 % or more, was contaminated or unsteady, and half of the
    /// intervals are within ± 3 %.
    Good,
    /// Half of the intervals are within ± 10 %, at most half of the cases lost 1 % or more, and at most a quarter are in
    /// doubt for other reasons.
    Fair,
    /// Neither good nor fair.
    Poor,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        })
    }
}

/// The quality of a run. Its `Display` is one line: the grade and the first three reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// The grade.
    pub grade: Grade,
    /// Reasons for a grade below good: the most frequent doubt first, then the loss and the width of the intervals.
    /// Empty for a good run.
    pub reasons: Vec<String>,
    /// The fix for the most frequent problem that has one. `None` unless the run is poor.
    pub fix: Option<&'static str>,
    /// Half of the median width of the intervals of rates, or of round-trip times at given rates, in percent. `None`
    /// if there is no interval.
    pub half_width_pct: Option<f64>,
}

/// Loss in percent of the datagrams sent, from which on a case is no basis for a decision: a drop skips work, so the
/// sender seems cheaper, and an application would have to send again.
pub const LOSSY_PCT: f64 = 1.0;

const GOOD_PCT: f64 = 3.0;
const FAIR_PCT: f64 = 10.0;

impl Quality {
    /// Grades the cases of a run. Skipped cases were not to be measured and do not count.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let cases = rows.into_iter();
        let cases: Vec<&Row> = cases.filter(|row| row.status != Status::Skipped).collect();
        let widths = cases.iter().filter_map(|row| half_width_pct_of(row));
        let half_width_pct = stats::median(widths.collect());
        let grade = grade(&cases, half_width_pct);
        Self {
            grade,
            fix: (grade == Grade::Poor).then(|| fix(&cases)),
            reasons: match grade {
                Grade::Good => Vec::new(),
                Grade::Fair | Grade::Poor => reasons(&cases, half_width_pct),
            },
            half_width_pct,
        }
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.reasons[..self.reasons.len().min(3)];
        let colon = if first.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.grade, first.join("; "))
    }
}

fn grade(cases: &[&Row], half_width_pct: Option<f64>) -> Grade {
    let are_any = |doubts: &[Doubt], row: &Row| doubts.iter().any(|doubt| doubt.is_of(row));
    let count = |doubts| cases.iter().filter(|row| are_any(doubts, row)).count();
    let lossy = cases.iter().filter(|row| is_lossy(row)).count();
    match half_width_pct {
        _ if 2 * lossy > cases.len() => Grade::Poor,
        _ if 4 * count(&DOUBTS[1..]) > cases.len() => Grade::Poor,
        Some(pct) if pct <= GOOD_PCT && lossy == 0 && count(&DOUBTS[..GRAVE]) == 0 => Grade::Good,
        Some(pct) if pct <= FAIR_PCT => Grade::Fair,
        _ => Grade::Poor,
    }
}

/// Returns half of the interval of a case's rate, in percent of the rate. For rr at a given rate, uses the round-trip
/// times instead.
fn half_width_pct_of(row: &Row) -> Option<f64> {
    let has_rate = row.target_pps.is_some();
    let (middle, low, high) = if has_rate && row.workload == Workload::Rr {
        (row.rtt_p50_us, row.rtt_p50_us_low, row.rtt_p50_us_high)
    } else {
        (
            row.received_pps,
            row.received_pps_low,
            row.received_pps_high,
        )
    };
    let middle = middle.filter(|&middle| middle > 0.0)?;
    Some(50.0 * (high? - low?) / middle)
}

fn is_lossy(row: &Row) -> bool {
    row.loss_pct.is_some_and(|loss_pct| loss_pct >= LOSSY_PCT)
}

/// Returns the fix for a poor run.
fn fix(cases: &[&Row]) -> &'static str {
    let count = |doubt: &Doubt| cases.iter().filter(|row| doubt.is_of(row)).count();
    let lossy = cases.iter().filter(|row| is_lossy(row)).count();
    let doubts = DOUBTS.iter().filter(|doubt| 4 * count(doubt) > cases.len());
    let worst = doubts.max_by_key(|doubt| count(doubt));
    match worst {
        Some(doubt) => doubt.fix,
        None if 2 * lossy > cases.len() => {
            "udpbench find lossless (the rate at which each loses nothing), or run this again with a larger --rcvbuf"
        }
        None => "run this again with --until 5%: until intervals are that narrow",
    }
}

/// Returns the reasons with their numbers of cases: the most frequent doubt, the loss, the width of the intervals,
/// then the other doubts, the most frequent first. Doubts with equal counts keep the order of [`DOUBTS`].
fn reasons(cases: &[&Row], half_width_pct: Option<f64>) -> Vec<String> {
    if cases.is_empty() {
        return vec!["no case was measured".to_owned()];
    }
    let count = |is_of: &dyn Fn(&Row) -> bool| cases.iter().filter(|row| is_of(row)).count();
    let is_wide = |row: &Row| half_width_pct_of(row).is_some_and(|pct| pct > GOOD_PCT);
    let has_none = |row: &Row| row.status == Status::Ok && half_width_pct_of(row).is_none();
    let doubts = DOUBTS.iter();
    let mut counts: Vec<(usize, String)> = doubts
        .map(|doubt| (count(&|row| doubt.is_of(row)), doubt.what.to_owned()))
        .collect();
    counts.push((count(&has_none), "no interval".to_owned()));
    counts.sort_by_key(|(count, _)| Reverse(*count));
    let lossy = format!("{LOSSY_PCT} % or more of the datagrams lost");
    counts.insert(1, (count(&is_lossy), lossy));
    let wide = format!("intervals wider than ± {GOOD_PCT} %");
    let is_too_wide = half_width_pct.is_some_and(|pct| pct > FAIR_PCT);
    counts.insert(2, (if is_too_wide { 0 } else { count(&is_wide) }, wide));
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, what)| match cases.len() {
        1 => what,
        all => format!("{what} ({count} of {all} cases)"),
    });
    let too_wide = is_too_wide.then(|| format!("half of the intervals wider than ± {FAIR_PCT} %"));
    too_wide.into_iter().chain(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    /// Returns a case with this half width of its interval, in percent, and these warnings.
    fn row(half_width_pct: f64, warnings: &[&str]) -> Row {
        let rate = 1000.0;
        Row {
            received_pps: Some(rate),
            received_pps_low: Some(rate * (1.0 - half_width_pct / 100.0)),
            received_pps_high: Some(rate * (1.0 + half_width_pct / 100.0)),
            warnings: warnings.iter().map(|text| (*text).to_owned()).collect(),
            loss_pct: Some(0.9),
            ..ordinary_row()
        }
    }

    fn shown(rows: &[Row]) -> String {
        Quality::of(rows).to_string()
    }

    const UNSTEADY: &str = "queues were filling or emptying (queue_growth_packets): use";

    #[test]
    fn narrow_intervals_without_a_doubt_are_good() {
        let sharing = row(2.9, &["3 threads share 2 CPUs", "the load average over"]);
        assert_eq!(shown(&[sharing, row(1.0, &[]), row(20.0, &[])]), "good");
    }

    #[test]
    fn half_of_the_intervals_decide() {
        let fair = Quality::of(&[row(3.1, &[]), row(1.0, &[]), row(9.0, &[])]);
        let shown = "fair: intervals wider than ± 3 % (2 of 3 cases)";
        assert_eq!(fair.to_string(), shown);
        let middle = fair.half_width_pct.expect("intervals");
        assert!((middle - 3.1).abs() < 1e-9, "{middle}");
        let poor = Quality::of(&[row(10.1, &[]), row(10.1, &[]), row(1.0, &[])]);
        assert_eq!(poor.grade, Grade::Poor);
    }

    #[test]
    fn one_grave_doubt_is_not_good_and_more_than_a_quarter_are_poor() {
        let with = |doubtful: usize, warning: &str| {
            let mut rows = vec![row(1.0, &[]); 8];
            rows[..doubtful].fill(row(1.0, &[warning]));
            shown(&rows)
        };
        let reason = "traffic not settled";
        assert_eq!(with(1, UNSTEADY), format!("fair: {reason} (1 of 8 cases)"));
        assert_eq!(with(2, UNSTEADY), format!("fair: {reason} (2 of 8 cases)"));
        assert_eq!(with(3, UNSTEADY), format!("poor: {reason} (3 of 8 cases)"));
        let few = "intervals of 5 rounds cover 93.8 %, not 95 %";
        assert_eq!(with(2, few), "good");
        assert!(with(3, few).starts_with("poor: fewer than six rounds"));
    }

    #[test]
    fn one_case_that_loses_is_not_good_and_more_than_half_are_poor() {
        let with = |lossy: usize| {
            let mut rows = vec![row(1.0, &[]); 4];
            rows[..lossy].fill(Row {
                loss_pct: Some(1.0),
                ..row(1.0, &[])
            });
            shown(&rows)
        };
        let reason = "1 % or more of the datagrams lost";
        assert_eq!(with(0), "good");
        assert_eq!(with(1), format!("fair: {reason} (1 of 4 cases)"));
        assert_eq!(with(2), format!("fair: {reason} (2 of 4 cases)"));
        assert_eq!(with(3), format!("poor: {reason} (3 of 4 cases)"));
    }

    #[test]
    fn a_machine_that_is_not_set_up_is_not_good_and_not_poor_for_that_alone() {
        let governor = row(1.0, &["the cpufreq governor is ondemand"]);
        let shown = shown(&[governor.clone(), governor]);
        assert!(
            shown.starts_with("fair: the machine is not set up"),
            "{shown}"
        );
    }

    #[test]
    fn where_the_rate_was_given_round_trips_decide() {
        let asked = Row {
            workload: Workload::Rr,
            target_pps: Some(1000.try_into().expect("in range")),
            rtt_p50_us: Some(50.0),
            rtt_p50_us_low: Some(40.0),
            rtt_p50_us_high: Some(60.0),
            ..row(0.1, &[])
        };
        assert_eq!(Quality::of(&[asked]).grade, Grade::Poor);
    }

    #[test]
    fn three_reasons_are_shown_a_doubt_first() {
        let failed = Row {
            status: Status::Failed,
            ..row(1.0, &[])
        };
        let rows = [
            failed,
            row(4.0, &[UNSTEADY, "benchmark threads lost CPU time in"]),
            row(4.0, &[UNSTEADY]),
            row(4.0, &[]),
        ];
        let expected = "poor: traffic not settled (2 of 4 cases); intervals wider than ± 3 % (3 of 4 cases); \
                        failed (1 of 4 cases)";
        assert_eq!(shown(&rows), expected);
        assert_eq!(Quality::of(&rows).reasons.len(), 4);
    }

    #[test]
    fn without_an_interval_or_a_case_it_is_poor() {
        let published = Row {
            received_pps_low: None,
            ..row(1.0, &[])
        };
        assert_eq!(shown(&[published]), "poor: no interval");
        let skipped = Row {
            status: Status::Skipped,
            ..row(1.0, &[])
        };
        assert_eq!(shown(&[skipped]), "poor: no case was measured");
        assert_eq!(shown(&[]), "poor: no case was measured");
    }
}
