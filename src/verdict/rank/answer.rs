//! Builds the answer for one machine: the engines to use, the certainty, and the numbers behind them.

use std::collections::{BTreeMap, BTreeSet};

use super::choices::{Among, Choices, half_in_words, is_unknown, names, needs_spare_cpus};
use super::commands::{at_a_lower_rate, only_on_a_wire};
use super::gain::Gain;
use super::gains::Gains;
use super::measure::{By, Measure};
use super::{BoardRanking, Conditions, Earlier, engines};
use super::{table, technique};
use crate::data::EngineName;
use crate::results::row::Network;
use crate::verdict::quality::Grade;

/// The engines to use on one machine, with the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The advice in lines: the engines to use or the reason for no recommendation, and the certainty.
    pub said: Vec<String>,
    /// The best engine of each technique except std, for each of the conditions.
    pub gains: Vec<Gain>,
    /// Further remarks, and commands to type next.
    pub hints: Vec<String>,
    /// True if engines or conditions were measured of which the lines say nothing.
    pub is_cut: bool,
    /// True if four times as many windows may tell more engines apart.
    pub is_too_noisy: bool,
}

impl Answer {
    pub(super) fn of(board: &BoardRanking, by: By) -> Self {
        let nothing = |said: String| Self {
            said: vec![said],
            ..Self::default()
        };
        let asked = Measure::ALL.into_iter().filter(|&one| by.includes(one));
        let asked = asked.filter(|&measure| board.averaged_by(measure).next().is_some());
        let asked: Vec<Measure> = asked.collect();
        let Some(&first) = asked.first() else {
            return nothing("No recommendation: nothing could be ranked".to_owned());
        };
        if board.has_given_rates {
            let what = "No recommendation: some rows have a given rate, so their speeds say nothing. Their loss and CPU time \
                        are in the CSV: loss_pct, cpu_ns_per_packet";
            return nothing(what.to_owned());
        }
        // Who lost datagrams, and who was fast, is then theirs to say.
        if let Some(disturbed) = board.disturbed_in_words() {
            let what = format!("No recommendation: other programs took the CPUs {disturbed}");
            return nothing(what);
        }
        let engines = engines(board);
        if let [only] = &engines[..] {
            return Self {
                hints: Vec::from_iter(intervals(board, &BTreeSet::from([*only]), &[])),
                ..nothing(format!("No recommendation: only {only} was measured"))
            };
        }
        let places = board.averaged.iter().flat_map(|one| &one.standing.places);
        let unknown = places.filter(|place| is_unknown(board, place));
        let unknown: BTreeSet<&str> = unknown.map(|place| place.label.as_str()).collect();
        let known: Vec<&str> = engines
            .into_iter()
            .filter(|engine| !unknown.contains(engine))
            .collect();
        let labels = board.labels();
        let behind = technique::compared_behind_offload(board, &unknown);
        let lists = lists(board, &asked, &labels, (known.len(), &behind));
        let all_choices = || {
            lists
                .iter()
                .flat_map(|(_, choices)| choices.iter().map(|(_, it)| it))
        };
        let gains = Gains {
            board,
            by,
            first,
            labels: &labels,
        };
        let gains = gains.all();
        let best = lists.iter().flat_map(|(_, choices)| choices[0].1.engines());
        let best: BTreeSet<&str> = best.collect();
        let is_unranked = known.len() < 2 && behind.is_empty();
        let mut told = told(&gains, &lists);
        // Their order is to be measured on a wire, so all of them are.
        let unranked = unknown.iter().filter(|_| is_unranked);
        told.extend(unranked.take(technique::MOST - 1));
        let mut hints = Vec::from_iter(intervals(board, &best, &gains));
        if all_choices().any(Choices::need_a_lower_rate) {
            hints.extend(at_a_lower_rate(board, &told));
        }
        hints.extend(remarks(board, first, &told));
        let names_better = all_choices().any(Choices::name_better);
        let mut said: Vec<String> = hint(board).filter(|_| names_better).into_iter().collect();
        for (engines, choices) in lists.iter().filter(|(engines, _)| *engines > 1) {
            said.extend(said_by(board, choices, *engines));
        }
        if is_unranked {
            let besides = known
                .first()
                .map_or_else(String::new, |only| format!("besides {only}, "));
            let where_shown = match board.machine.network {
                Network::Loopback => "between two hosts",
                Network::Veth | Network::Wire => "over a cable",
            };
            said.push(format!(
                "No recommendation: {besides}only offload was measured, whose gain shows {where_shown}"
            ));
        }
        let is_cut = is_unranked || all_choices().any(Choices::are_too_many);
        Self {
            said,
            gains,
            hints,
            is_cut,
            is_too_noisy: all_choices().any(Choices::are_noisy),
        }
    }

