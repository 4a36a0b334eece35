//! Commands that measure the engines of an answer again: between two hosts, or at rates that they can receive.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::choices::Labels;
use super::{BoardRanking, other_options, technique};
use crate::data::{BlockKey, EngineName, Workload};
use crate::results::row::Network;

/// Returns the warning that loopback cannot show everything, with the command that measures these engines between two
/// hosts. Empty if they were measured over a wire. `has_offload`: with some whose gain is unknown.
pub(super) fn only_on_a_wire(
    board: &BoardRanking,
    has_offload: bool,
    told: &Labels,
) -> Vec<String> {
    let place = match board.machine.network {
        Network::Wire => return Vec::new(),
        Network::Veth => "Over a cable",
        Network::Loopback => "Between two hosts",
    };
    // Nothing but datagrams goes between hosts.
    if told.is_empty() || blocks(board).any(|block| block.transport.is_some()) {
        return Vec::new();
    }
    let why = if has_offload {
        ", above all for offload, whose numbers here leave out the work of a NIC"
    } else {
        ""
    };
    let pairs = board.pairs(told);
    let programs = if technique::has_program(&pairs) {
        ", which has the program at the same path"
    } else {
        ""
    };
    let search = if board.is_latency { "latency " } else { "" };
    let options = options(board, technique::options(&pairs), told);
    vec![
        format!("{place} the order may differ{why}. Measure to another HOST{programs}:"),
        format!("udpbench wire HOST --deploy {search}{options}"),
    ]
}

/// Returns the command that compares the CPU times of these engines at a rate, in datagrams per second.
pub(super) fn at_a_given_rate(board: &BoardRanking, rate: u64, engines: &Labels) -> [String; 2] {
    let options = options(board, technique::options(&board.pairs(engines)), engines);
    [
        "CPU times at a rate that the path takes:".to_owned(),
        format!("udpbench wire HOST --deploy --rate {rate} {options}"),
    ]
}

/// Returns the command that compares engines at rates that they can receive. Empty if there are no such rates.
pub(super) fn at_a_lower_rate(board: &BoardRanking, told: &Labels) -> Vec<String> {
    let has_rates =
        |block: BlockKey| block.transport.is_none() && block.workload != Some(Workload::Bidir);
    if !blocks(board).all(has_rates) {
        return Vec::new();
    }
    let place = match board.machine.network {
        Network::Wire | Network::Veth => "wire HOST --deploy ",
        Network::Loopback => "",
    };
    // std is compared with all, and no gain of its own.
    let mut told = told.clone();
    let std = EngineName::REFERENCE.as_str();
    told.extend(board.engines().get(std));
    let engines = technique::options_at_a_rate(&board.pairs(&told));
    let options = options(board, engines, &told);
    vec![
        "Compare the highest rates without loss:".to_owned(),
        format!("udpbench {place}find lossless {options}"),
    ]
}

fn blocks(board: &BoardRanking) -> impl Iterator<Item = BlockKey> {
    board.groups.iter().map(|ranking| ranking.group.block)
}

/// Returns the options of a command that measures these engines again. `engines`: those that choose them.
fn options(board: &BoardRanking, engines: String, told: &Labels) -> String {
    fn list<T: Display>(flag: &str, values: impl IntoIterator<Item = T>) -> Option<String> {
        let values = values.into_iter().map(|value| value.to_string());
        let values = values.collect::<Vec<String>>().join(",");
        (!values.is_empty()).then(|| format!("{flag} {values}"))
    }
    let workloads = blocks(board).map(|block| block.workload.unwrap_or(Workload::Flood));
    let workloads: BTreeSet<_> = workloads.collect();
    let is_plain = board.is_latency || workloads == BTreeSet::from([Workload::Flood]);
    let threads = blocks(board).map(|block| block.threads);
    let threads: BTreeSet<_> = threads.filter(|threads| !threads.is_alone()).collect();
    let payloads: BTreeSet<_> = blocks(board).map(|block| block.payload).collect();
    let cases = told.iter().map(|label| board.case(label));
    let options = [
        Some(engines).filter(|engines| !engines.is_empty()),
        list("--workload", workloads.iter().filter(|_| !is_plain)),
        list("--busy-poll", technique::busy_polls(cases)),
        list("--threads", threads),
        list("--payload", payloads),
    ];
    // The search `latency`, by which the rows were made, chooses rates itself.
    let others = other_options::of(board.rows().map(|row| &row.case)).into_iter();
    let others = others.filter(|it| !(board.is_latency && it.split(' ').next() == Some("--rate")));
    let options: Vec<String> = options.into_iter().flatten().chain(others).collect();
    options.join(" ")
}
