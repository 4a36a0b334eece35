//! Logs of any bytes are computed and drawn, or refused. A checksum would refuse nearly all: the lines get one here.
#![no_main]

use libfuzzer_sys::fuzz_target;
use udpbench::results::export::table;
use udpbench::results::files::Results;
use udpbench::results::log::{Log, line};

fuzz_target!(|bytes: &[u8]| {
    let lines = line::lines(bytes.split(|&byte| byte == b'\n'));
    let Ok(log): Result<Log, _> = Log::parse("any.jsonl", &lines) else {
        return;
    };
    if let Ok(results) = Results::from_log(log) {
        table::draw(&results.rows, 60);
    }
});
