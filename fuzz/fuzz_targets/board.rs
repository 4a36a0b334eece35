//! A board profile of any text is read, or refused with a line that it has.
#![no_main]

use libfuzzer_sys::fuzz_target;
use udpbench::host::board::Board;
use udpbench::error::UsageError;

fuzz_target!(|text: &str| {
    if let Err(error) = Board::parse(text, "any.toml") {
        let UsageError::File { line, problem, .. } = error else {
            panic!("it names no line: {error}");
        };
        let lines = text.matches('\n').count() + 1;
        assert!(
            (1..=lines).contains(&line),
            "line {line} of {lines}: {problem}"
        );
    }
});
