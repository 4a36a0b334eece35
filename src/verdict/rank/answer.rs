//! Builds the answer for one machine: the engines to use, the certainty, and the numbers behind them.

use std::collections::BTreeSet;

use super::choices::{Choices, half_in_words, is_unknown, listed, names, needs_spare_cpus};
use super::gain::Gain;
use super::gains::Gains;
use super::measure::{By, Measure};
use super::{BoardRanking, Earlier};
use super::{table, technique};
use crate::data::{BlockKey, EngineName, Workload};
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
        let labels = board.labels();
        let choices = asked
            .iter()
            .map(|&measure| (measure, Choices::of(board, measure, &labels)));
        let choices: Vec<(Measure, Choices)> = choices.collect();
        let gains = Gains {
            board,
            by,
            first,
            labels: &labels,
        };
        let gains = gains.all();
        let best = choices[0].1.engines();
        let told = gains.iter().map(|gain| gain.engine.as_str());
        let overrun = choices.iter().flat_map(|(_, choice)| choice.overrun());
        let told: BTreeSet<&str> = told.chain(best.iter().copied()).chain(overrun).collect();
        let mut hints = Vec::from_iter(intervals(board, &best, &gains));
        if choices.iter().any(|(_, choice)| choice.need_a_lower_rate()) {
            hints.extend(at_a_lower_rate(board, &told));
        }
        hints.extend(never_sleep(board, first));
        hints.extend(left_out(board));
        hints.extend(polls(&told));
        hints.extend(only_on_a_wire(board, first, &told));
        let known: Vec<&str> = engines
            .into_iter()
            .filter(|engine| !unknown.contains(engine))
            .collect();
        let said = match &known[..] {
            [only] => {
                let none = format!(
                    "No recommendation: besides {only}, only offload was measured, whose gain shows on a wire. Their order: \
                     udpbench rank --details FILE"
                );
                hint(board).into_iter().chain([none]).collect()
            }
            _ => said(board, &choices, known.len()),
        };
        Self { said, gains, hints }
    }

    /// Returns the answer as sentences, one per line, for places without columns.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let gains = self.gains.iter().map(Gain::sentence);
        let said = self.said.iter().cloned();
        said.chain(gains).chain(self.hints.iter().cloned())
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

