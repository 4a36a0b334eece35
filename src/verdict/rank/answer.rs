//! Builds the answer for one machine: the engines to use, the certainty, and the numbers behind them.

use super::choices::{Candidates, Choices, Labels, names};
use super::commands::{at_a_given_rate, at_a_lower_rate, only_on_a_wire};
use super::gains::{Gain, gains};
use super::standing::{By, Measure};
use super::{BoardRanking, circumstances, table};
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
    /// A rate that the path takes, in datagrams per second, if every engine filled it under some conditions: the next step,
    /// whatever was lost.
    pub rate_to_compare_at: Option<u64>,
    /// True if four times as many windows may tell more engines apart.
    pub is_too_noisy: bool,
}

/// Engines to choose from, and the choices among them by each measure.
type List<'a> = (&'a Candidates<'a>, Vec<Choices<'a>>);

impl Answer {
    pub(super) fn of(board: &BoardRanking, by: By) -> Self {
        let ranked = board.engines();
        let overloaded = board.overloaded.iter().map(|one| one.engine.as_str());
        let engines: Labels = ranked.iter().copied().chain(overloaded).collect();
        let measures = if board.is_latency && by != By::Cpu && !engines.is_empty() {
            vec![Measure::RoundTrip]
        } else {
            let is_ranked = |&measure: &Measure| board.averaged_by(measure).next().is_some();
            let asked = Measure::ALL.into_iter().filter(|one| by.includes(*one));
            asked.filter(is_ranked).collect()
        };
        match unusable(board, &measures, &engines) {
            None => Self::by(board, &measures, &engines),
            Some(why) => Self {
                said: vec![format!("No recommendation: {why}")],
                reach: circumstances::reach(board, &engines, false),
                ..Self::default()
            },
        }
    }

    /// Returns the answer by measures, of which the first decides.
    fn by(board: &BoardRanking, measures: &[Measure], engines: &Labels) -> Self {
        let labels = board.labels();
        let unknown = board.unknown();
        let candidates = Candidates::all(board, engines - &unknown, &unknown);
        let lists = candidates.iter().map(|from| {
            let choices = measures.iter();
            let choices = choices.map(|&measure| Choices::of(board, measure, &labels, from));
            (from, choices.collect())
        });
        let lists: Vec<List> = lists.collect();
        let all_choices = || lists.iter().flat_map(|(_, choices)| choices);
        let firsts = lists.iter().map(|(_, choices)| &choices[0]);
        let best: Labels = firsts.flat_map(Choices::engines).collect();
        let gains = match measures[0] {
            Measure::RoundTrip => Vec::new(),
            Measure::Speed | Measure::Cpu => gains(board, measures, &labels, &best),
        };
        let slow: Labels = all_choices().flat_map(Choices::to_slow_down).collect();
        let told = &told(board, &lists, &gains, &best) | &slow;
        let mut next = Vec::new();
        let mut rates = Vec::new();
        for (from, choices) in &lists {
            for rate in choices.iter().filter_map(Choices::rate_below_full) {
                next.extend(at_a_given_rate(board, rate, &from.labels));
                rates.push(rate);
            }
        }
        if !slow.is_empty() && !board.is_latency {
            next.extend(at_a_lower_rate(board, &told));
        }
        next.extend(only_on_a_wire(board, !unknown.is_empty(), &told));
        let has_interval = gains.iter().any(|gain| !gain.interval_text.is_empty());
        let first = lists.first().map(|(_, choices)| &choices[0]);
        Self {
            said: said(board, &lists, &unknown, &best),
            reach: circumstances::reach(board, &best, has_interval),
            hints: circumstances::hints(board, first, &told),
            next,
            gains,
            rate_to_compare_at: rates.into_iter().min(),
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

    /// Draws the advice in a few lines beside the word `answer`: the engines to use, what they gain, how sure that is.
    pub fn draw_short(&self, room: usize) -> String {
        let gains = self.gains.iter().filter(|gain| gain.is_advised);
        let gains = gains.map(Gain::sentence);
        let lines = self.said.iter().cloned().chain(gains);
        let lines = lines.chain(self.reach.iter().cloned());
        table::labelled("answer", &lines.collect::<Vec<_>>(), room)
    }
}

/// Returns why the results are no basis for a choice. `None`: they are one.
fn unusable(board: &BoardRanking, measures: &[Measure], engines: &Labels) -> Option<String> {
    let all = board.rows().count();
    let disturbed = board.rows().filter(|row| row.lost_cpu_time()).count();
    match engines.first() {
        _ if measures.is_empty() => Some("nothing could be ranked".to_owned()),
        // Who lost datagrams, and who was fast, is then for these to say.
        _ if 2 * disturbed > all => Some(format!(
            "other programs took the CPUs in {disturbed} of {all} cases"
        )),
        Some(only) if engines.len() == 1 => {
            let labels = board.labels();
            let overloaded = board.overloaded.iter().map(|one| &*labels[&one.conditions]);
            let loads: Vec<&str> = overloaded.collect();
            let overload = match &loads[..] {
                [] => String::new(),
                loads => format!("; overloaded: {}", loads.join(", ")),
            };
            Some(format!("only {only} was measured{overload}"))
        }
        _ => None,
    }
}

/// Returns the engines that the answer is about: where nothing can be chosen, and where it is about the order of receivers,
/// all of them.
fn told<'a>(
    board: &'a BoardRanking,
    lists: &[List<'a>],
    gains: &'a [Gain],
    best: &Labels<'a>,
) -> Labels<'a> {
    let mut told = best.clone();
    told.extend(gains.iter().map(|gain| gain.engine.as_str()));
    for (from, _) in lists.iter().filter(|(from, _)| from.sender.is_some()) {
        told.extend(&from.labels);
    }
    if board.is_latency || lists.is_empty() {
        told.extend(board.engines());
    }
    told
}

/// Returns the lines of advice: by the first measure, and by the second one if its engines differ.
fn said(board: &BoardRanking, lists: &[List], unknown: &Labels, best: &Labels) -> Vec<String> {
    let mut said = Vec::new();
    let is_poor = board.quality.grade == Grade::Poor && !best.is_empty();
    let reason = board.quality.reasons.first().filter(|_| is_poor);
    said.extend(reason.map(|reason| format!("A hint at most: the run was poor, {reason}")));
    for (_, choices) in lists {
        let (first, others) = (&choices[0], &choices[1..]);
        said.extend(first.lines(false));
        // What was sent in vain, and waiting in a call, is in the CPU times.
        let others = others.iter().filter(|_| !first.need_a_rate());
        let others = others.filter(|it| it.engines() != first.engines());
        said.extend(others.flat_map(|it| it.lines(true)));
    }
    said.extend(circumstances::bursts(board, best));
    if lists.is_empty() {
        said.push("No recommendation: besides std, only offload was measured".to_owned());
    }
    if !unknown.is_empty() {
        let names = names(unknown, "and");
        said.push(format!(
            "Left out: {names}, whose packets stay whole here, unlike on a cable"
        ));
    }
    said
}
