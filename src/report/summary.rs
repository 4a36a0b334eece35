//! Opening section of the page: the recommendation, where it holds, and the quality of the numbers.

use maud::{Markup, html};

use super::files::name;
use super::table::table;
use crate::results::files::Results;
use crate::results::row::{Machine, Network, Row};
use crate::term::fold::is_command;
use crate::verdict::quality::{Grade, Quality};
use crate::verdict::rank::{self, BoardRanking, By, Gain};

/// Returns the recommendation for each machine, and the quality of each file.
pub(super) fn summary(files: &[Results]) -> Markup {
    let boards = rank::rank(files);
    html! {
        @if boards.is_empty() { p .answer { "No recommendation: there are no cases." } }
        @for board in &boards {
            @if boards.len() > 1 { h3 { (board.machine) } }
            (of_board(board, files))
        }
        @if files.len() > 1 || boards.len() > 1 {
            ul .quality { @for file in files { li { (quality(file, files)) } } }
        }
    }
}

/// Returns the recommendation for a machine with its evidence, in the colour of the quality.
fn of_board(board: &BoardRanking, files: &[Results]) -> Markup {
    let answer = board.answer(By::Both);
    let rows = files.iter().flat_map(|file| &file.rows);
    let rows = rows.filter(|row| Machine::of(row) == board.machine);
    let quality = Quality::of(rows);
    html! {
        .answer .(class(quality.grade)) {
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

/// Returns the class of a grade.
pub(super) fn class(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "good",
        Grade::Fair => "fair",
        Grade::Poor => "poor",
    }
}

/// Returns the grade with its sign, which distinguishes the grades without colours.
pub(super) fn quality_chip(grade: Grade) -> Markup {
    let sign = match grade {
        Grade::Good => "●",
        Grade::Fair => "◐",
        Grade::Poor => "○",
    };
    html! { span class=(class(grade)) { span aria-hidden="true" { (sign) } " Quality: " (grade) } }
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
