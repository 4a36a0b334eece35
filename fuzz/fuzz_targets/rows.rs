//! Results of any bytes are read or refused. Rows that were read are drawn, and written as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;
use udpbench::results::row::Row;
use udpbench::results::files::Results;
use udpbench::results::export::table;

fuzz_target!(|bytes: &[u8]| {
    let Ok(results) = Results::from_csv("any.csv", bytes) else {
        return;
    };
    table::draw(&results.rows, 60);
    if results.rows.is_empty() {
        // Nothing to write, not even a header.
        return;
    }
    let written = csv_of(&results.rows);
    let again = Results::from_csv("again.csv", &written[..]).expect("what was written is readable");
    assert_eq!(again.rows, results.rows);
});

fn csv_of(rows: &[Row]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("every row can be written");
    }
    writer.into_inner().expect("into memory")
}