    /// Returns the answer as sentences, one per line, for places without columns.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let gains = self.gains.iter().map(Gain::sentence);
        let said = self.said.iter().cloned();
        said.chain(gains).chain(self.hints.iter().cloned())
    }

    /// Adds the command that lists what the lines leave out, if they leave anything out.
    #[must_use]
    pub fn or_else_see(mut self, command: &str) -> Self {
        if self.is_cut {
            let lines = ["Every engine, and its place:", command];
            self.hints.extend(lines.map(str::to_owned));
        }
        self
    }

    /// Draws the advice beside the word `answer`, the table of gains, and the remarks, `room` columns wide.
    pub fn draw(&self, room: usize) -> [String; 3] {
        [
            table::labelled("answer", &self.said, room),
            Gain::table(&self.gains).draw(room),
            table::labelled("", &self.hints, room),
        ]
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

/// Engines to choose from: their number, and the choice by each measure.
type List<'a> = (usize, Vec<(Measure, Choices<'a>)>);

/// Chooses among the engines whose gain is known, and among the receivers of each sender with offload. With a lone known
/// engine there is nothing to choose but receivers.
fn lists<'a>(
    board: &'a BoardRanking,
    asked: &[Measure],
    labels: &'a BTreeMap<Conditions, String>,
    (known, behind): (usize, &BTreeMap<EngineName, Vec<&'a str>>),
) -> Vec<List<'a>> {
    let is_about_receivers = known < 2 && !behind.is_empty();
    let all = (!is_about_receivers).then_some((known, Among::AllKnown));
    let receivers = behind.iter();
    let receivers = receivers.map(|(sender, pairs)| (pairs.len(), Among::ReceiversOf(*sender)));
    let lists = all.into_iter().chain(receivers).map(|(engines, among)| {
        let choices = asked.iter().copied();
        let choices = choices.map(|by| (by, Choices::of(board, by, labels, among)));
        (engines, choices.collect())
    });
    lists.collect()
}

/// Returns the remarks on the engines, and the command that measures them between two hosts.
fn remarks(board: &BoardRanking, first: Measure, told: &BTreeSet<&str>) -> Vec<String> {
    let spinning = never_sleep(board, first).into_iter();
    let lines = spinning.chain(left_out(board)).chain(polls(board, told));
    lines.chain(only_on_a_wire(board, first, told)).collect()
}

