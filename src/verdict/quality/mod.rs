//! Grades the quality of a run, with the reasons for the grade.
//!
//! | graded | by |
//! |---|---|
//! | setup of the machine | warnings of `udpbench check`, emulation, debug builds |
//! | disturbance | heat, other programs, unsettled traffic, failed and interrupted cases |
//! | scatter within the run | intervals, number of rounds |
//! | reproducibility, if there are earlier runs | by how much they differed |
//!
//! Loss at full speed is named and not graded: there, senders are to outrun receivers.

mod doubts;

use std::cmp::Reverse;
use std::fmt;

use self::doubts::{DOUBTS, Doubt, FAILED, GRAVE, OF_SETUP};
use crate::data::{Buffer, Workload};
use crate::results::row::{Row, Status};
use crate::stats;

/// Grades of a run, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// The machine is set up, no case failed, was contaminated or unsteady, or lost 1 % or more although it was not
    /// at full speed, half of the intervals are within +-3 %, and earlier runs of half of the cases within +-10 %.
    Good,
    /// Half of the intervals are within +-10 %, at most half of the cases lost 1 % or more although they were not at
    /// full speed, and at most a quarter are in doubt for other reasons.
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

/// A step to a better run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    /// A step in words.
    Words(&'static str),
    /// A step in words, then `udpbench check` and the same again.
    Check(&'static str),
    /// A step in words, then the same again.
    Again(&'static str),
    /// The same again, with receive buffers of the usual size.
    Buffers,
    /// The search for the rate at which nothing is lost, or larger buffers.
    Lossless,
    /// What is missing.
    Resume,
    /// The same again, with a CPU of its own for each end.
    Apart,
    /// The same again, with longer windows and a longer warm-up.
    Longer,
    /// The same again, with six rounds or more.
    Rounds,
    /// The same again, until intervals are narrow.
    Until,
}

/// The quality of a run. Its `Display` is one line: the grade, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// The grade.
    pub grade: Grade,
    /// Reasons for the grade, that of most cases first. The loss at full speed, which is no reason, is second.
    pub reasons: Vec<String>,
    /// Fixes: for ends that share a CPU, for the most frequent doubt, for loss in most cases, and for intervals that
    /// are too wide. The others are there only if the run is poor, or most cases lost.
    pub fixes: Vec<Fix>,
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
        let earlier = cases.iter().filter_map(|row| row.earlier_runs_pct);
        let earlier: Vec<f64> = earlier.collect();
        let are_most = 2 * earlier.len() >= cases.len();
        let earlier_pct = stats::median(earlier).filter(|_| are_most);
        let grade = grade(&cases, half_width_pct, earlier_pct);
        let mut reasons = match (grade, half_width_pct) {
            (Grade::Good, Some(pct)) => {
                vec![format!(
                    "half of the intervals within +-{pct:.1} % in this run"
                )]
            }
            _ => reasons(&cases, half_width_pct),
        };
        let is_said = grade == Grade::Good || !is_reproducible(earlier_pct);
        let between = earlier_pct
            .filter(|_| is_said)
            .map(|pct| format!("from run to run, half of the cases differ by up to {pct:.1} %"));
        let second = reasons.len().min(1);
        reasons.splice(second..second, loss(&cases).into_iter().chain(between));
        Self {
            grade,
            fixes: fixes(&cases, grade, half_width_pct),
            reasons,
        }
    }

    /// Returns the text after the grade: the first three reasons.
    pub fn because(&self) -> String {
        self.reasons[..self.reasons.len().min(3)].join("; ")
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.grade, self.because())
    }
}

/// Returns whether earlier runs do not speak against a good run. `earlier_pct`: half of the interval that holds another
/// run, of half of the cases.
fn is_reproducible(earlier_pct: Option<f64>) -> bool {
    earlier_pct.is_none_or(|pct| pct <= FAIR_PCT)
}

