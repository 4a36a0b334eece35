//! What to use, and how sure that is: the lines that every place shows which gives advice.

use std::collections::BTreeSet;

use super::BoardRanking;
use super::choices::{Choices, Text, is_unknown, names, needs_spare_cpus};
use super::gains::Gains;
use super::measure::{By, Measure};
use super::technique;
use crate::quality::Grade;

/// The lines of the advice, what to use first.
pub(super) fn lines(board: &BoardRanking, by: By) -> Vec<String> {
    let asked = Measure::ALL.into_iter().filter(|&one| by.includes(one));
    let asked = asked.filter(|&measure| board.averaged_by(measure).next().is_some());
    let asked: Vec<Measure> = asked.collect();
    let Some(&first) = asked.first() else {
        return vec!["No recommendation: nothing could be ranked".to_owned()];
    };
    if board.is_at_given_rates {
        let what = "No recommendation: at given rates nothing is faster than asked; compare round trips, loss and CPU time";
        return vec![what.to_owned()];
    }
    if let [only] = &engines(board)[..] {
        return vec![format!("No recommendation: only {only} was measured")];
    }
    let labels = board.labels();
    let mut lines: Vec<String> = hint(board).into_iter().collect();
    let choices = asked
        .iter()
        .map(|&measure| Choices::of(board, measure, &labels).text());
    let choices: Vec<Text> = choices.collect();
    for (n, (measure, text)) in asked.iter().zip(&choices).enumerate() {
        // Of the second one only what is another choice.
        if n == 0 || text.best != choices[0].best {
            lines.extend(text.best(board, *measure));
        }
        if n == 0 {
            lines.extend(text.others.iter().cloned());
        }
    }
    let gains = Gains {
        board,
        by,
        first,
        labels: &labels,
    };
    lines.extend(gains.lines());
    lines.extend(never_sleep(board, first));
    lines.extend(left_out(board));
    lines.extend(only_on_a_wire(board, first));
    lines
}

/// The engines that were measured, in the order of their names.
fn engines(board: &BoardRanking) -> Vec<&str> {
    let places = board.averaged.iter().flat_map(|one| &one.standing.places);
    let ranked = places.map(|place| place.engine.as_str());
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
    (!engines.is_empty()).then(|| format!("Left out, as measured in too few settings: {names}"))
}

/// Those that are not recommended, as few can spare what they need.
fn never_sleep(board: &BoardRanking, measure: Measure) -> Option<String> {
    let averaged = board.averaged_by(measure);
    let places = averaged.flat_map(|one| &one.standing.places);
    let spinning = places.filter(|place| needs_spare_cpus(board, place));
    let engines: BTreeSet<&str> = spinning.map(|place| place.engine.as_str()).collect();
    let names = names(&engines, "and");
    let what = format!(
        "Not recommended, as their receivers keep a CPU each busy even when nothing comes: {names}"
    );
    (!engines.is_empty()).then_some(what)
}

fn hint(board: &BoardRanking) -> Option<String> {
    let is_poor = board.quality.grade == Grade::Poor;
    let reason = board.quality.reasons.first().filter(|_| is_poor)?;
    Some(format!("A hint only: the run was poor, {reason}"))
}

/// What loopback cannot show, and the command that can.
fn only_on_a_wire(board: &BoardRanking, measure: Measure) -> Vec<String> {
    let places = board
        .averaged_by(measure)
        .flat_map(|one| &one.standing.places);
    let mut unknown = places.filter(|place| is_unknown(board, place));
    let Some(first) = unknown.next() else {
        return Vec::new();
    };
    let blocks = board.settings.iter().map(|ranking| ranking.setting.block);
    let blocks: Vec<_> = blocks.filter(|block| !block.threads.is_alone()).collect();
    let threads: BTreeSet<_> = blocks.iter().map(|block| block.threads).collect();
    let payloads: BTreeSet<_> = blocks.iter().map(|block| block.payload).collect();
    let list = |flag: &str, values: Vec<String>| {
        if values.is_empty() {
            String::new()
        } else {
            format!(" {flag} {}", values.join(","))
        }
    };
    vec![
        "Loopback never cuts offload's trains, a wire must. Measure there first:".to_owned(),
        format!(
            "udpbench wire HOST {}{}{}",
            technique::options(&first.engine),
            list(
                "--threads",
                threads.iter().map(ToString::to_string).collect()
            ),
            list(
                "--payload",
                payloads.iter().map(ToString::to_string).collect()
            ),
        ),
    ]
}