/// Returns the engines that the lines name, which are measured again. Pairs with the same sender are all of them: the
/// line is about their order.
fn told<'a>(gains: &'a [Gain], lists: &[List<'a>]) -> BTreeSet<&'a str> {
    let gains = gains.iter().map(|gain| gain.engine.as_str());
    let choices = lists
        .iter()
        .flat_map(|(_, choices)| choices.iter().enumerate());
    let named = choices.flat_map(|(n, (_, choice))| {
        let best = if n == 0 {
            choice.engines()
        } else {
            BTreeSet::new()
        };
        let compared = choice.compared_receivers().iter().copied();
        let lossy = choice.overrun().chain(choice.lost_least());
        best.into_iter().chain(lossy).chain(compared)
    });
    gains.chain(named).collect()
}

/// Returns the lines of advice: by the first measure, and by the second one if its engines differ.
fn said_by(board: &BoardRanking, choices: &[(Measure, Choices)], engines: usize) -> Vec<String> {
    let limit = if board.machine.network == Network::Wire {
        ": the wire may be the limit"
    } else {
        ""
    };
    let mut said = Vec::new();
    for (n, (measure, choice)) in choices.iter().enumerate() {
        let text = choice.text(limit);
        if n == 0 || choice.engines() != choices[0].1.engines() {
            said.extend(text.best(board, *measure, engines));
        }
        if n == 0 {
            said.extend(text.others);
        }
    }
    said
}

/// Returns the remark on intervals: they hold within this run. Where earlier runs are known, says how far the next one may differ,
/// for the best engines or else for the median of all cases. `None`: neither is known.
fn intervals(board: &BoardRanking, best: &BTreeSet<&str>, gains: &[Gain]) -> Option<String> {
    let has_interval = gains.iter().any(|gain| !gain.interval_text.is_empty());
    let of_best = board.earlier.iter();
    let of_best = of_best.filter(|earlier| best.contains(earlier.engine.as_str()));
    let (mut known, whose): (Vec<&Earlier>, _) = match of_best.collect::<Vec<_>>() {
        none if none.is_empty() && board.earlier.len() * 2 >= board.rows => {
            (board.earlier.iter().collect(), "all".to_owned())
        }
        none if none.is_empty() => (none, String::new()),
        some => {
            let known = some.iter().map(|earlier| earlier.engine.as_str());
            let whose = names(&known.collect(), "and");
            (some, whose)
        }
    };
    known.sort_by(|one, other| one.half_pct.total_cmp(&other.half_pct));
    let between = known.get(known.len() / 2).map(|median| {
        let (runs, half) = (median.runs, half_in_words(median.half_pct));
        format!("he next run may differ by +-{half} (rates of {whose} in your last {runs})")
    });
    match (has_interval, between) {
        (true, Some(between)) => {
            let within = board.reach_of_intervals();
            Some(format!("+-% is {within}; t{between}"))
        }
        (true, None) => Some(board.remark_on_intervals()),
        (false, between) => between.map(|between| format!("T{between}")),
    }
}

fn left_out(board: &BoardRanking) -> Option<String> {
    let engines = board.averaged.iter().flat_map(|one| &one.left_out);
    let engines: BTreeSet<&str> = engines.map(|(engine, _)| engine.as_str()).collect();
    let names = names(&engines, "and");
    (!engines.is_empty()).then(|| format!("Left out, as measured in too few groups: {names}"))
}

/// Returns the remark on engines that never sleep. They are not recommended, as few machines can spare the CPUs that
/// they need.
pub(super) fn never_sleep(board: &BoardRanking, measure: Measure) -> Option<String> {
    let averaged = board.averaged_by(measure);
    let places = averaged.flat_map(|one| &one.standing.places);
    let spinning = places.filter(|place| needs_spare_cpus(board, place));
    let engines: BTreeSet<&str> = spinning.map(|place| place.label.as_str()).collect();
    let names = names(&engines, "and");
    let (keeps, its) = match engines.len() {
        1 => ("keeps", "its"),
        _ => ("keep", "their"),
    };
    let what = format!(
        "Not recommended: {names}, which {keeps} a CPU busy for each of {its} receivers even when nothing comes"
    );
    (!engines.is_empty()).then_some(what)
}

/// Returns the remark that busy polling is not free, if one of these labels polls. At full speed hardly anybody waits.
fn polls(board: &BoardRanking, told: &BTreeSet<&str>) -> Option<String> {
    let what = "Busy polling takes CPU time while nothing comes: udpbench latency shows how much at your load";
    let mut cases = told.iter().map(|label| board.case(label));
    cases
        .any(|case| case.busy_poll.is_some())
        .then(|| what.to_owned())
}

pub(super) fn hint(board: &BoardRanking) -> Option<String> {
    let is_poor = board.quality.grade == Grade::Poor;
    let reason = board.quality.reasons.first().filter(|_| is_poor)?;
    Some(format!("A hint at most: the run was poor, {reason}"))
}