fn grade(cases: &[&Row], half_width_pct: Option<f64>, earlier_pct: Option<f64>) -> Grade {
    let are_any = |doubts: &[Doubt], row: &Row| doubts.iter().any(|doubt| doubt.is_of(row));
    let count = |doubts| cases.iter().filter(|row| are_any(doubts, row)).count();
    let lossy = cases.iter().filter(|row| is_slow_and_lossy(row)).count();
    match half_width_pct {
        _ if 2 * lossy > cases.len() => Grade::Poor,
        // The first doubt is that both ends share a CPU: then neither shows what it can do.
        _ if 4 * count(&DOUBTS[..1]) > cases.len() => Grade::Poor,
        _ if 4 * count(&DOUBTS[OF_SETUP..]) > cases.len() => Grade::Poor,
        Some(pct)
            if pct <= GOOD_PCT
                && lossy == 0
                && is_reproducible(earlier_pct)
                && count(&DOUBTS[..GRAVE]) == 0 =>
        {
            Grade::Good
        }
        Some(pct) if pct <= FAIR_PCT => Grade::Fair,
        _ => Grade::Poor,
    }
}

/// Returns half of the interval of a case's rate, in percent of the rate. For rr at a given rate, uses the round-trip
/// times instead.
fn half_width_pct_of(row: &Row) -> Option<f64> {
    let [middle, low, high] = match row.workload {
        Workload::Rr if row.target_pps.is_some() => row.p50_us(),
        _ => row.pps(),
    };
    let middle = middle.filter(|&middle| middle > 0.0)?;
    Some(50.0 * (high? - low?) / middle)
}

fn is_lossy(row: &Row) -> bool {
    row.loss_pct.is_some_and(|loss_pct| loss_pct >= LOSSY_PCT)
}

/// Returns whether datagrams are lost although senders do not send at full speed, and so should not outrun receivers.
fn is_slow_and_lossy(row: &Row) -> bool {
    is_lossy(row) && (row.workload == Workload::Rr || row.target_pps.is_some())
}

/// Describes the loss of the cases at full speed. `None`: each lost less than [`LOSSY_PCT`].
fn loss(cases: &[&Row]) -> Option<String> {
    let lossy = cases
        .iter()
        .filter(|row| is_lossy(row) && !is_slow_and_lossy(row));
    let lossy: Vec<f64> = lossy.filter_map(|row| row.loss_pct).collect();
    let most = lossy.iter().copied().max_by(f64::total_cmp)?;
    let (count, all) = (lossy.len(), cases.len());
    Some(format!(
        "up to {most:.1} % lost at full speed ({LOSSY_PCT} % or more in {count} of {all} cases)"
    ))
}

/// Returns the fixes for a poor run, or for one in which most cases lost.
fn fixes(cases: &[&Row], grade: Grade, half_width_pct: Option<f64>) -> Vec<Fix> {
    let count = |doubt: &Doubt| cases.iter().filter(|row| doubt.is_of(row)).count();
    let apart = (count(&DOUBTS[0]) > 0).then_some(DOUBTS[0].fix);
    let is_wide = half_width_pct.is_some_and(|pct| pct > FAIR_PCT);
    // What disturbed few cases is not why half of the intervals are wide. Of equal ones, the first is the gravest.
    let doubts = DOUBTS[1..]
        .iter()
        .filter(|doubt| 4 * count(doubt) > cases.len());
    let worst = doubts.rev().max_by_key(|doubt| count(doubt));
    let is_poor = grade == Grade::Poor;
    // What fails once fails again.
    let failed = Some(&DOUBTS[FAILED]).filter(|doubt| count(doubt) > 0);
    let doubt = failed.or(worst.filter(|_| is_poor)).map(|doubt| doubt.fix);
    let lossy: Vec<&Row> = cases.iter().copied().filter(|row| is_lossy(row)).collect();
    let has_small = |row: &&Row| {
        let requested = row.rcvbuf_requested_bytes;
        requested.is_some_and(|bytes| bytes < Buffer::DEFAULT)
    };
    let remedy = if lossy.iter().any(has_small) {
        Fix::Buffers
    } else {
        Fix::Lossless
    };
    let loss = (2 * lossy.len() > cases.len()).then_some(remedy);
    // With other buffers something else is measured: how long is seen then.
    let is_width = match loss {
        Some(Fix::Buffers) => false,
        Some(_) => is_wide,
        None => true,
    };
    let is_width = is_poor && apart.is_none() && doubt.is_none() && is_width;
    let width = is_width.then_some(Fix::Until);
    // Whatever else disturbed the run, buffers that are too small lose datagrams again.
    let loss = loss.filter(|loss| doubt.is_none() || *loss == Fix::Buffers);
    // A step in words has no command that could ask for more rounds, too.
    let is_in_words = matches!(doubt, Some(Fix::Words(_)));
    let few = DOUBTS.iter().find(|doubt| doubt.fix == Fix::Rounds);
    let few = few.filter(|few| is_poor && is_in_words && 4 * count(few) > cases.len());
    let fixes = [apart, doubt, few.map(|few| few.fix), loss, width];
    fixes.into_iter().flatten().collect()
}

