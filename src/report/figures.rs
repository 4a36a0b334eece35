//! Three figures of a run: the fastest case, the least CPU time, and the highest loss.

use maud::{Markup, html};

use super::cases::{drawable, line_label};
use super::{board, number};
use crate::data::BlockKey;
use crate::engines;
use crate::results::files::Results;
use crate::results::row::{Row, Status};

/// Returns the figures over all files. With several files, each figure names its file.
pub(super) fn three(files: &[Results]) -> Markup {
    let has_round_trips = measured(files).any(|(_, row)| row.rtt_p50_us.is_some());
    let first = if has_round_trips { round_trip } else { speed };
    let three = [first(files), cpu(files), loss(files)];
    html! {
        @if three.iter().any(Option::is_some) {
            ul .figures {
                @for figure in three.into_iter().flatten() {
                    li { span { (figure.name) } b { (figure.value) } small { (figure.about) } }
                }
            }
        }
    }
}

struct Figure {
    name: &'static str,
    value: String,
    about: String,
}

/// Returns the measured rows whose engines move datagrams, with their files.
fn measured(files: &[Results]) -> impl Iterator<Item = (&Results, &Row)> {
    let rows = files
        .iter()
        .flat_map(|file| file.rows.iter().map(move |row| (file, row)));
    rows.filter(|(_, row)| row.status == Status::Ok && moves_datagrams(row))
}

fn moves_datagrams(row: &Row) -> bool {
    let moves = |name: &String| match name.parse().ok().and_then(engines::properties) {
        Some(engine) => engine.moves_datagrams,
        None => true,
    };
    moves(&row.sender) && moves(&row.receiver)
}

/// Returns the smallest value, with its file and row.
fn least(files: &[Results], value: impl Fn(&Row) -> Option<f64>) -> Option<(f64, &Results, &Row)> {
    let values = measured(files);
    let values = values.filter_map(|(file, row)| Some((value(row)?, file, row)));
    values.min_by(|one, other| one.0.total_cmp(&other.0))
}

fn speed(files: &[Results]) -> Option<Figure> {
    let pps = |row: &Row| row.received_pps.and_then(drawable);
    let (least, file, row) = least(files, |row| pps(row).map(|pps| -pps))?;
    Some(Figure {
        name: "Fastest",
        value: format!("{} kpps", number::plain(-least / 1000.0)),
        about: match row.received_mbps.and_then(drawable) {
            Some(mbps) => format!("{} Mb/s; {}", number::plain(mbps), of(row, file, files)),
            None => of(row, file, files),
        },
    })
}

fn round_trip(files: &[Results]) -> Option<Figure> {
    let half = |row: &Row| row.rtt_p50_us.and_then(drawable);
    let (us, file, row) = least(files, half)?;
    let rare = row.rtt_p99_us.and_then(drawable);
    let rare = rare.map_or_else(String::new, |us| {
        format!("99 % within {} µs; ", number::plain(us))
    });
    Some(Figure {
        name: "Shortest round trip",
        value: format!("{} µs", number::plain(us)),
        about: format!("median; {rare}{}", of(row, file, files)),
    })
}

fn cpu(files: &[Results]) -> Option<Figure> {
    let (ns, file, row) = least(files, |row| row.cpu_ns_per_packet.and_then(drawable))?;
    Some(Figure {
        name: "Least CPU time",
        value: format!("{} ns", number::plain(ns)),
        about: format!("per datagram; {}", of(row, file, files)),
    })
}

fn loss(files: &[Results]) -> Option<Figure> {
    let pct = |row: &Row| row.loss_pct.and_then(drawable);
    let (least, file, row) = least(files, |row| pct(row).map(|pct| -pct))?;
    let all = measured(files)
        .filter(|(_, row)| pct(row).is_some())
        .count();
    let figure = |value: String, about| Figure {
        name: "Most lost",
        value,
        about,
    };
    Some(if least < 0.0 {
        let pct = number::plain(-least);
        figure(format!("{pct} %"), of(row, file, files))
    } else {
        let about = format!("no datagram of {}", number::counted(all, "case"));
        figure("0 %".to_owned(), about)
    })
}

/// Returns the name of a case, with its file if there are several.
fn of(row: &Row, file: &Results, files: &[Results]) -> String {
    let block = BlockKey {
        transport: None,
        address: None,
        ..row.block()
    };
    let case = format!("{}, {block}, {}", line_label(row), row.connection);
    match files.len() {
        1 => case,
        _ => format!("{case}, in {}", board::shown(file, files)),
    }
}
