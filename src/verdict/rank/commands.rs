//! Commands that measure the engines of an answer again: between two hosts, or at rates that they can receive.

use std::collections::BTreeSet;

use super::choices::{is_unknown, listed};
use super::measure::Measure;
use super::{BoardRanking, engines, technique};
use crate::data::{BlockKey, EngineName, Workload};
use crate::results::row::Network;

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
    let programs = if technique::has_program(&board.pairs(told)) {
        ", which has the program at the same path"
    } else {
        ""
    };
    vec![
        format!("{place} the order may differ{why}. Measure to another HOST{programs}{varied}:"),
        format!(
            "udpbench wire HOST --deploy {latency}{}",
            options(board, technique::options(&board.pairs(told)), told).join(" ")
        ),
    ]
}

/// Returns the command that compares the CPU times of these engines at a rate, in datagrams per second.
pub(super) fn at_a_given_rate(
    board: &BoardRanking,
    rate: u64,
    engines: &BTreeSet<&str>,
) -> [String; 2] {
    let pairs = technique::options(&board.pairs(engines));
    [
        "CPU times at a rate that the path takes:".to_owned(),
        format!(
            "udpbench wire HOST --deploy --rate {rate} {}",
            options(board, pairs, engines).join(" ")
        ),
    ]
}

/// Returns the command that compares engines at rates that they can receive. Empty if there are no such rates.
pub(super) fn at_a_lower_rate(board: &BoardRanking, told: &BTreeSet<&str>) -> Vec<String> {
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
    let engines = technique::options_at_a_rate(&board.pairs(&told));
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
    let times = technique::busy_polls(told.iter().map(|label| board.case(label)));
    let options = [
        Some(engines).filter(|engines| !engines.is_empty()),
        list("--workload", workloads.map(ToString::to_string).collect()),
        list("--busy-poll", times),
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
