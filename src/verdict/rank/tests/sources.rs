//! Tests of rows from several machines, files and versions.

use super::*;
use crate::data::Direction;
use crate::results::row::Network;

#[test]
fn each_machine_is_ranked_by_itself() {
    let elsewhere = |row: Row| Row {
        board: "another".to_owned(),
        ..row
    };
    let rows = [
        row("std", 2, 1.0, 1.0),
        row("mmsg", 2, 2.0, 0.5),
        elsewhere(row("std", 2, 1.0, 1.0)),
        elsewhere(row("mmsg", 2, 0.5, 2.0)),
    ];
    let emulated = rows.clone().map(|row| Row {
        virtualization: "qemu".to_owned(),
        ..row
    });
    assert_eq!(rank(&[file(&rows), file(&emulated)]).len(), 4);
    let ranking = rank(&[file(&rows[..2]), file(&rows[2..])]);
    let best = ranking.iter().map(|board| {
        let first = &board.averaged[0].standing.places[0];
        (board.machine.to_string(), first.label.as_str())
    });
    let best: Vec<_> = best.collect();
    assert_eq!(
        best,
        [
            ("another".to_owned(), "std"),
            ("made-up".to_owned(), "mmsg")
        ]
    );
}

#[test]
fn each_wire_is_ranked_by_itself_and_each_direction_of_it() {
    let local = [row("std", 2, 1.0, 1.0), row("mmsg", 2, 2.0, 0.5)];
    let wire = |remote: &'static str, direction: Direction| {
        local.clone().map(|row| Row {
            case: crate::data::Case {
                direction: Some(direction),
                ..row.case
            },
            direction: Some(direction),
            remote_board: remote.to_owned(),
            started_at: String::new(),
            ..row
        })
    };
    let files = [
        file(&local),
        file(&wire("rpi-4b", Direction::Up)),
        file(&wire("rpi-4b", Direction::Down)),
        file(&wire("rpi-5", Direction::Up)),
    ];
    let ranking = rank(&files);
    let groups = |board: &BoardRanking| (board.machine.network, board.groups.len());
    let groups: Vec<_> = ranking.iter().map(groups).collect();
    assert_eq!(
        groups,
        [
            (Network::Loopback, 1),
            (Network::Wire, 2),
            (Network::Wire, 1)
        ]
    );
    let text = table::draw(&ranking, BOTH, 100);
    for heading in ["== made-up", "to rpi-4b: 4 rows", "to rpi-5: 2 rows"] {
        assert!(text.contains(heading), "{text}");
    }
}

#[test]
fn what_several_files_measured_is_averaged_unless_its_buffers_differ() {
    let once = [row("std", 2, 1.0, 1.0), row("mmsg", 2, 2.0, 0.5)];
    let again = [row("std", 2, 1.0, 1.0), row("mmsg", 2, 4.5, 0.5)].map(|row| Row {
        started_at: "2026-11-22T00:00:00.000Z".to_owned(),
        ..row
    });
    let ranking = rank(&[file(&once), file(&once), file(&again)]);
    let board = &ranking[0];
    let mmsg = &board.averaged[0].standing.places[0];
    assert!((mmsg.reading.value() - 3.0).abs() < 1e-9);
    let averaged = "2 cases measured more than once and averaged".to_owned();
    assert!(board.remarks.contains(&averaged), "{:?}", board.remarks);
    let twice = "2 rows left out: the same run is in several files".to_owned();
    assert!(board.remarks.contains(&twice), "{:?}", board.remarks);
    // Two values, each a factor of 1.5 from their mean, have a wide interval.
    let (low, high) = mmsg.reading.interval().expect("two values");
    assert!(low < 0.1 && high > 100.0, "{low} to {high}");

    let smaller = again.map(|row| Row {
        rcvbuf_bytes: Some(1),
        ..row
    });
    let ranking = rank(&[file(&once), file(&smaller)]);
    assert_eq!(ranking[0].groups.len(), 2);
    let text = table::draw(&ranking, BOTH, 100);
    assert!(text.contains("v4, connected, granted 1 and 8192"), "{text}");
}

#[test]
fn rows_without_a_scatter_have_the_uncertainty_of_their_intervals() {
    let bare = Row {
        ratio_pairs: None,
        ratio_sd_pct: None,
        ratio_to_std_low: Some(1.1),
        ratio_to_std_high: Some(1.3),
        ..row("mmsg", 2, 1.2, 1.0)
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), bare]);
    let interval = board.averaged[0].standing.places[0].reading.interval();
    let (low, high) = interval.expect("it has one");
    assert!(
        1.0 < low && low < 1.12 && 1.28 < high && high < 1.32,
        "{low} {high}"
    );
}
