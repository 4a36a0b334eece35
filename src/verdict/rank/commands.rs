//! Commands that measure again what an answer is about: between two hosts, or at rates that engines can receive. The
//! reader adds the options of the run, which rows do not have.

use super::BoardRanking;
use crate::data::{BlockKey, Workload};
use crate::engines;
use crate::results::row::Network;

/// Returns the warning that loopback cannot show everything, with the command that measures between two hosts. Empty if
/// that was done. `has_offload`: with engines whose gain is unknown.
pub(super) fn only_on_a_wire(board: &BoardRanking, has_offload: bool) -> Vec<String> {
    let place = match board.machine.network {
        Network::Wire => return Vec::new(),
        Network::Veth => "Over a cable",
        Network::Loopback => "Between two hosts",
    };
    // Nothing but datagrams goes between hosts.
    if blocks(board).any(|block| block.transport.is_some()) {
        return Vec::new();
    }
    let why = if has_offload {
        ", above all for offload, whose numbers here leave out the work of a NIC"
    } else {
        ""
    };
    let search = if board.is_latency { " latency" } else { "" };
    vec![
        format!("{place} the order may differ{why}; with your other options:"),
        format!("udpbench wire HOST --deploy{search}"),
    ]
}

/// Returns the command that compares CPU times at a rate, in datagrams per second.
pub(super) fn at_a_given_rate(rate: u64) -> [String; 2] {
    [
        "CPU times at a rate that the path takes, with your other options:".to_owned(),
        format!("udpbench wire HOST --deploy --rate {rate}"),
    ]
}

/// Returns the command that compares engines at rates that they can receive. Empty if there are no such rates, or a
/// program is among the engines, which cannot keep a rate.
pub(super) fn at_a_lower_rate(board: &BoardRanking) -> Vec<String> {
    let has_rates =
        |block: BlockKey| block.transport.is_none() && block.workload != Some(Workload::Bidir);
    let rows = board.rows();
    let mut names = rows.flat_map(|row| [row.case.sender, row.case.receiver]);
    if !blocks(board).all(has_rates) || names.any(|name| engines::properties(name).is_none()) {
        return Vec::new();
    }
    let place = match board.machine.network {
        Network::Wire | Network::Veth => "wire HOST --deploy ",
        Network::Loopback => "",
    };
    vec![
        "Compare the highest rates without loss, with your other options:".to_owned(),
        format!("udpbench {place}find lossless"),
    ]
}

fn blocks(board: &BoardRanking) -> impl Iterator<Item = BlockKey> {
    board.groups.iter().map(|ranking| ranking.group.block)
}
