//! Tests of `--workload bidir`: a flood in both directions at once, next to one in a single direction.

use std::collections::BTreeSet;

use udpbench::data::Duplex;
use udpbench::results::row::{Reason, Status};

use crate::common::{Place, assert_code, rows, stderr};

const SHORT: &str = "--workload bidir --no-reference --heat 0s --warmup 5ms --rounds 6 --ip v4";

#[test]
fn every_engine_floods_both_ways_and_the_accounting_closes() {
    let place = Place::new();
    let rows = place.sweep(&format!(
        "{SHORT} --engine all --threads 2,3 --payload 40 --duration 400ms --verify"
    ));
    let (mut full, mut half) = (BTreeSet::new(), BTreeSet::new());
    for row in &rows {
        let case = &row.case.key();
        if row.status == Status::Skipped {
            let reasons = [
                "use an even number of --threads",
                "each waits in its own way",
                "cannot run here",
            ];
            let is_known = reasons
                .iter()
                .any(|reason| row.reason.to_string().contains(reason));
            assert!(is_known, "{case}: {}", row.reason);
            continue;
        }
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{case}"
        );
        assert_eq!(row.unaccounted_packets, Some(0), "{case}");
        assert!(row.verified_packets > Some(0), "{case}");
        let wrong = [
            row.corrupted_packets,
            row.duplicated_packets,
            row.truncated_packets,
        ];
        assert!(row.verified_packets > Some(0), "{case}");
        assert!(
            wrong.iter().all(|&wrong| wrong.unwrap_or(0) == 0),
            "{case}: {wrong:?}"
        );
        if row.duplex == Some(Duplex::Half) {
            assert_eq!(row.ratio_to_half, None, "{case}");
            half.insert(row.sender.as_str());
        } else {
            // Both directions, over one: whatever the CPUs leave of it.
            assert!(row.ratio_to_half > Some(0.0), "{case}");
            full.insert(row.sender.as_str());
        }
    }
    assert_eq!(full, half);
    for engine in [
        "std",
        "nix",
        "mmsg",
        "epoll-drain",
        "mio-exhaustive",
        "spin",
    ] {
        assert!(full.contains(engine), "{engine}: {full:?}");
    }
    place.has_them_made_again();
}

#[test]
fn both_ways_of_many_flows_and_one_way_alone() {
    let place = Place::new();
    let mut rows = place.sweep(&format!(
        "{SHORT} --engine epoll-level --threads 4 --payload 40 --connection connected --flows 1,5 --duration 300ms \
         --duplex full --verify"
    ));
    rows.sort_by_key(|row| row.flows);
    let cases: Vec<String> = rows.iter().map(|row| row.case.key()).collect();
    let case = "epoll-level:epoll-level/4t/40B/connected/v4/bidir";
    assert_eq!(cases, [case, &format!("{case}/flows5")]);
    for row in &rows {
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{}",
            row.case.key()
        );
        assert_eq!(row.ratio_to_half, None, "nothing to hold it against");
        assert_eq!(row.corrupted_packets, Some(0), "{}", row.case.key());
    }
    assert_eq!(rows[1].starved_flows, Some(0));
}

#[test]
fn who_waits_in_another_way_shares_no_socket() {
    let place = Place::new();
    let output = place.run(&format!(
        "{SHORT} --sender std --receiver spin --threads 2 --payload 40 --connection connected --duration 100ms -o out.csv"
    ));
    assert_code(&output, 1);
    let rows = rows(&place.path("out.csv"));
    let full = rows.iter().find(|row| row.duplex == Some(Duplex::Full));
    let reason = full.expect("there is one").reason.to_string();
    assert_eq!(
        reason,
        "std and spin would share each socket, and each waits in its own way"
    );
    let output = place.run("--duplex half");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("add --workload bidir"),
        "{}",
        stderr(&output)
    );
}
