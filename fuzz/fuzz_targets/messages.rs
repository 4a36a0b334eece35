//! Bytes of another process are a greeting and messages, or they are refused. What was read is written as
//! it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use udpbench::data::Sample;
use udpbench::trial::end_result::EndResult;
use udpbench::trial::message::{self, Answer, Request};

fuzz_target!(|bytes: &[u8]| {
    let mut input = bytes;
    if let Ok(hello) = message::read_hello(&mut input) {
        // Equal or not.
        let _ = hello.checked();
    }
    all_of::<Request>(input);
    all_of::<Answer<Sample>>(input);
    all_of::<Answer<EndResult>>(input);
});

/// Reads messages up to the first that is none.
fn all_of<T: Serialize + DeserializeOwned>(mut input: &[u8]) {
    while let Ok(Some(message)) = message::read::<T>(&mut input) {
        let written = write(&message);
        let again = message::read::<T>(&mut &written[..]);
        let again = again
            .expect("what was written is readable")
            .expect("a message");
        assert_eq!(write(&again), written);
    }
}

fn write(message: &impl Serialize) -> Vec<u8> {
    let mut written = Vec::new();
    message::write(&mut written, message).expect("into memory");
    written
}
