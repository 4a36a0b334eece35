//! Builds the answer for one machine: the engines to use, the certainty, and the numbers behind them.

use std::collections::BTreeSet;

use super::choices::{Candidates, Choices, Labels, half_in_words, names};
use super::commands::{at_a_given_rate, at_a_lower_rate, only_on_a_wire};
use super::gains::{Gain, advised, gains};
use super::standing::{Measure, RankBy};
use super::{BoardRanking, table};
use crate::results::row::{Network, Row};
use crate::verdict::quality::Grade;

/// The engines to use on one machine, with the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The advice in lines: the engines to use or the reason for no recommendation, and the certainty.
    pub said: Vec<String>,
    /// The best engine of each technique except std, for each of the conditions.
    pub gains: Vec<Gain>,
    /// How far the next run may differ, in lines. Empty: it is not known.
    reach: Vec<String>,
    /// Further remarks.
    hints: Vec<String>,
    /// Commands to type next, each below a line that says what for.
    pub next: Vec<String>,
    /// A rate that the path takes, in datagrams per second, if every engine filled it under some conditions: the next
    /// step, whatever was lost.
    pub rate_to_compare_at: Option<u64>,
    /// True if four times as many windows may tell more engines apart.
    pub is_too_noisy: bool,
}

impl BoardRanking {
    /// Returns the advice: the engines to use, the certainty, and the gain of each technique. Every place that gives
    /// advice shows this answer.
    pub fn answer(&self, by: RankBy) -> Answer {
        let ranked = self.engines();
        let overloaded = self.overloaded.iter().map(|one| one.engine.as_str());
        let engines: Labels = ranked.iter().copied().chain(overloaded).collect();
        let measures = if self.is_latency && by != RankBy::Cpu && !engines.is_empty() {
            vec![Measure::RoundTrip]
        } else {
            let is_ranked = |&measure: &Measure| self.averaged_by(measure).next().is_some();
            let asked = Measure::ALL.into_iter().filter(|one| by.includes(*one));
            asked.filter(is_ranked).collect()
        };
        match unusable(self, &measures, &engines) {
            None => Answer::by(self, &measures, &engines),
            Some(why) => Answer {
                said: vec![format!("No recommendation: {why}")],
                reach: reach(self, &engines, false),
                ..Answer::default()
            },
        }
    }
}

impl Answer {
    /// Returns the answer by measures, of which the first decides.
    fn by(board: &BoardRanking, measures: &[Measure], engines: &Labels) -> Self {
        let labels = board.labels();
        let unknown = board.unknown();
        let candidates = Candidates::all(board, engines - &unknown, &unknown);
        let by_measures = |from| {
            let choices = measures.iter();
            let choices = choices.map(|&measure| Choices::of(board, measure, &labels, from));
            choices.collect()
        };
        let lists: Vec<Vec<Choices>> = candidates.iter().map(by_measures).collect();
        let all_choices = || lists.iter().flatten();
        let best: Labels = lists.iter().flat_map(|one| one[0].engines()).collect();
        let gains = match measures[0] {
            Measure::RoundTrip => Vec::new(),
            Measure::Speed | Measure::Cpu => gains(board, measures, &labels, &best),
        };
        let rate = all_choices().filter_map(Choices::rate_below_full).min();
        let mut next = rate.map_or_else(Vec::new, |rate| at_a_given_rate(board, rate));
        if all_choices().any(Choices::need_a_lower_rate) && !board.is_latency {
            next.extend(at_a_lower_rate(board));
        }
        next.extend(only_on_a_wire(board, !unknown.is_empty()));
        let has_interval = gains.iter().any(|gain| !gain.interval_text.is_empty());
        Self {
            said: said(board, &lists, &unknown, &best),
            reach: reach(board, &best, has_interval),
            hints: hints(board),
            next,
            gains,
            rate_to_compare_at: rate,
            is_too_noisy: all_choices().any(Choices::are_open),
        }
    }

