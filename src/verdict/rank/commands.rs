//! Commands that measure again what an answer is about: between two hosts, or at rates that engines can receive. Of
//! several runs, or of rows alone, the options are not known: the reader adds them.

use super::BoardRanking;
use crate::data::{BlockKey, Workload};
use crate::engines;
use crate::results::command_line::CommandLine;
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
    let what = format!("{place} the order may differ{why}");
    with_command(board, &what, "; ", |typed| typed.between_hosts())
}

/// Returns the command that compares CPU times at a rate, in datagrams per second.
pub(super) fn at_a_given_rate(board: &BoardRanking, rate: u64) -> Vec<String> {
    let what = "CPU times at a rate that the path takes";
    let rate = [("--rate", rate.to_string())];
    with_command(board, what, ", ", |typed| {
        typed.without(&["--suite"], &rate)
    })
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
    let what = "Compare the highest rates without loss";
    with_command(board, what, ", ", |typed| typed.find_lossless(&[]))
}

/// Returns a line that says what a command is for, and the command, made of the command line of the run if it is known.
fn with_command(
    board: &BoardRanking,
    what: &str,
    gap: &str,
    command: impl Fn(CommandLine) -> String,
) -> Vec<String> {
    let typed = CommandLine(&board.command_line);
    let (rest, command) = if board.command_line.is_empty() {
        let hosts: &[&str] = match board.machine.network {
            Network::Wire | Network::Veth => &["wire", "HOST", "--deploy"],
            Network::Loopback => &[],
        };
        let latency = board.is_latency.then_some("latency");
        let words = ["udpbench"].iter().chain(hosts).copied().chain(latency);
        let words: Vec<String> = words.map(str::to_owned).collect();
        ("with your other options", command(CommandLine(&words)))
    } else if typed.has("--suite") {
        ("with the options of this sweep", command(typed))
    } else {
        return vec![format!("{what}:"), command(typed)];
    };
    vec![format!("{what}{gap}{rest}:"), command]
}

fn blocks(board: &BoardRanking) -> impl Iterator<Item = BlockKey> {
    board.groups.iter().map(|ranking| ranking.group.block)
}
