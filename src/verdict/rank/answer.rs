//! Builds the answer for one machine: the engines to use, the certainty, and the numbers behind them.

use std::collections::BTreeMap;

use super::bursts;
use super::choices::{Among, Choices, Labels, half_in_words, is_unknown, names, needs_spare_cpus};
use super::commands::{at_a_given_rate, at_a_lower_rate, only_on_a_wire};
use super::gain::{self, Gain, ThanStd};
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
    /// What the engines to use surely gain over std, a line for each. Empty: nothing, or it is not known.
    pub saves: Vec<String>,
    /// How far the next run may differ, in a line. Empty: it is not known.
    pub reach: Vec<String>,
    /// Further remarks.
    pub hints: Vec<String>,
    /// Commands to type next, each below a line that says what for.
    pub next: Vec<String>,
    /// True if engines or conditions were measured of which the lines say nothing.
    pub is_cut: bool,
    /// A rate that the path takes, in datagrams per second, if every engine filled it under some conditions: the next step,
    /// whatever was lost.
    pub rate_to_compare_at: Option<u64>,
    /// True if four times as many windows may tell more engines apart.
    pub is_too_noisy: bool,
}

impl Answer {
    pub(super) fn of(board: &BoardRanking, by: By) -> Self {
        let nothing = |said: String| Self {
            said: vec![said],
            ..Self::default()
        };
        let ranked = engines(board);
        let overloaded = board.overloaded.iter().map(|one| one.engine.as_str());
        let engines: Labels = ranked.iter().copied().chain(overloaded).collect();
        let asked = if board.circumstances.is_some() && by != By::Cpu && !engines.is_empty() {
            vec![Measure::RoundTrip]
        } else {
            let asked = Measure::ALL.into_iter().filter(|&one| by.includes(one));
            asked
                .filter(|&it| board.averaged_by(it).next().is_some())
                .collect()
        };
        let Some(&first) = asked.first() else {
            return nothing("No recommendation: nothing could be ranked".to_owned());
        };
        if let Some(why) = unusable(board) {
            return nothing(format!("No recommendation: {why}"));
        }
        if let Some(only) = engines.first().filter(|_| engines.len() == 1) {
            let alone = format!("No recommendation: only {only} was measured");
            let labels = board.labels();
            let at_loads = (first == Measure::RoundTrip)
                .then(|| Choices::of(board, first, &labels, Among::AllKnown).others());
            return Self {
                said: std::iter::once(alone)
                    .chain(at_loads.into_iter().flatten())
                    .collect(),
                reach: Vec::from_iter(intervals(board, &engines, &[])),
                ..Self::default()
            };
        }
        let places = board.averaged.iter().flat_map(|one| &one.standing.places);
        let unknown = places.filter(|place| is_unknown(board, place));
        let unknown: Labels = unknown.map(|place| place.label.as_str()).collect();
        let (unknown_engines, known): (Vec<&str>, Vec<&str>) =
            engines.into_iter().partition(|it| unknown.contains(it));
        let labels = board.labels();
        let behind = technique::compared_behind_offload(board, &unknown);
        let lists = lists(board, &asked, &labels, (known.len(), &behind));
        let all_choices = || lists.iter().flat_map(|(_, choices)| choices);
        let gains = match first {
            Measure::RoundTrip => Vec::new(),
            Measure::Speed | Measure::Cpu => Gains {
                board,
                by,
                first,
                labels: &labels,
            }
            .all(),
        };
        let is_unranked = known.len() < 2 && behind.is_empty();
        let mut told = told(&gains, &lists);
        if first == Measure::RoundTrip {
            told.extend(ranked);
        }
        // Their order is to be measured on a wire, so all of them are.
        let unranked = unknown_engines.iter().filter(|_| is_unranked);
        told.extend(unranked.take(technique::MOST - 1));
        let mut next = Vec::new();
        for (rate, engines) in all_choices().filter_map(Choices::to_compare_at_a_rate) {
            next.extend(at_a_given_rate(board, rate, &engines));
        }
        if all_choices().any(|it| !it.to_slow_down().is_empty()) && first != Measure::RoundTrip {
            next.extend(at_a_lower_rate(board, &told));
        }
        next.extend(only_on_a_wire(board, first, &told));
        let names_better = all_choices().any(Choices::name_better);
        let mut said: Vec<String> = hint(board).filter(|_| names_better).into_iter().collect();
        for (engines, choices) in lists.iter().filter(|(engines, _)| *engines > 1) {
            said.extend(said_by(choices, *engines));
        }
        said.extend(bursts::in_words(board, &best(&lists)));
        if is_unranked {
            said.push(only_offload(board, known.first().copied()));
        } else if !unknown.is_empty() {
            said.push(without_offload(board, &unknown));
        }
        let best = best(&lists);
        Self {
            saves: saves(&gains, &best, best.len() == 1 && said.len() == 1),
            said,
            reach: Vec::from_iter(intervals(board, &best, &gains)),
            hints: remarks(board, &lists, &told),
            next,
            gains,
            rate_to_compare_at: all_choices()
                .filter_map(|it| Some(it.to_compare_at_a_rate()?.0))
                .min(),
            is_cut: is_unranked || all_choices().any(Choices::are_too_many),
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

    /// Adds the command that lists what the lines leave out, if they leave anything out.
    #[must_use]
    pub fn or_else_see(mut self, command: &str) -> Self {
        if self.is_cut {
            let lines = ["Every engine, and its place:", command];
            self.next.extend(lines.map(str::to_owned));
        }
        self
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

/// Says that offload is all that was measured, besides this engine.
fn only_offload(board: &BoardRanking, besides: Option<&str>) -> String {
    let besides = besides.map_or_else(String::new, |only| format!("besides {only}, "));
    let where_shown = match board.machine.network {
        Network::Loopback => "between two hosts",
        Network::Veth | Network::Wire => "over a cable",
    };
    format!("No recommendation: {besides}only offload was measured, whose gain shows {where_shown}")
}

/// Says that these engines with offload are left out, and why.
fn without_offload(board: &BoardRanking, engines: &Labels) -> String {
    let why = board.whole_trains.as_ref();
    let why = why.map_or_else(String::new, |why| format!(" (cutting them: {why})"));
    let names = names(engines, "and");
    // A queueing discipline may cut what would pass a veth(4) whole.
    let stay = match board.machine.network {
        Network::Veth => "may stay",
        Network::Loopback | Network::Wire => "stay",
    };
    format!("Left out: {names}, whose packets {stay} whole here, unlike on a cable{why}")
}

/// Returns the lines on what these engines surely gain over std, one for each, which names it unless `is_said`: the line
/// before is about the only one. Empty: nothing.
fn saves(gains: &[Gain], best: &Labels, is_said: bool) -> Vec<String> {
    let gained = gains.iter().filter(|gain| {
        let is_sure = matches!(gain.than_std, Some(ThanStd::Better(_)));
        is_sure && best.contains(gain.engine.as_str())
    });
    let gained: Vec<&Gain> = gained.collect();
    let alike = gained.chunk_by(|one, other| one.engine == other.engine);
    alike
        .map(|gains| match &gains[0].engine {
            _ if is_said => gain::in_short(gains),
            engine => format!("{engine}: {}", gain::in_short(gains)),
        })
        .collect()
}

/// Returns the reason why the rows say nothing about engines.
fn unusable(board: &BoardRanking) -> Option<String> {
    // Who lost datagrams, and who was fast, is then theirs to say.
    let disturbed = board.disturbed_in_words()?;
    Some(format!("other programs took the CPUs {disturbed}"))
}

/// Engines to choose from: their number, and the choices by each measure.
type List<'a> = (usize, Vec<Choices<'a>>);

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
        let choices = asked.iter();
        let choices = choices.map(|&by| Choices::of(board, by, labels, among));
        (engines, choices.collect())
    });
    lists.collect()
}

