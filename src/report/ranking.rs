//! Section of the ranking, from [`crate::verdict::rank`].

use maud::{Markup, html};

use super::number;
use crate::results::files::Results;
use crate::verdict::rank::table::{LEGEND, caption, heading_of};
use crate::verdict::rank::{
    self, Averaged, BoardRanking, GroupRanking, Measure, RankedEngine, Standing, Unit,
};

/// Returns the ranking over all files, separately for each machine.
pub(super) fn places(files: &[Results]) -> Markup {
    let ranking = rank::rank(files);
    html! {
        @if ranking.boards.is_empty() { p { "There are no cases." } }
        @for board in &ranking.boards {
            @if ranking.boards.len() > 1 { h4 { (board.machine) } }
            (of_board(board, files))
        }
    }
}

fn of_board(board: &BoardRanking, files: &[Results]) -> Markup {
    html! {
        @if !board.averaged.is_empty() {
            p .legend {
                "Engines that share a place cannot be told apart. "
                @if files.len() > 1 {
                    "All files together: values of the same machine in several files are averaged."
                }
            }
            @for (conditions, label) in &board.labels() {
                @let averaged = || board.averaged.iter().filter(|one| one.conditions == *conditions);
                .pair { @for averaged in averaged() { (table(averaged, label)) } }
            }
            (leaders(board))
            details { summary { "How to read it" } p { (LEGEND.trim()) } }
        }
        @if !board.remarks.is_empty() {
            ul { @for remark in &board.remarks { li { (remark) } } }
        }
    }
}

fn shown(place: &RankedEngine) -> String {
    place
        .place
        .map_or_else(|| "-".to_owned(), |n| n.to_string())
}

/// Returns the unit, which counts in thousands.
fn unit(standing: &Standing) -> &'static str {
    match (standing.unit, standing.measure) {
        (Unit::TimesStd, _) => "times std",
        (Unit::Absolute, Measure::RoundTrip) => "us",
        (Unit::Absolute, Measure::Speed) => "kpps",
        (Unit::Absolute, Measure::Cpu) => "ns",
    }
}

fn table(averaged: &Averaged, label: &str) -> Markup {
    let (standing, caption) = (&averaged.standing, caption(averaged, label));
    html! {
        div {
            .scroll tabindex="0" role="region" aria-label=(caption) {
                table .named {
                    caption { (caption) }
                    thead {
                        tr {
                            th scope="col" { "place" }
                            th scope="col" { "engine" }
                            th scope="col" { (unit(standing)) }
                            th scope="col" { "95 % interval" }
                            th scope="col" { "loss %" }
                        }
                    }
                    tbody { @for place in &standing.places { (line(standing, place)) } }
                }
            }
            @if !averaged.left_out.is_empty() {
                p .legend {
                    "Too few groups to be ranked: "
                    @for (n, (engine, groups)) in averaged.left_out.iter().enumerate() {
                        @if n > 0 { ", " }
                        (engine) " (" (groups) ")"
                    }
                }
            }
        }
    }
}

fn line(standing: &Standing, place: &RankedEngine) -> Markup {
    html! {
        tr {
            td { (shown(place)) }
            th scope="row" { (place.label) }
            td { (standing.figure(place.reading.value(), &place.reading)) }
            td { (interval(standing, place)) }
            td { (place.lost_pct()) }
        }
    }
}

fn interval(standing: &Standing, place: &RankedEngine) -> String {
    let figure = |value| standing.figure(value, &place.reading);
    let text = |(low, high)| format!("{} to {}", figure(low), figure(high));
    place.reading.interval().map_or_else(String::new, text)
}

/// Returns a collapsed table of the best engines in each group.
fn leaders(board: &BoardRanking) -> Markup {
    let standings = || board.groups.iter().flat_map(|group| &group.standings);
    let is_measured = |measure: &Measure| standings().any(|one| one.measure == *measure);
    let measures: Vec<Measure> = Measure::ALL.into_iter().filter(is_measured).collect();
    html! {
        details {
            summary { "Group by group: " (number::counted(board.groups.len(), "group")) }
            .scroll tabindex="0" role="region" aria-label="First place in each group" {
                table .words {
                    caption {
                        "Engines on place 1 in each group, with the value and 95 % interval (within this run) of the best"
                    }
                    thead {
                        tr {
                            th scope="col" { "group" }
                            @for measure in &measures {
                                @let (best, value) = headings(*measure);
                                th scope="col" { (best) }
                                th scope="col" { (value) }
                            }
                        }
                    }
                    tbody {
                        @for ranking in &board.groups {
                            tr {
                                th scope="row" { (heading_of(&ranking.group, board)) }
                                @for measure in &measures { (first(ranking, *measure)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the headings of the best engine and of its value.
fn headings(measure: Measure) -> (&'static str, &'static str) {
    match measure {
        Measure::Speed => ("fastest", "its speed"),
        Measure::RoundTrip => ("soonest", "its round trip"),
        Measure::Cpu => ("cheapest", "its CPU time"),
    }
}

fn first(ranking: &GroupRanking, measure: Measure) -> Markup {
    let none = || html! { td { "none has an interval" } td {} };
    let mut standings = ranking.standings.iter();
    let Some(standing) = standings.find(|standing| standing.measure == measure) else {
        return none();
    };
    let Some(best) = standing.leaders().next() else {
        return none();
    };
    let names: Vec<&str> = standing
        .leaders()
        .map(|place| place.label.as_str())
        .collect();
    let value = standing.figure(best.reading.value(), &best.reading);
    html! {
        td { (names.join(", ")) }
        td { (value) " (" (interval(standing, best)) ") " (unit(standing)) }
    }
}