    /// Returns the answer as sentences, one per line, for places without columns.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let gains = self.gains.iter().map(Gain::sentence);
        let said = self.said.iter().cloned();
        said.chain(gains).chain(self.remarks().cloned())
    }

    /// Returns the remarks, and the commands to type next.
    pub fn remarks(&self) -> impl Iterator<Item = &String> {
        self.reach.iter().chain(&self.hints).chain(&self.next)
    }

    /// Draws the advice beside the word `answer`, the table of gains, and the remarks, `room` columns wide.
    pub fn draw(&self, room: usize) -> String {
        let remarks: Vec<String> = self.remarks().cloned().collect();
        table::labelled("answer", &self.said, room)
            + &Gain::table(&self.gains).draw(room)
            + &table::labelled("", &remarks, room)
    }

    /// Draws the answer with the advice below the table, where a terminal shows it last.
    pub fn draw_last(&self, room: usize) -> String {
        let said = self.said.iter().chain(self.remarks());
        let said: Vec<String> = said.cloned().collect();
        let gains = match Gain::table(&self.gains).draw(room) {
            none if none.is_empty() => none,
            some => some + "\n",
        };
        gains + &table::labelled("answer", &said, room)
    }

    /// Draws the advice in a few lines beside the word `answer`: the engines to use, what they gain, how sure that is.
    pub fn draw_short(&self, room: usize) -> String {
        let advised = advised(&self.gains, self.said.len() == 1);
        let lines = [&self.said[..], &advised, &self.reach].concat();
        table::labelled("answer", &lines, room)
    }
}

/// Returns why the results are no basis for a choice. `None`: they are one.
fn unusable(board: &BoardRanking, measures: &[Measure], engines: &Labels) -> Option<String> {
    let all = board.rows().count();
    let disturbed = board.rows().filter(|row| row.lost_cpu_time()).count();
    let shared = board.rows().filter(|row| row.shares_cpu()).count();
    match engines.first() {
        _ if measures.is_empty() => Some("nothing could be ranked".to_owned()),
        _ if 2 * shared > all => Some("both ends share a CPU".to_owned()),
        // Who lost datagrams, and who was fast, is then for these to say.
        _ if 2 * disturbed > all => Some(format!(
            "other programs took the CPUs in {disturbed} of {all} cases"
        )),
        Some(only) if engines.len() == 1 => {
            let is_over = !board.overloaded.is_empty();
            let over = if is_over { ", and overloaded" } else { "" };
            Some(format!("only {only} was measured{over}"))
        }
        _ => None,
    }
}

/// Returns the lines of advice: by the first measure, and by the second one if its engines differ.
fn said(
    board: &BoardRanking,
    lists: &[Vec<Choices>],
    unknown: &Labels,
    best: &Labels,
) -> Vec<String> {
    let mut said = Vec::new();
    let is_poor = board.quality.grade == Grade::Poor && !best.is_empty();
    let reason = board.quality.reasons.first().filter(|_| is_poor);
    said.extend(reason.map(|reason| format!("A hint at most: the run was poor, {reason}")));
    for choices in lists {
        let (first, others) = (&choices[0], &choices[1..]);
        said.extend(first.lines(false));
        // What was sent in vain, and waiting in a call, is in the CPU times.
        let others = others.iter().filter(|_| !first.need_a_rate());
        let others = others.filter(|it| it.engines() != first.engines());
        said.extend(others.flat_map(|it| it.lines(true)));
    }
    said.extend(bursts(board, best));
    if lists.is_empty() {
        said.push("No recommendation: besides std, only offload was measured".to_owned());
    }
    if !unknown.is_empty() {
        let names = names(unknown, "and");
        // A queueing discipline may cut what would pass a veth(4) whole.
        let stay = match board.machine.network {
            Network::Veth => "may stay",
            Network::Loopback | Network::Wire => "stay",
        };
        said.push(format!(
            "Left out: {names}, whose packets {stay} whole here, unlike on a cable"
        ));
    }
    said
}

