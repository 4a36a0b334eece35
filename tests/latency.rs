//! `udpbench latency`: round trips of clients that wait, and under loads that follow from what these reach.

mod common;

use udpbench::row::{Row, Status};

use common::{Place, rows, stderr, stdout};

const SHORT: &str =
    "latency --rounds 5 --duration 500ms --warmup 5ms --soak 0s --engine std,epoll-level,gso-gro";

#[test]
fn each_engine_is_asked_alone_and_at_three_loads() {
    let place = Place::new();
    let output = place.run(&format!("{SHORT} -o out.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&place.path("out.csv"));
    for engine in ["std", "epoll-level"] {
        let mut of: Vec<&Row> = rows.iter().filter(|row| row.sender == engine).collect();
        of.sort_by_key(|row| row.rate_asked_rps);
        let [alone, loads @ ..] = &of[..] else {
            panic!("no rows of {engine}");
        };
        assert_eq!((alone.status, alone.rate_asked_rps), (Status::Ok, None));
        let rates: Vec<u32> = loads
            .iter()
            .map(|row| row.rate_asked_rps.expect("a rate").into())
            .collect();
        let [low, middle, high] = rates[..] else {
            panic!("{rates:?}");
        };
        // Of the same number, to within rounding.
        assert!(
            middle.abs_diff(5 * low) <= 3 && high.abs_diff(9 * low) <= 5,
            "{rates:?}"
        );
    }
    let gso = rows.iter().find(|row| row.sender == "gso").expect("a row");
    assert_eq!(gso.status, Status::Skipped);
    let shown = stdout(&output);
    assert!(shown.contains("alone") && shown.contains("90 %"), "{shown}");
    assert!(
        shown.lines().any(|line| line.starts_with(" epoll-level")),
        "{shown}"
    );
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    place.has_them_made_again(&rows);
}

#[test]
fn what_latency_finds_out_cannot_be_chosen() {
    let place = Place::new();
    for (option, fix) in [
        ("--rate 5k", "latency finds the rates"),
        (
            "--outstanding 4",
            "a client of latency waits for each answer",
        ),
        ("--workload flood", "latency is of requests"),
    ] {
        let output = place.run(&format!("latency {option}"));
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(stderr(&output).contains(fix), "{}", stderr(&output));
    }
    assert_eq!(place.files(), Vec::<String>::new());
}