/// Returns the engines that the lines name, which are measured again. Pairs with the same sender are all of them: the
/// line is about their order.
fn told<'a>(gains: &'a [Gain], lists: &[List<'a>]) -> Labels<'a> {
    let gains = gains.iter().map(|gain| gain.engine.as_str());
    let choices = lists.iter().flat_map(|(_, choices)| choices);
    let others = choices.flat_map(|it| &it.to_slow_down() | &it.compared_receivers());
    gains.chain(best(lists)).chain(others).collect()
}

/// Returns the engines that are, or may be, the best by the first measure.
fn best<'a>(lists: &[List<'a>]) -> Labels<'a> {
    let firsts = lists.iter().filter_map(|(_, choices)| choices.first());
    firsts.flat_map(Choices::engines).collect()
}

/// Returns the lines of advice: by the first measure, and by the second one if its engines differ.
fn said_by(choices: &[Choices], engines: usize) -> Vec<String> {
    let Some((first, others)) = choices.split_first() else {
        return Vec::new();
    };
    // What was sent in vain, and waiting in a call, is in the CPU times.
    let is_full = first.need_a_rate();
    let others = others.iter().filter(|_| !is_full);
    let others = others.filter(|it| it.engines() != first.engines());
    let headline = first.headline(engines).into_iter();
    let lines = headline.chain(first.others());
    lines
        .chain(others.filter_map(|it| it.headline(engines)))
        .collect()
}

