//! Tests of the matching of rows, and of rows that must not be compared.

use super::*;
use crate::data::Direction;
use crate::host::check::{Problem, Unfit};
use crate::results::row::tests::row_of_a_wire;
use crate::results::row::{Failure, Reason, Warning};

fn broken_by(failure: &Failure) -> Verdict {
    let failure = failure.clone();
    Verdict::Broken(Obstacle::Failed { failure })
}

#[test]
fn what_worked_and_fails_now_is_broken() {
    let failed = Row {
        status: Status::Failed,
        reason: Reason::Failed(Failure::told("the sender failed")),
        ..row("mio-level", 0.9)
    };
    let broken = broken_by(&Failure::told("the sender failed"));
    assert_eq!(verdict_of(row("mio-level", 0.9), failed.clone()), broken);
    let both = vec![row("std", 0.9), row("mio-level", 0.9)];
    let new = results("b", vec![both[0].clone(), failed]);
    assert!(against(results("a", both), new).judgement.is_worse());
}

#[test]
fn what_receives_nothing_now_is_broken_even_where_its_row_says_ok() {
    let dead = Row {
        received_packets: Some(0),
        received_pps: Some(0.0),
        ..row("mio-level", 0.9)
    };
    let broken = broken_by(&Failure::NothingReceived {
        hindrance: String::new(),
    });
    assert_eq!(verdict_of(row("mio-level", 0.9), dead.clone()), broken);
    let before = results("a", vec![row("mio-level", 0.9)]);
    assert!(
        against(before, results("b", vec![dead.clone()]))
            .judgement
            .is_worse()
    );
    let found = against(results("a", vec![dead.clone()]), results("b", vec![dead]));
    assert_eq!(found.remarks[0], "1 case failed BEFORE");
}

#[test]
fn other_buffers_and_other_boards_are_not_comparable() {
    let base = row("mio-level", 0.9);
    let new = Row {
        rcvbuf_bytes: Some(1),
        ..base.clone()
    };
    assert!(matches!(
        verdict_of(base.clone(), new),
        Verdict::NotComparable(_)
    ));
    let new = Row {
        board: "rpi-4b".to_owned(),
        ..base.clone()
    };
    let found = against(results("a", vec![base]), results("b", vec![new]));
    assert_eq!(
        found.obstacle().as_deref(),
        Some("other board: generic, now rpi-4b")
    );
}

#[test]
fn wires_to_different_boards_are_not_comparable() {
    let base = row_of_a_wire();
    let new = Row {
        remote_board: "rpi-5".to_owned(),
        ..base.clone()
    };
    let found = against(results("a", vec![base]), results("b", vec![new]));
    assert_eq!(
        found.obstacle().as_deref(),
        Some("other board of the other host: rpi-4b, now rpi-5")
    );
}

#[test]
fn the_directions_of_a_wire_and_loopback_have_no_partner_in_each_other() {
    let up = row_of_a_wire();
    let down = Row {
        case: of_key("std:std/2t/300B/connected/v4/down"),
        direction: Some(Direction::Down),
        ..up.clone()
    };
    let loopback = Row {
        case: of_key("std:std/2t/300B/connected/v4"),
        direction: None,
        ..up.clone()
    };
    for (base, new) in [(&up, &down), (&up, &loopback)] {
        let found = against(
            results("a", vec![base.clone()]),
            results("b", vec![new.clone()]),
        );
        assert!(found.judgement.cases.is_empty());
        assert_eq!(
            found.remarks[..2],
            ["1 case only AFTER", "1 case only BEFORE"]
        );
        assert_ne!(base.block(), new.block());
    }
}

#[test]
fn several_rows_of_a_case_are_not_comparable() {
    let base = row("mio-level", 0.9);
    let found = against(
        results("a", vec![base.clone()]),
        results("b", vec![base.clone(), base]),
    );
    let why = found.judgement.cases[0].answer.verdict.reason();
    let expected = Obstacle::SeveralRows {
        rows: 2,
        side: "AFTER".to_owned(),
    };
    assert_eq!(why, Some(&expected));
}

#[test]
fn rows_without_a_partner_are_counted() {
    let skipped = |engine| Row {
        status: Status::Skipped,
        ..row(engine, 0.9)
    };
    let common = row("std", 0.9);
    let base = vec![
        common.clone(),
        row("nix", 0.9),
        skipped("null"),
        skipped("gso"),
        row("spin", 0.9),
    ];
    let new = vec![
        common,
        row("poll", 0.9),
        skipped("null"),
        row("gso", 0.9),
        skipped("spin"),
    ];
    let found = against(results("a", base), results("b", new));
    assert_eq!(
        found.remarks[..4],
        [
            "1 case only AFTER",
            "1 case only BEFORE",
            "1 case skipped AFTER",
            "2 cases skipped BEFORE",
        ]
    );
}

#[test]
fn a_case_counts_only_if_it_is_in_every_file() {
    let both = results("a", vec![row("std", 0.9), row("nix", 0.9)]);
    let one = results("b", vec![row("std", 0.9)]);
    let found = of(std::slice::from_ref(&both), &[both.clone(), one]);
    assert_eq!(found.remarks[0], "1 case not in every file");
}