/// Returns the lines on intervals, which hold within this run, and on how far earlier runs of the best engines
/// differed.
fn reach(board: &BoardRanking, best: &Labels, has_interval: bool) -> Vec<String> {
    let within = if board.is_virtual && (has_interval || board.is_latency) {
        Some("On a virtual machine, another run may differ, also in who is ahead")
    } else {
        has_interval.then_some("+-% holds within what was measured here")
    };
    let earlier = |row: &Row| Some((row.label(), row.earlier_runs?, row.earlier_runs_pct?));
    let earlier = board.rows().filter_map(earlier);
    let earlier = earlier.filter(|(label, ..)| best.contains(label.as_str()));
    let widest = earlier.max_by(|(.., one), (.., other)| one.total_cmp(other));
    let between = widest.map(|(label, runs, half)| {
        let half = half_in_words(half);
        format!("The next run may differ by +-{half} (rates of {label} in your last {runs})")
    });
    let within = within.map(str::to_owned);
    within.into_iter().chain(between).collect()
}

/// Returns the remarks on engines, and on what decides round trips besides the engine.
fn hints(board: &BoardRanking) -> Vec<String> {
    let few = board.averaged.iter().flat_map(|one| &one.left_out);
    // At full speed hardly anybody waits.
    let polls = |label: &&str| !board.is_latency && board.case(label).busy_poll.is_some();
    let polling: Labels = board.engines().into_iter().filter(polls).collect();
    let hints = [
        // Few machines can spare the CPUs that they need.
        (
            "Not recommended, as each receiver keeps a CPU busy",
            board.spinning(),
        ),
        (
            "Left out, as measured in too few groups",
            few.map(String::as_str).collect(),
        ),
        (
            "Busy polling takes CPU time while nothing comes (udpbench latency shows how much)",
            polling,
        ),
    ];
    let hints = hints.into_iter().filter(|(_, labels)| !labels.is_empty());
    let hints = hints.map(|(what, labels)| format!("{what}: {}", names(&labels, "and")));
    hints.chain(placement(board)).collect()
}

/// Says how round trips between threads of one host were placed, and the option for others.
fn placement(board: &BoardRanking) -> Option<String> {
    let asked = board.groups.iter().filter_map(|one| one.group.asked);
    let cpus: BTreeSet<&str> = asked.map(|asked| asked.cpus).collect();
    let is_local = board.rows().all(|row| row.direction.is_none());
    // Several placements have several medians, and so have several rows.
    let only = cpus.first().filter(|_| cpus.len() == 1 && is_local)?;
    Some(format!(
        "Client and server: {only}; other CPUs (--pin 0:0, --pin 0:1) may change more than the engine does"
    ))
}

/// Names that of these engines that sends in the longest bursts at a given rate: it wakes less often, and what is sent
/// waits. `None`: none does, or it is not known.
fn bursts(board: &BoardRanking, engines: &Labels) -> Option<String> {
    /// Factor by which gaps are longer if datagrams come in bursts.
    const LONGER: f64 = 4.0;
    let gaps = board.rows.iter().filter_map(|((conditions, label), rows)| {
        let paced = rows.iter().find(|row| row.target_pps.is_some())?;
        Some((conditions, label, paced.gap_p99_us?))
    });
    let bursts = gaps.clone().filter_map(|(conditions, label, us)| {
        let alike = gaps.clone().filter(|(other, ..)| *other == conditions);
        let (_, even, least) = alike.min_by(|(.., one), (.., other)| one.total_cmp(other))?;
        let is_burst = engines.contains(label.as_str()) && us > LONGER * least;
        is_burst.then_some((label, us / 1e3, even, least / 1e3))
    });
    let (label, ms, even, least) = bursts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!(
        "{label} wakes less often: it sends in bursts {ms:.2} ms apart (p99; {even} {least:.2} ms)"
    ))
}
