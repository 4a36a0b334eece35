//! Opening section of the page: the recommendation, the quality of the numbers, and three figures.

use maud::{Markup, html};

use super::tables::table;
use super::{board, comparison, figures};
use crate::results::files::Results;
use crate::verdict::quality::{Grade, Quality};
use crate::verdict::rank::{self, By, Gain};

/// Returns the recommendation, the changes between compared files, the quality of each file, and three figures.
pub(super) fn summary(files: &[Results], are_compared: bool) -> Markup {
    html! {
        (verdicts(files))
        @if are_compared { (comparison::verdicts(files)) }
        ul .quality { @for file in files { li { (quality(file, files)) } } }
        (figures::three(files))
    }
}

/// Returns the recommendation for each machine, with its evidence.
fn verdicts(files: &[Results]) -> Markup {
    let ranking = rank::rank(files);
    html! {
        @if ranking.boards.is_empty() { p .advice { "No recommendation: there are no cases." } }
        @for board in &ranking.boards {
            @let answer = board.answer(By::Both);
            p .advice {
                @if ranking.boards.len() > 1 { (board.machine) ": " }
                @for (n, line) in answer.said.iter().enumerate() {
                    @if n == 0 { b { (line) } } @else { br; (line) }
                }
            }
            @if !answer.gains.is_empty() {
                (table("The best engine of each technique", &Gain::table(&answer.gains)))
            }
            @for line in &answer.hints { p .legend { (line) } }
        }
    }
}

fn quality(file: &Results, files: &[Results]) -> Markup {
    let quality = Quality::of(&file.rows);
    let of_which = match files.len() {
        1 => String::new(),
        _ => format!(" of {}", board::shown(file, files)),
    };
    // The sign distinguishes the grades without colours.
    let (class, sign) = match quality.grade {
        Grade::Good => ("c3", "●"),
        Grade::Fair => ("c2", "◐"),
        Grade::Poor => ("c8", "○"),
    };
    html! {
        span class=(class) aria-hidden="true" { (sign) }
        " Quality" (of_which) ": " b { (quality.grade) } ": " (quality.because())
    }
}
