//! Raw samples of any bytes are reckoned and drawn, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use udpbench::results::log::Log;
use udpbench::results::files::Results;
use udpbench::results::export::table;

fuzz_target!(|bytes: &[u8]| {
    let Ok(log): Result<Log, _> = Log::parse("any.jsonl", bytes) else {
        return;
    };
    if let Ok(results) = Results::from_raw(&log) {
        table::draw(&results.rows, 60);
    }
});