/// Returns the reasons for a grade below good, that of most cases first. Reasons with equal counts keep the order:
/// doubts as in [`DOUBTS`], loss of cases that were not at full speed, the width of the intervals.
fn reasons(cases: &[&Row], half_width_pct: Option<f64>) -> Vec<String> {
    if cases.is_empty() {
        return vec!["no case was measured".to_owned()];
    }
    let count = |is_of: &dyn Fn(&Row) -> bool| cases.iter().filter(|row| is_of(row)).count();
    let doubts = DOUBTS.iter();
    let doubts = doubts.map(|doubt| (count(&|row| doubt.is_of(row)), doubt.what.to_owned()));
    let mut reasons: Vec<(usize, String)> = doubts.collect();
    // The setup holds for all cases alike: it says less than what disturbed some.
    let setup = reasons.remove(OF_SETUP - 1);
    let has_none = |row: &Row| row.status == Status::Ok && half_width_pct_of(row).is_none();
    reasons.push((count(&has_none), "no interval".to_owned()));
    let lost = format!("{LOSSY_PCT} % or more lost though not at full speed");
    reasons.push((count(&is_slow_and_lossy), lost));
    let limit = match half_width_pct {
        Some(pct) if pct > FAIR_PCT => FAIR_PCT,
        _ => GOOD_PCT,
    };
    let is_wide = |row: &Row| half_width_pct_of(row).is_some_and(|pct| pct > limit);
    let wide = format!("intervals wider than +-{limit} %");
    reasons.push((count(&is_wide), wide));
    reasons.sort_by_key(|(count, _)| Reverse(*count));
    reasons.push(setup);
    let some = reasons.into_iter().filter(|(count, _)| *count > 0);
    let said = some.map(|(count, what)| match cases.len() {
        1 => what,
        all => format!("{what} ({count} of {all} cases)"),
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::doubts::STOP;
    use super::*;
    use crate::host::check::{Problem, Unfit};
    use crate::plan::PlanWarning;
    use crate::results::row::tests::ordinary_row;
    use crate::results::row::{CaseWarning, Warning};

    /// Returns a case with this half width of its interval, in percent, and these warnings.
    fn row(half_width_pct: f64, warnings: &[Warning]) -> Row {
        let rate = 1000.0;
        Row {
            received_pps: Some(rate),
            received_pps_low: Some(rate * (1.0 - half_width_pct / 100.0)),
            received_pps_high: Some(rate * (1.0 + half_width_pct / 100.0)),
            warnings: warnings.to_vec(),
            loss_pct: Some(0.9),
            ..ordinary_row()
        }
    }

    fn shown(rows: &[Row]) -> String {
        Quality::of(rows).to_string()
    }

    const UNSTEADY: Warning = Warning::Case(CaseWarning::QueuesMoved);
    const LOST_CPU_TIME: Warning = Warning::Case(CaseWarning::LostCpuTime);

    fn on_host(unfit: Unfit) -> Warning {
        let is_remote = false;
        Warning::Host(Problem { unfit, is_remote })
    }

    #[test]
    fn narrow_intervals_without_a_doubt_are_good() {
        let shared = PlanWarning::SharedCpus {
            threads: 3,
            cpus: 2,
            location: None,
        };
        let sharing = row(2.9, &[Warning::Plan(shared)]);
        let rows = [sharing, row(1.0, &[]), row(20.0, &[])];
        let expected = "good: half of the intervals within +-2.9 % in this run";
        assert_eq!(shown(&rows), expected);
    }

    #[test]
    fn earlier_runs_that_differed_much_rule_out_good() {
        let after = |earlier_runs_pct| Row {
            earlier_runs: Some(6),
            earlier_runs_pct: Some(earlier_runs_pct),
            ..row(1.0, &[])
        };
        let good = "good: half of the intervals within +-1.0 % in this run; from run to run, half of the cases differ by up to 9.0 %";
        assert_eq!(shown(&[after(9.0), after(30.0), after(8.0)]), good);
        let fair = shown(&[after(25.0), after(25.0)]);
        assert!(
            fair.starts_with("fair: from run to run, half of the cases differ by up to 25.0 %"),
            "{fair}"
        );
    }

    #[test]
    fn half_of_the_intervals_decide() {
        let fair = Quality::of(&[row(3.1, &[]), row(1.0, &[]), row(9.0, &[])]);
        let shown = "fair: intervals wider than +-3 % (2 of 3 cases)";
        assert_eq!(fair.to_string(), shown);
        let poor = Quality::of(&[row(10.1, &[]), row(10.1, &[]), row(1.0, &[])]);
        assert_eq!(poor.grade, Grade::Poor);
    }

    #[test]
    fn few_disturbed_cases_are_not_why_half_of_the_intervals_are_wide() {
        let with = |disturbed: usize| {
            let mut rows = vec![row(20.0, &[]); 12];
            rows[..disturbed].fill(row(20.0, &[LOST_CPU_TIME]));
            Quality::of(&rows)
        };
        let (few, many) = (with(3), with(4));
        assert_eq!(few.fixes, [Fix::Until]);
        assert_eq!(many.fixes, [STOP]);
    }

    #[test]
    fn one_grave_doubt_is_not_good_and_more_than_a_quarter_are_poor() {
        let with = |doubtful: usize, warning: Warning| {
            let mut rows = vec![row(1.0, &[]); 8];
            rows[..doubtful].fill(row(1.0, &[warning]));
            shown(&rows)
        };
        let reason = "traffic not settled";
        assert_eq!(with(1, UNSTEADY), format!("fair: {reason} (1 of 8 cases)"));
        assert_eq!(with(2, UNSTEADY), format!("fair: {reason} (2 of 8 cases)"));
        assert_eq!(with(3, UNSTEADY), format!("poor: {reason} (3 of 8 cases)"));
        let few = Warning::Case(CaseWarning::FewRounds {
            rounds: 5,
            coverage_pct: 93.75,
        });
        assert!(with(2, few.clone()).starts_with("good: "));
        assert!(with(3, few).starts_with("poor: fewer than six rounds"));
    }

    /// Returns the quality of four cases like this one, some of which lost half of their datagrams.
    fn with_lossy(lossy: usize, like: &Row) -> Quality {
        let mut rows = vec![like.clone(); 4];
        for row in &mut rows[..lossy] {
            row.loss_pct = Some(50.0);
        }
        Quality::of(&rows)
    }

    #[test]
    fn loss_against_a_rate_is_not_good_and_in_more_than_half_of_the_cases_poor() {
        let paced = Row {
            target_pps: Some(1000.try_into().expect("in range")),
            ..row(1.0, &[])
        };
        let requests = Row {
            workload: Workload::Rr,
            ..row(1.0, &[])
        };
        for like in [paced, requests] {
            assert_eq!(with_lossy(0, &like).grade, Grade::Good);
            let reason = "1 % or more lost though not at full speed (1 of 4 cases)";
            let shown = with_lossy(1, &like).to_string();
            assert_eq!(shown, format!("fair: {reason}"));
            assert_eq!(with_lossy(2, &like).grade, Grade::Fair);
            let poor = with_lossy(3, &like);
            assert_eq!(poor.grade, Grade::Poor);
            assert_eq!(poor.fixes[0], Fix::Lossless);
        }
    }

    #[test]
    fn loss_at_full_speed_is_named_and_not_graded() {
        let good = "half of the intervals within +-1.0 % in this run";
        assert_eq!(
            with_lossy(2, &row(1.0, &[])).to_string(),
            format!("good: {good}; up to 50.0 % lost at full speed (1 % or more in 2 of 4 cases)")
        );
        assert!(with_lossy(2, &row(1.0, &[])).fixes.is_empty());
        let most = with_lossy(3, &row(1.0, &[])).fixes;
        assert_eq!(most[0], Fix::Lossless);
        let unsteady = with_lossy(4, &row(1.0, &[UNSTEADY]));
        let reason = "poor: traffic not settled (4 of 4 cases); up to 50.0 % lost";
        assert!(unsteady.to_string().starts_with(reason));
    }

    #[test]
    fn small_receive_buffers_are_named_whatever_else_disturbed_the_run() {
        let small_of = |half_width_pct, warnings: &[Warning]| Row {
            loss_pct: Some(70.0),
            rcvbuf_requested_bytes: Some(2000.try_into().expect("in range")),
            ..row(half_width_pct, warnings)
        };
        let small = |warnings: &[Warning]| small_of(1.0, warnings);
        assert_eq!(Quality::of(&[small_of(50.0, &[])]).fixes, [Fix::Buffers]);
        let quality = Quality::of(&[small(&[LOST_CPU_TIME]), small(&[])]);
        let stop = Fix::Check("stop what else runs, which this names");
        assert_eq!(quality.fixes, [stop, Fix::Buffers]);
        assert_eq!(Quality::of(&[small(&[])]).fixes, [Fix::Buffers]);
    }

    #[test]
    fn traffic_that_other_programs_unsettle_is_theirs() {
        let busy = on_host(Unfit::OtherPrograms {
            used: 1.6,
            cpus: 2,
            busiest: "sh (pid 7) 0.98".to_owned(),
        });
        let stop = Fix::Check("stop what else runs, which this names");
        let quality = Quality::of(&[row(20.0, &[busy.clone(), UNSTEADY]), row(20.0, &[busy])]);
        assert_eq!(quality.fixes, [stop]);
        let quality = Quality::of(&[row(20.0, &[UNSTEADY]), row(20.0, &[])]);
        assert_eq!(quality.fixes, [Fix::Longer]);
    }

    #[test]
    fn a_machine_that_is_not_set_up_is_not_good_and_not_poor_for_that_alone() {
        let governors = "ondemand".to_owned();
        let governor = row(1.0, &[on_host(Unfit::Governor { governors })]);
        let shown = shown(&[governor.clone(), governor]);
        assert!(
            shown.starts_with("fair: the machine is not set up"),
            "{shown}"
        );
    }

    #[test]
    fn ends_that_share_a_cpu_are_poor_and_said_first_with_their_fix() {
        let warning = Warning::Plan(PlanWarning::BothEndsShareCpu { cpu: 1 });
        let shared = row(1.0, std::slice::from_ref(&warning));
        let unsteady = row(1.0, &[warning, UNSTEADY]);
        let quality = Quality::of(&[shared.clone(), unsteady]);
        let expected =
            "poor: both ends share a CPU (2 of 2 cases); traffic not settled (1 of 2 cases)";
        assert_eq!(quality.to_string(), expected);
        assert_eq!(quality.fixes, [Fix::Apart, Fix::Longer]);
        let alone = Quality::of(&[shared]);
        assert_eq!(alone.to_string(), "poor: both ends share a CPU");
        assert_eq!(alone.fixes, [Fix::Apart]);
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
    fn three_reasons_are_shown_that_of_most_cases_first() {
        let failed = Row {
            status: Status::Failed,
            ..row(1.0, &[])
        };
        let rows = [
            failed,
            row(4.0, &[UNSTEADY, LOST_CPU_TIME]),
            row(4.0, &[UNSTEADY]),
            row(4.0, &[]),
        ];
        let expected = "poor: intervals wider than +-3 % (3 of 4 cases); traffic not settled (2 of 4 cases); \
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
