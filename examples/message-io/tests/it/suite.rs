//! The suite message-io, with all that was published.

use udpbench::experiment::suite;
use udpbench::results::row::{Reason, Row, Status};

use crate::common::{Place, rows, stderr};

#[test]
fn the_suite_measures_every_published_case() {
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
    let published = suite.published.iter().flat_map(|table| &table.rows);
    for case in published.flat_map(|line| &line.cases) {
        let row = measured.iter().find(|row| row.case.key() == *case);
        let state = row.map(|row| (row.status, &row.reason));
        assert_eq!(state, Some((Status::Ok, &Reason::None)), "{case}");
    }
}