/// Returns the remarks on intervals, on engines, and on what decides round trips besides the engine.
fn remarks(board: &BoardRanking, lists: &[List], told: &Labels) -> Vec<String> {
    let first = lists.first().and_then(|(_, choices)| choices.first());
    let facts = board.circumstances.as_ref();
    let facts = facts.zip(first).and_then(|(facts, first)| {
        let cpus = board
            .averaged
            .iter()
            .filter_map(|one| one.conditions.cpus());
        facts.in_words(&cpus.collect(), first.soonest_alone())
    });
    let all = [
        first.and_then(Choices::cpus_where_full),
        never_sleep(board),
        left_out(board),
        polls(board, told),
        facts,
    ];
    all.into_iter().flatten().collect()
}

/// Returns the remark on intervals: they hold within this run. Where earlier runs are known, says how far the next one may differ,
/// for the best engines or else for the median of all cases. `None`: neither is known.
fn intervals(board: &BoardRanking, best: &Labels, gains: &[Gain]) -> Option<String> {
    if board.circumstances.is_some() {
        return board.is_virtual.then(|| board.remark_on_intervals());
    }
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
    let engines: Labels = engines.map(|(engine, _)| engine.as_str()).collect();
    let names = names(&engines, "and");
    (!engines.is_empty()).then(|| format!("Left out, as measured in too few groups: {names}"))
}

/// Returns the remark on engines that never sleep. They are not recommended, as few machines can spare the CPUs that
/// they need.
fn never_sleep(board: &BoardRanking) -> Option<String> {
    let places = board.averaged.iter().flat_map(|one| &one.standing.places);
    let spinning = places.filter(|place| needs_spare_cpus(board, place));
    let engines: Labels = spinning.map(|place| place.label.as_str()).collect();
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
fn polls(board: &BoardRanking, told: &Labels) -> Option<String> {
    let what = "Busy polling takes CPU time while nothing comes: udpbench latency shows how much at your load";
    let mut cases = told.iter().map(|label| board.case(label));
    let any_polls = cases.any(|case| case.busy_poll.is_some());
    (any_polls && board.circumstances.is_none()).then(|| what.to_owned())
}

fn hint(board: &BoardRanking) -> Option<String> {
    let is_poor = board.quality.grade == Grade::Poor;
    let reason = board.quality.reasons.first().filter(|_| is_poor)?;
    Some(format!("A hint at most: the run was poor, {reason}"))
}
