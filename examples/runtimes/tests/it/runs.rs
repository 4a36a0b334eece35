//! The whole program with these engines.

use udpbench::Entry;
use udpbench::data::EngineName;
use udpbench::results::row::Status;

use crate::common::{Place, rows, stderr};
use crate::engines_under_test;

/// One thread sends and receives in turn; two are a sender and a receiver, or a client and a server.
#[test]
fn floods_and_round_trips_are_measured_and_verified() {
    let runnable = engines_under_test().filter(|entry| entry.probe().is_ok());
    let names: Vec<EngineName> = runnable.map(Entry::name).collect();
    let list: Vec<&str> = names.iter().map(EngineName::as_str).collect();
    let list = list.join(",");
    let place = Place::new();
    for (file, workload) in [
        ("flood.csv", "flood --threads 1,2,3"),
        ("rr.csv", "rr --threads 2"),
        ("bidir.csv", "bidir --threads 2"),
    ] {
        let output = place.run(&format!(
            "--engine {list} --workload {workload} --verify --payload 300 --ip v4 --rounds 5 --duration 20ms \
             --warmup 1ms --heat 0s -o {file}"
        ));
        assert!(output.status.success(), "{}", stderr(&output));
        for row in rows(&place.path(file)) {
            assert_eq!(row.status, Status::Ok, "{row:?}");
            assert!(row.verified_packets > Some(0), "{row:?}");
        }
    }
}
