//! Draws the ranking as text, as wide as the terminal.

use std::fmt::Write as _;

use super::estimate::Reading;
use super::group::{RequestConditions, RowGroup};
use super::standing::{Measure, RankBy, RankedEngine, Standing, Unit};
use super::{Averaged, BoardRanking};
use crate::term::fold;
use crate::term::table::{Columns, Table};
use crate::text::digits::{counted, decimals, decimals_without_interval};

/// Selection of the parts of a ranking to show.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Measures to show.
    pub by: RankBy,
    /// Number of engines to show in each list.
    pub top: usize,
    /// True: each group as well as the averages, with all engines.
    pub details: bool,
}

/// Draws each machine's ranking, `width` columns wide, with the advice first.
pub fn draw(boards: &[BoardRanking], view: View, width: u16) -> String {
    let boards = boards.iter();
    let boards = boards.map(|board| of_board(board, view, width.into()));
    boards.collect::<Vec<String>>().join("\n")
}

/// Explanation of the columns.
const LEGEND: &str = "
group: rows that can be compared, as threads, payload, ip, connection and buffers are equal.
times std: datagrams received per second, relative to std on connected sockets in the same rounds,
as is the CPU time per datagram (kpps, CPU ns: absolute, where std was not measured). p50 us: half
of the round trips take no longer; 10 %: of the rate that the engine reached. Sorted by value.
Place: 1 + the number of engines that are surely better, held against each other round by round
(each pair at 5 %), so engines that cannot be told apart share a place; none (-) without an
interval. Over several groups: geometric mean over those that all listed engines have. Intervals
hold within this run, or over the runs that are averaged: the rates of another run may lie outside.
";

fn of_board(board: &BoardRanking, view: View, room: usize) -> String {
    let rows = counted(board.rows().count(), "row");
    let groups = counted(board.groups.len(), "group");
    let heading = format!("== {}: {rows} in {groups}", board.machine);
    let mut text = fold::cut(&heading, room) + "\n";
    text += &board.answer(view.by).draw(room);
    if !board.groups.is_empty() {
        text += &lists(board, view).draw(room);
    }
    text + &labelled("remark", &board.remarks, room)
}

/// Returns the requested lists as one table.
fn lists(board: &BoardRanking, view: View) -> Table {
    let mut lists: Vec<(String, &Standing, usize)> = Vec::new();
    for ranking in board.groups.iter().filter(|_| view.details) {
        let heading = heading_of(&ranking.group, board);
        let standings = ranking.standings.iter();
        lists.extend(standings.map(|standing| (heading.clone(), standing, view.top)));
    }
    let labels = board.labels();
    let top = if view.details { usize::MAX } else { view.top };
    for one in &board.averaged {
        let Averaged { groups, of, .. } = one;
        let label = labels.get(&one.conditions).map_or("", String::as_str);
        let label = format!("{label}, {groups} of {}", counted(*of, "group"));
        lists.push((label, &one.standing, top));
    }
    lists.retain(|(_, standing, _)| view.by.includes(standing.measure));
    let columns = columns();
    let mut table = columns.empty();
    for (label, standing, top) in lists {
        table.text(format!("-- {label}, in {}", standing.unit_text()));
        for place in standing.places.iter().take(top) {
            table.row(columns.cells(&(standing, place)));
        }
        let hidden = standing.places.get(top..).unwrap_or_default();
        let tied = hidden.iter().filter(|place| place.is_first()).count();
        if !hidden.is_empty() {
            let more = hidden.len();
            table.text(format!(
                "        and {more} more, {tied} of them on place 1"
            ));
        }
    }
    if !view.details {
        table.text("--details has each group");
    }
    table.text(LEGEND);
    table
}

/// Indents lines of text; only the first one gets the label.
pub(super) fn labelled(label: &str, lines: &[String], room: usize) -> String {
    let lines = lines.iter().enumerate().map(|(n, line)| {
        let label = if n == 0 { label } else { "" };
        fold::text(&format!("{label:<9}{line}\n"), room)
    });
    lines.collect()
}

/// Returns the heading of a group. Granted buffer sizes appear only where groups differ in them.
fn heading_of(group: &RowGroup, board: &BoardRanking) -> String {
    let mut heading = format!("{}, {}", group.block, group.connection);
    if let Some(RequestConditions { load, cpus }) = group.asked {
        let _ = write!(heading, ", {load}, {cpus}");
    }
    let mut others = board.groups.iter();
    if others.any(|other| other.group.granted != group.granted) {
        let bytes = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |it| it.to_string());
        let (rcvbuf, sndbuf) = group.granted;
        let _ = write!(heading, ", granted {} and {}", bytes(rcvbuf), bytes(sndbuf));
    }
    heading
}

/// A table row: the standing, and an engine with its place.
type Listed<'a> = (&'a Standing, &'a RankedEngine);

fn columns<'a>() -> Columns<'a, Listed<'a>> {
    Columns::<Listed>::default()
        .number("place", |(_, place)| {
            let place = place.place;
            place.map_or_else(|| "-".to_owned(), |place| place.to_string())
        })
        .word("engine", |(_, place)| place.label.clone())
        .number("value", |(standing, place)| {
            standing.figure(place.reading.value(), &place.reading)
        })
        .number("95 % interval", |(standing, place)| {
            let figure = |value: f64| standing.figure(value, &place.reading);
            let text = |(low, high)| format!("{} to {}", figure(low), figure(high));
            place.reading.interval().map(text).unwrap_or_default()
        })
        .spare(1, "loss %", |(_, place)| place.lost_pct())
}

impl Standing {
    pub(super) fn unit_text(&self) -> &'static str {
        match (self.measure, self.unit) {
            (Measure::Speed, Unit::TimesStd) => "times std",
            (Measure::Speed, Unit::Absolute) => "kpps",
            (Measure::RoundTrip, _) => "p50 us",
            (Measure::Cpu, Unit::TimesStd) => "times std's CPU time",
            (Measure::Cpu, Unit::Absolute) => "CPU ns",
        }
    }

    /// Formats a value for readers, with the digits that the interval of `reading` allows: a ratio, thousands of
    /// datagrams per second, or nanoseconds.
    pub(super) fn figure(&self, value: f64, reading: &Reading) -> String {
        let (unit, most) = match (self.unit, self.measure) {
            (Unit::TimesStd, _) => (1.0, 3),
            (Unit::Absolute, Measure::Speed) => (1000.0, 1),
            (Unit::Absolute, Measure::RoundTrip) => (1.0, 1),
            (Unit::Absolute, Measure::Cpu) => (1.0, 0),
        };
        let value = value / unit;
        let decimals = match reading.interval() {
            Some((low, high)) => decimals((high - low) / 2.0 / unit),
            None => decimals_without_interval(value),
        };
        let decimals = decimals.min(most);
        match value {
            _ if value < 1e4 => format!("{value:.decimals$}"),
            _ if value < 1e6 => format!("{value:.0}"),
            _ => format!("{value:.1e}"),
        }
    }
}
