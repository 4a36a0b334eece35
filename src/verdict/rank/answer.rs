//! Builds the answer for one machine: the engines to use, the certainty, and the numbers behind them.

use super::choices::{Candidates, Choices, Labels, half_in_words, names};
use super::commands::{at_a_given_rate, at_a_lower_rate, only_on_a_wire};
use super::gains::{Gain, gains, saved};
use super::measure::{By, Measure};
use super::{BoardRanking, bursts, circumstances, table};
use crate::results::row::{Network, Row};
use crate::verdict::quality::Grade;

/// The engines to use on one machine, with the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The advice in lines: the engines to use or the reason for no recommendation, and the certainty.
    pub said: Vec<String>,
    /// The best engine of each technique except std, for each of the conditions.
    pub gains: Vec<Gain>,
    /// What the engines to use surely gain over std, a line for each. Empty: nothing, or it is not known.
    pub saves: Vec<String>,
    /// How far the next run may differ, in lines. Empty: it is not known.
    pub reach: Vec<String>,
    /// Further remarks.
    pub hints: Vec<String>,
    /// Commands to type next, each below a line that says what for.
    pub next: Vec<String>,
    /// A rate that the path takes, in datagrams per second, if every engine filled it under some conditions: the next step,
    /// whatever was lost.
    pub rate_to_compare_at: Option<u64>,
    /// True if four times as many windows may tell more engines apart.
    pub is_too_noisy: bool,
}

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
        let nothing = match measures.first() {
            None => Some("nothing could be ranked".to_owned()),
            Some(_) => unusable(board, &engines),
        };
        if let Some(why) = nothing {
            return Self {
                said: vec![format!("No recommendation: {why}")],
                reach: reach(board, &engines, false),
                ..Self::default()
            };
        }
        Self::by(board, &measures, &ranked, &engines)
    }

    /// Returns the answer by measures, of which the first decides.
    fn by(board: &BoardRanking, measures: &[Measure], ranked: &Labels, engines: &Labels) -> Self {
        let is_latency = measures[0] == Measure::RoundTrip;
        let labels = board.labels();
        let unknown = board.unknown();
        let lists = Candidates::all(board, engines - &unknown, &unknown);
        let lists = lists.iter().map(|from| {
            let choices = measures.iter();
            let choices = choices.map(|&measure| Choices::of(board, measure, &labels, from));
            (from, choices.collect())
        });
        let lists: Vec<(&Candidates, Vec<Choices>)> = lists.collect();
        let all_choices = || lists.iter().flat_map(|(_, choices)| choices);
        let gains = if is_latency {
            Vec::new()
        } else {
            gains(board, measures, &labels)
        };
        let firsts = lists.iter().map(|(_, choices)| &choices[0]);
        let best: Labels = firsts.flat_map(Choices::engines).collect();
        // Where nothing can be chosen, and where the line is about the order of receivers, all of them are measured again.
        let receivers = lists.iter().filter(|(from, _)| from.sender.is_some());
        let mut told: Labels = receivers
            .flat_map(|(from, _)| from.labels.clone())
            .collect();
        told.extend(
            gains
                .iter()
                .map(|gain| gain.engine.as_str())
                .chain(best.clone()),
        );
        let slow: Labels = all_choices().flat_map(Choices::to_slow_down).collect();
        told.extend(&slow);
        if is_latency || lists.is_empty() {
            told.extend(ranked);
        }
        let mut next = Vec::new();
        let mut rates = Vec::new();
        for (from, choices) in &lists {
            for rate in choices.iter().filter_map(Choices::rate_below_full) {
                next.extend(at_a_given_rate(board, rate, &from.labels));
                rates.push(rate);
            }
        }
        if !slow.is_empty() && !is_latency {
            next.extend(at_a_lower_rate(board, &told));
        }
        next.extend(only_on_a_wire(board, !unknown.is_empty(), &told));
        let said: Vec<String> = said(board, &lists, (ranked, &unknown, &best));
        let has_interval = gains.iter().any(|gain| !gain.interval_text.is_empty());
        Self {
            saves: saved(&gains, &best, best.len() == 1 && said.len() == 1),
            said,
            reach: reach(board, &best, has_interval),
            hints: hints(board, lists.first().map(|(_, choices)| &choices[0]), &told),
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
    pub fn draw(&self, room: usize) -> [String; 3] {
        let remarks: Vec<String> = self.remarks().cloned().collect();
        [
            table::labelled("answer", &self.said, room),
            Gain::table(&self.gains).draw(room),
            table::labelled("", &remarks, room),
        ]
    }

    /// Draws the advice in a few lines beside the word `answer`: the engines to use, what they gain, how sure that is.
    pub fn draw_short(&self, room: usize) -> String {
        let lines = [&self.said[..], &self.saves, &self.reach].concat();
        table::labelled("answer", &lines, room)
    }

    /// Draws the answer with the advice below the table, where a terminal shows it last.
    pub fn draw_last(&self, room: usize) -> String {
        let [said, mut gains, hints] = self.draw(room);
        if !gains.is_empty() {
            gains.push('\n');
        }
        gains + &said + &hints
    }
}

/// Returns the reason why the rows say nothing about which engine to use.
fn unusable(board: &BoardRanking, engines: &Labels) -> Option<String> {
    let all = board.rows().count();
    let disturbed = board.rows().filter(|row| row.lost_cpu_time()).count();
    match engines.first() {
        // Who lost datagrams, and who was fast, is then for these to say.
        _ if 2 * disturbed > all => Some(format!(
            "other programs took the CPUs in {disturbed} of {all} cases"
        )),
        Some(only) if engines.len() == 1 => {
            let labels = board.labels();
            let overloaded = board.overloaded.iter();
            let loads: Vec<&str> = overloaded
                .map(|one| labels[&one.conditions].as_str())
                .collect();
            let overload = match &loads[..] {
                [] => String::new(),
                loads => format!("; overloaded: {}", loads.join(", ")),
            };
            Some(format!("only {only} was measured{overload}"))
        }
        _ => None,
    }
}

/// Returns the lines of advice: by the first measure, and by the second one if its engines differ.
fn said(
    board: &BoardRanking,
    lists: &[(&Candidates, Vec<Choices>)],
    (ranked, unknown, best): (&Labels, &Labels, &Labels),
) -> Vec<String> {
    let mut said = Vec::new();
    let poor = board.quality.reasons.first();
    if let Some(reason) = poor.filter(|_| board.quality.grade == Grade::Poor) {
        said.extend(
            (!best.is_empty()).then(|| format!("A hint at most: the run was poor, {reason}")),
        );
    }
    for (_, choices) in lists {
        let (first, others) = (&choices[0], &choices[1..]);
        said.extend(first.lines());
        // What was sent in vain, and waiting in a call, is in the CPU times.
        let others = others.iter().filter(|_| !first.need_a_rate());
        let others = others.filter(|it| it.engines() != first.engines());
        said.extend(others.filter_map(Choices::headline));
    }
    said.extend(bursts::in_words(board, best));
    if lists.is_empty() {
        let known = (ranked - unknown).first().copied();
        let besides = known.map_or_else(String::new, |only| format!("besides {only}, "));
        said.push(format!(
            "No recommendation: {besides}only offload was measured"
        ));
    }
    if !unknown.is_empty() {
        said.push(without_offload(board, unknown));
    }
    said
}

/// Says that these engines with offload are left out, and why.
fn without_offload(board: &BoardRanking, engines: &Labels) -> String {
    let why = board.rows().find_map(Row::why_trains_stay_whole);
    let why = why.map_or_else(String::new, |why| format!(" (cutting them: {why})"));
    let names = names(engines, "and");
    // A queueing discipline may cut what would pass a veth(4) whole.
    let stay = match board.machine.network {
        Network::Veth => "may stay",
        Network::Loopback | Network::Wire => "stay",
    };
    format!("Left out: {names}, whose packets {stay} whole here, unlike on a cable{why}")
}

/// Returns the lines on intervals, which hold within this run, and on how far earlier runs of the best engines differed.
fn reach(board: &BoardRanking, best: &Labels, has_interval: bool) -> Vec<String> {
    let within = if board.is_virtual && (has_interval || board.is_latency) {
        Some("On a virtual machine, another run may differ, also in who is ahead")
    } else if has_interval && board.has_repeats() {
        Some("+-% is over these runs")
    } else {
        has_interval.then_some("+-% is within this run")
    };
    let earlier = |row: &Row| Some((row.label(), row.earlier_runs?, row.earlier_runs_pct?));
    let earlier = board.rows().filter_map(earlier);
    let earlier = earlier.filter(|(label, ..)| best.contains(label.as_str()));
    let widest = earlier.max_by(|(.., one), (.., other)| one.total_cmp(other));
    let between = widest.map(|(label, runs, half)| {
        let half = half_in_words(half);
        format!("The next run may differ by +-{half} (rates of {label} in your last {runs})")
    });
    within
        .map(str::to_owned)
        .into_iter()
        .chain(between)
        .collect()
}

/// Returns the remarks on engines, and on what decides round trips besides the engine.
fn hints(board: &BoardRanking, first: Option<&Choices>, told: &Labels) -> Vec<String> {
    let few = board.averaged.iter().flat_map(|one| &one.left_out);
    let polls = |label: &&&str| !board.is_latency && board.case(label).busy_poll.is_some();
    let engines: [(Labels, &str, &str); 3] = [
        // Few machines can spare the CPUs that they need.
        (
            board.spinning(),
            "Not recommended",
            ", as a CPU is busy for each receiver even when nothing comes",
        ),
        (
            few.map(String::as_str).collect(),
            "Left out, as measured in too few groups",
            "",
        ),
        // At full speed hardly anybody waits.
        (
            told.iter().filter(polls).copied().collect(),
            "Busy polling takes CPU time while nothing comes (udpbench latency shows how much)",
            "",
        ),
    ];
    let engines = engines.iter().filter(|(labels, ..)| !labels.is_empty());
    let engines =
        engines.map(|(labels, what, why)| format!("{what}: {}{why}", names(labels, "and")));
    let alone = first.and_then(Choices::soonest_alone);
    let facts = board
        .is_latency
        .then(|| circumstances::in_words(board, alone));
    engines.chain(facts.flatten()).collect()
}