/// Returns the lines of advice: by the first measure, and by the second one if its engines differ.
fn said(board: &BoardRanking, choices: &[(Measure, Choices)], engines: usize) -> Vec<String> {
    let limit = if board.machine.network == Network::Wire {
        ": the wire may be the limit"
    } else {
        ""
    };
    let mut said: Vec<String> = hint(board).into_iter().collect();
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

/// Returns the remark on intervals: they hold within this run. Where earlier runs are known, says how far they differed,
/// for the best engines or else for the median of all cases. `None`: neither is known.
fn intervals(board: &BoardRanking, best: &BTreeSet<&str>, gains: &[Gain]) -> Option<String> {
    let within = board.reach_of_intervals();
    let has_interval = gains.iter().any(|gain| !gain.interval_text.is_empty());
    let of_best = board.earlier.iter();
    let of_best = of_best.filter(|earlier| best.contains(earlier.engine.as_str()));
    let (mut known, whose): (Vec<&Earlier>, _) = match of_best.collect::<Vec<_>>() {
        none if none.is_empty() => (board.earlier.iter().collect(), "all".to_owned()),
        some => {
            let known = some.iter().map(|earlier| earlier.engine.as_str());
            let whose = names(&known.collect(), "and");
            (some, whose)
        }
    };
    known.sort_by(|one, other| one.half_pct.total_cmp(&other.half_pct));
    let between = known.get(known.len() / 2).map(|median| {
        let (runs, half) = (median.runs, half_in_words(median.half_pct));
        format!("our last {runs} runs differed by +-{half} (rates of {whose})")
    });
    match (has_interval, between) {
        (true, Some(between)) => Some(format!("+-% is {within}; y{between}")),
        (true, None) => Some(format!("+-% is {within}")),
        (false, between) => between.map(|between| format!("Y{between}")),
    }
}

/// Returns the engines that were measured, sorted by name.
pub(super) fn engines(board: &BoardRanking) -> Vec<&str> {
    let places = board.averaged.iter().flat_map(|one| &one.standing.places);
    let ranked = places.map(|place| place.label.as_str());
    let left_out = board.averaged.iter().flat_map(|one| &one.left_out);
    let all: BTreeSet<&str> = ranked
        .chain(left_out.map(|(engine, _)| engine.as_str()))
        .collect();
    all.into_iter().collect()
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
fn polls(told: &BTreeSet<&str>) -> Option<String> {
    let what = "Busy polling takes CPU time while nothing comes: udpbench latency shows how much at your load";
    (!technique::busy_polls(told).is_empty()).then(|| what.to_owned())
}

pub(super) fn hint(board: &BoardRanking) -> Option<String> {
    let is_poor = board.quality.grade == Grade::Poor;
    let reason = board.quality.reasons.first().filter(|_| is_poor)?;
    Some(format!("A hint only: the run was poor, {reason}"))
}

/// Returns the warning that loopback cannot show everything, with the command that measures these engines between two
/// hosts. Empty if they were measured over a wire.
pub(super) fn only_on_a_wire(
    board: &BoardRanking,
    measure: Measure,
    told: &BTreeSet<&str>,
) -> Vec<String> {
    let place = match board.machine.network {
        Network::Wire => return Vec::new(),
        Network::Veth => "Over a cable",
        Network::Loopback => "Between two hosts",
    };
    // Nothing but datagrams goes between hosts.
    let mut groups = board.groups.iter();
    if told.is_empty() || groups.any(|ranking| ranking.group.block.transport.is_some()) {
        return Vec::new();
    }
    let averaged = board.averaged_by(measure);
    let mut places = averaged.flat_map(|one| &one.standing.places);
    let why = if places.any(|place| is_unknown(board, place)) {
        ", above all for offload, whose numbers here leave out the work of a NIC"
    } else {
        ""
    };
    let latency = if board.circumstances.is_some() {
        "latency "
    } else {
        ""
    };
    let varied = board.other_options.varied.iter().copied();
    let varied: Vec<&str> = varied
        .filter(|flag| !is_chosen_by_latency(board, flag))
        .collect();
    let varied = if varied.is_empty() {
        String::new()
    } else {
        format!(", with {} as here", listed(&varied, "and"))
    };
    vec![
        format!("{place} the order may differ{why}. Measure to another HOST{varied}:"),
        format!(
            "udpbench wire HOST --deploy {latency}{}",
            options(board, technique::options(told), told).join(" ")
        ),
    ]
}

/// Returns the command that compares engines at rates that they can receive. Empty if there are no such rates.
fn at_a_lower_rate(board: &BoardRanking, told: &BTreeSet<&str>) -> Vec<String> {
    let mut blocks = board.groups.iter().map(|ranking| ranking.group.block);
    let has_rates =
        |block: BlockKey| block.transport.is_none() && block.workload != Some(Workload::Bidir);
    if !blocks.all(has_rates) {
        return Vec::new();
    }
    let place = match board.machine.network {
        Network::Wire | Network::Veth => "wire HOST --deploy ",
        Network::Loopback => "",
    };
    // std is compared with all, and no gain of its own.
    let std = engines(board)
        .into_iter()
        .find(|engine| *engine == EngineName::REFERENCE.as_str());
    let told = told.iter().copied().chain(std).collect();
    let engines = technique::options_at_a_rate(&told);
    vec![
        "Compare the highest rates without loss:".to_owned(),
        format!(
            "udpbench {place}find lossless {}",
            options(board, engines, &told).join(" ")
        ),
    ]
}

/// Returns the options of a command that measures these engines again. `engines`: those that choose them.
fn options(board: &BoardRanking, engines: String, told: &BTreeSet<&str>) -> Vec<String> {
    let blocks = board.groups.iter().map(|ranking| ranking.group.block);
    let blocks: Vec<_> = blocks.collect();
    let payloads: BTreeSet<_> = blocks.iter().map(|block| block.payload).collect();
    let threads = blocks.iter().filter(|block| !block.threads.is_alone());
    let threads: BTreeSet<_> = threads.map(|block| block.threads).collect();
    let list = |flag: &str, values: Vec<String>| {
        (!values.is_empty()).then(|| format!("{flag} {}", values.join(",")))
    };
    let is_latency = board.circumstances.is_some();
    let workloads = blocks.iter().map(|block| block.workload);
    let workloads = workloads.map(|it| it.unwrap_or(Workload::Flood));
    let workloads: BTreeSet<_> = workloads.collect();
    let is_plain = is_latency || workloads == BTreeSet::from([Workload::Flood]);
    let workloads = workloads.iter().filter(|_| !is_plain);
    let times = technique::busy_polls(told).into_iter();
    let options = [
        Some(engines).filter(|engines| !engines.is_empty()),
        list("--workload", workloads.map(ToString::to_string).collect()),
        list("--busy-poll", times.map(str::to_owned).collect()),
        list(
            "--threads",
            threads.iter().map(ToString::to_string).collect(),
        ),
        list(
            "--payload",
            payloads.iter().map(ToString::to_string).collect(),
        ),
    ];
    let same = board.other_options.same.iter();
    let same = same.filter(|(flag, _)| !is_chosen_by_latency(board, flag));
    let same = same.map(|(flag, value)| format!("{flag} {value}"));
    options.into_iter().flatten().chain(same).collect()
}

/// Returns whether the search `latency`, by which the rows were made, chooses the values of an option itself.
fn is_chosen_by_latency(board: &BoardRanking, flag: &str) -> bool {
    board.circumstances.is_some() && flag == "--rate"
}