#[test]
fn what_fails_in_one_of_two_runs_after_is_undecided() {
    let failed = Row {
        status: Status::Failed,
        reason: Reason::Failed(Failure::told("the sender failed")),
        ..row("mio-level", 0.9)
    };
    let run = |row: Row| results("b", vec![row]);
    let before = [run(row("mio-level", 0.9))];
    let after = [run(row("mio-level", 0.9)), run(failed)];
    let found = compare([&before, &after], Criterion::default());
    let why = Obstacle::FailedInRuns {
        failures: 1,
        runs: 2,
        failure: Failure::told("the sender failed"),
    };
    assert_eq!(
        found.judgement.cases[0].answer.verdict,
        Verdict::Undecided(why)
    );
    assert!(!found.judgement.is_worse() && found.is_inconclusive());
}

#[test]
fn what_other_programs_took_the_cpu_of_is_no_change_on_either_side() {
    let disturbed: fn(f64) -> Row = |speed| Row {
        disturbed_windows: Some(3),
        ..row("mio-level", speed)
    };
    let calm: fn(f64) -> Row = |speed| row("mio-level", speed);
    for (before, after, side) in [
        (calm, disturbed, "AFTER"),
        (disturbed, calm, "BEFORE"),
        (disturbed, disturbed, "BEFORE and AFTER"),
    ] {
        let [before, after] = [before(0.9), after(0.5)].map(|row| results("a", vec![row]));
        let found = against(before, after);
        let sides = side.to_owned();
        let why = Obstacle::Disturbed { sides };
        let verdict = found.judgement.cases[0].answer.verdict.clone();
        assert_eq!(verdict, Verdict::Undecided(why));
        assert!(!found.judgement.is_worse() && found.is_inconclusive() && found.is_disturbed);
    }
    let one_window = Row {
        disturbed_windows: Some(1),
        ..row("mio-level", 0.5)
    };
    let [before, after] = [row("mio-level", 0.9), one_window].map(|row| results("a", vec![row]));
    assert!(!against(before, after).is_disturbed);
}

#[test]
fn what_starves_on_a_busy_machine_is_undecided_and_what_breaks_on_it_is_broken() {
    let unfit = Unfit::OtherPrograms {
        used: 2.9,
        cpus: 2,
        busiest: "sh (pid 7) 0.98".to_owned(),
    };
    let busy = Warning::Host(Problem {
        unfit,
        is_remote: false,
    });
    let failed = |failure: &Failure| Row {
        status: Status::Failed,
        reason: Reason::Failed(failure.clone()),
        warnings: vec![busy.clone()],
        ..row("mio-level", 0.9)
    };
    let verdict = |failure: &Failure| verdict_of(row("mio-level", 0.9), failed(failure));
    let nothing = Failure::NothingReceived {
        hindrance: String::new(),
    };
    let silent = Failure::NoAnswer {
        text: "the agent: no answer within 30 s".to_owned(),
    };
    for failure in [nothing, silent] {
        let found = verdict(&failure);
        let why = Obstacle::TooBusy {
            programs: busy.to_string(),
            failed: Box::new(Obstacle::Failed { failure }),
        };
        assert_eq!(found, Verdict::Undecided(why));
    }
    let failure = Failure::told("the sender failed: Message too long (os error 90)");
    assert_eq!(verdict(&failure), broken_by(&failure));
}

#[test]
fn engines_that_are_judged_nowhere_are_named_in_one_line() {
    let rows = |engines: &[&str]| engines.iter().map(|it| row(it, 0.9)).collect::<Vec<Row>>();
    let before = results("a", rows(&["std", "nix", "spin"]));
    let found = against(before.clone(), results("b", rows(&["nix"])));
    let expected = "judged in no case, as said above: spin, std";
    assert!(
        found.remarks.iter().any(|it| it == expected),
        "{:?}",
        found.remarks
    );
    let found = against(before, results("b", rows(&["gso"])));
    let expected = "no engine is judged in any case";
    assert!(
        found.remarks.iter().any(|it| it == expected),
        "{:?}",
        found.remarks
    );
}

#[test]
fn runs_that_share_no_case_are_told_by_the_first_case_of_each() {
    let with = |payload, buffer: &str| {
        let row = row_of("std", Connection::Connected, payload, 1.0);
        let case = of_key(&(row.case.key() + buffer));
        Row { case, ..row }
    };
    let before = results("a", vec![with(1460, ""), with(26, "")]);
    let after = results("b", vec![with(1460, "/rcvbuf2048")]);
    let expected = "1 case only AFTER: BEFORE has std:std/2t/1460B/connected/v4, AFTER \
                    std:std/2t/1460B/connected/v4/rcvbuf2048 (udpbench ab measures two settings in turn)";
    let sides = [&[before][..], &[after][..]];
    let found = compare(sides, Criterion::default());
    assert_eq!(found.obstacle().as_deref(), Some(expected));
}
