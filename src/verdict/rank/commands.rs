//! Commands that measure the engines of an answer again: between two hosts, or at rates that they can receive.

use std::collections::BTreeSet;

use super::BoardRanking;
use super::choices::Labels;
use crate::data::{BlockKey, EngineName, Workload};
use crate::engines::{self, Entry};
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
    let search = if board.is_latency { "latency " } else { "" };
    vec![
        format!("{place} the order may differ{why}; with your other options:"),
        format!(
            "udpbench wire HOST --deploy {search}{}",
            options(board, told)
        ),
    ]
}

/// Returns the command that compares the CPU times of these engines at a rate, in datagrams per second.
pub(super) fn at_a_given_rate(board: &BoardRanking, rate: u64, engines: &Labels) -> [String; 2] {
    let options = options(board, engines);
    [
        "CPU times at a rate that the path takes, with your other options:".to_owned(),
        format!("udpbench wire HOST --deploy --rate {rate} {options}"),
    ]
}

/// Returns the command that compares engines at rates that they can receive. Empty if there are no such rates, or a
/// program is among them, which cannot keep a rate.
pub(super) fn at_a_lower_rate(board: &BoardRanking, told: &Labels) -> Vec<String> {
    // std is compared with all, and no gain of its own.
    let mut told = told.clone();
    told.extend(board.engines().get(EngineName::REFERENCE.as_str()));
    let has_rates =
        |block: BlockKey| block.transport.is_none() && block.workload != Some(Workload::Bidir);
    let mut engines = pairs(board, &told).flat_map(|(sender, receiver)| [sender, receiver]);
    if !blocks(board).all(has_rates) || engines.any(|name| engines::properties(name).is_none()) {
        return Vec::new();
    }
    let place = match board.machine.network {
        Network::Wire | Network::Veth => "wire HOST --deploy ",
        Network::Loopback => "",
    };
    vec![
        "Compare the highest rates without loss, with your other options:".to_owned(),
        format!("udpbench {place}find lossless {}", options(board, &told)),
    ]
}

fn blocks(board: &BoardRanking) -> impl Iterator<Item = BlockKey> {
    board.groups.iter().map(|ranking| ranking.group.block)
}

/// Sender and receiver of a case.
type Pair = (EngineName, EngineName);

fn pairs(board: &BoardRanking, labels: &Labels) -> impl Iterator<Item = Pair> {
    let cases = labels.iter().map(|label| board.case(label));
    cases.map(|case| (case.sender, case.receiver))
}

/// Returns the options of a command that measures these engines again, at these threads and payloads.
fn options(board: &BoardRanking, told: &Labels) -> String {
    let threads = blocks(board).map(|block| block.threads);
    let threads: BTreeSet<_> = threads.filter(|threads| !threads.is_alone()).collect();
    let payloads: BTreeSet<_> = blocks(board).map(|block| block.payload).collect();
    let mut options = engines_of(&pairs(board, told).collect::<Vec<Pair>>());
    options.extend(listed("--threads", threads.iter().map(ToString::to_string)));
    options.extend(listed(
        "--payload",
        payloads.iter().map(ToString::to_string),
    ));
    options.join(" ")
}

/// Returns the options that measure these pairs: engines that serve both sides, or if a pair can only be typed as such,
/// all senders and all receivers. Empty if there are more than five: then the default engines are measured.
fn engines_of(pairs: &[Pair]) -> Vec<String> {
    let names = |all: BTreeSet<String>| Some(all).filter(|all| all.len() <= 5);
    let engines: Option<BTreeSet<String>> = pairs.iter().map(typed_for_both).collect();
    if let Some(engines) = engines {
        let engines = names(engines).and_then(|all| listed("--engine", all));
        return engines.into_iter().collect();
    }
    let senders = names(pairs.iter().map(|pair| argument(pair.0)).collect());
    let receivers = names(pairs.iter().map(|pair| argument(pair.1)).collect());
    let both = senders.zip(receivers).and_then(|(senders, receivers)| {
        let senders = listed("--sender", senders)?;
        Some([senders, listed("--receiver", receivers)?])
    });
    both.into_iter().flatten().collect()
}

/// Returns an option with its values. `None` if there are none.
fn listed(flag: &str, values: impl IntoIterator<Item = String>) -> Option<String> {
    let values: Vec<String> = values.into_iter().collect();
    (!values.is_empty()).then(|| format!("{flag} {}", values.join(",")))
}

/// Returns the engine that `--engine` turns into this pair. `None`: only `--sender` and `--receiver` do.
fn typed_for_both(&(sender, receiver): &Pair) -> Option<String> {
    let names = (sender.as_str(), receiver.as_str());
    if names == ("gso", "gro") {
        return Some(engines::PAIR.to_owned());
    }
    let serves_both = |name: &EngineName| {
        let both = engines::find(name.as_str()).map(Entry::pair);
        both.is_some_and(|(sends, receives)| (sends.about.name, receives.about.name) == names)
    };
    let both = [sender, receiver].into_iter().find(serves_both);
    let own = both.or(Some(sender).filter(|_| sender == receiver));
    own.map(argument)
}

/// Returns what to type for an engine. Rows do not have the path of a program, which no build has as an engine.
fn argument(name: EngineName) -> String {
    match engines::find(name.as_str()) {
        Some(entry) => entry.argument(),
        None if engines::properties(name).is_some() => name.to_string(),
        None => format!("exec:{name}=PROGRAM"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(engines: &[&str]) -> String {
        let pairs = engines.iter().map(|engines| {
            let (sender, receiver) = engines.split_once('>').unwrap_or((engines, engines));
            let named = |name: &str| name.parse().expect("a name");
            (named(sender), named(receiver))
        });
        engines_of(&pairs.collect::<Vec<Pair>>()).join(" ")
    }

    #[test]
    fn engines_are_typed_as_one_would() {
        for (engines, expected) in [
            ("std", "--engine std"),
            ("gso>gro", "--engine gso-gro"),
            ("gso>mmsg", "--engine gso"),
            ("uring-zerocopy>uring", "--engine uring-zerocopy"),
            ("std>mmsg", "--sender std --receiver mmsg"),
            ("new", "--engine exec:new=PROGRAM"),
        ] {
            assert_eq!(typed(&[engines]), expected);
        }
        let told = ["std", "mmsg", "gso>gro", "gso>mmsg"];
        assert_eq!(typed(&told), "--engine gso,gso-gro,mmsg,std");
        let told = ["std", "uring>mmsg"];
        assert_eq!(typed(&told), "--sender std,uring --receiver mmsg,std");
    }
}
