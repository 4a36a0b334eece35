//! The suite message-io, with every engine.

use udpbench::experiment::suite;
use udpbench::results::row::{Reason, Row, Status};

use crate::common::{Place, rows, stderr};

#[test]
fn the_suite_measures_every_case() {
    let place = Place::new();
    let short = "--duration 30ms --rounds 6 --warmup 1ms --heat 0s";
    let output = place.run(&format!("--suite message-io {short} -o mine"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("without "), "{}", stderr(&output));
    let suite = suite::find("--suite", "message-io").expect("it is there");
    let files = suite
        .sweeps
        .iter()
        .map(|sweep| format!("mine/{}.csv", sweep.name));
    let measured: Vec<Row> = files.flat_map(|file| rows(&place.path(&file))).collect();
    assert!(!measured.is_empty());
    for row in measured {
        let state = (row.status, &row.reason);
        assert_eq!(state, (Status::Ok, &Reason::None), "{}", row.case.key());
    }
}
