//! Opening section of the page: the recommendation, where it holds, and the quality of the numbers. Before it, the
//! files: what was measured where, when and how.

use std::path::Path;

use maud::{Markup, html};

use super::tables::table;
use crate::results::export::markdown::circumstances;
use crate::results::files::Results;
use crate::results::log::Run;
use crate::results::row::{Machine, Network, Row};
use crate::term::fold::is_command;
use crate::term::shell;
use crate::text::digits::counted;
use crate::verdict::quality::{Grade, Quality};
use crate::verdict::rank::{self, BoardRanking, Gain, RankBy};

/// Returns the recommendation for each machine, and the quality of each file.
pub(super) fn summary(files: &[Results]) -> Markup {
    let boards = rank::rank(files);
    html! {
        @if boards.is_empty() { p .answer { "No recommendation: there are no cases." } }
        @for board in &boards {
            @if boards.len() > 1 { h3 { (board.machine) } }
            (of_board(board))
        }
        @if files.len() > 1 || boards.len() > 1 {
            ul .quality { @for file in files { li { (quality(file, files)) } } }
        }
    }
}

/// Returns the recommendation for a machine with its evidence, in the colour of the quality.
fn of_board(board: &BoardRanking) -> Markup {
    let (answer, quality) = (board.answer(RankBy::Both), &board.quality);
    html! {
        .answer .(quality.grade) {
            p .chips { span { (reach(board.machine.network)) } (quality_chip(quality.grade)) }
            @for (n, line) in answer.said.iter().enumerate() {
                p .advice { @if n == 0 { b { (line) } } @else { (line) } }
            }
            p .because { "Quality " (quality.grade) ": " (quality.because()) "." }
        }
        @if !answer.gains.is_empty() {
            (table("The best engine of each technique", &Gain::table(&answer.gains)))
        }
        @for line in answer.remarks() {
            @if is_command(line) { p { code { (line) } } } @else { p .legend { (line) } }
        }
    }
}

/// Returns where the results hold.
pub(super) fn reach(network: Network) -> &'static str {
    match network {
        Network::Wire => "Between two hosts, over a network",
        Network::Veth => "veth: both ends on one machine, a virtual network",
        Network::Loopback => "Loopback: both ends on one machine, no network",
    }
}

/// Returns the grade with its sign, which distinguishes the grades without colours.
pub(super) fn quality_chip(grade: Grade) -> Markup {
    let sign = match grade {
        Grade::Good => "●",
        Grade::Fair => "◐",
        Grade::Poor => "○",
    };
    html! { span class=(grade) { span aria-hidden="true" { (sign) } " Quality: " (grade) } }
}

fn quality(file: &Results, files: &[Results]) -> Markup {
    let quality = Quality::of(&file.rows);
    html! { b { (name(file, files)) } ": quality " (quality.grade) ": " (quality.because()) }
}

/// Returns what is between the ends: of several networks, the most real one.
pub(super) fn network(rows: &[Row]) -> Network {
    let networks = rows.iter().map(|row| Machine::of(row).network);
    networks.max().unwrap_or(Network::Loopback)
}

/// Returns the name of a file on the page: without its directory, unless another file has the same name.
pub(super) fn name(file: &Results, files: &[Results]) -> String {
    let base = |file: &Results| Some(Path::new(&file.name).file_name()?.to_owned());
    let name = base(file);
    let namesakes = files.iter().filter(|other| base(other) == name).count();
    match name {
        Some(name) if namesakes < 2 => name.to_string_lossy().into_owned(),
        _ => file.name.clone(),
    }
}

/// Returns the paragraph on a file.
pub(super) fn about(file: &Results, files: &[Results]) -> Markup {
    let cases = counted(file.rows.len(), "case");
    html! {
        p { (name(file, files)) ": " (cases) ". " (begun(&file.run, &circumstances(&file.rows))) }
        (command(&file.run))
    }
}

/// Returns the sentence on the start of a run.
pub(super) fn begun(run: &Run, machine: &str) -> Markup {
    html! { "Begun " (run.started_at) " on " (machine) ", by udpbench " (run.version) "." }
}

/// Returns the command of a run, to be pasted into a shell.
pub(super) fn command(run: &Run) -> Markup {
    let words = run.command_line.iter().map(|word| shell::word(word));
    let words: Vec<_> = words.collect();
    html! { @if !words.is_empty() { p { code { (words.join(" ")) } } } }
}

/// Marks an emulated or virtual machine, because its numbers are not those of the board.
pub(super) fn marked(machine: String, virtualization: &str) -> String {
    match virtualization {
        "" => machine,
        by => format!("{machine} (emulated or virtualised: {by})"),
    }
}
