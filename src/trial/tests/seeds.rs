//! Seeds of the fuzzer: a message of another shape than today's is refused at once, and nothing is found behind it.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::*;
use crate::data::Side;
use crate::results::row::tests::window as sample;
use crate::trial::messages::end_result;
use crate::trial::messages::message::{Hello, PROTOCOL, Request};

/// `INSTA_UPDATE=always` writes them anew.
#[test]
fn the_seeds_of_the_fuzzer_are_messages_of_today() {
    let (case, settings) = (case(), Settings::default());
    let spec = Box::new(TrialSpec::new(
        &case,
        &Placement::unpinned(case.threads),
        &settings,
    ));
    let requests = [
        Request::Facts(vec![("mine".parse().expect("a name"), "./mine".into())]),
        Request::HottestMillic,
        Request::Truesizes(vec![0, 1472]),
        Request::Restart { own_loopback: true },
        Request::Lock,
        Request::Differences(Vec::new()),
        Request::Run(spec),
        Request::Accept(Vec::new()),
        Request::HasProbeArrived("[::1]:9".parse().expect("an address")),
        Request::Ready,
        Request::Go,
        Request::Drain { expected: 7 },
    ];
    let end = end_result::tests::end("b/net:[1]", Side::Sender);
    let failed = Answer::<()>::Failed("no".to_owned());
    for (name, bytes) in [
        ("requests", messages(&requests)),
        ("sample", messages(&[Answer::Done(sample(1))])),
        ("end", messages(&[Answer::Done(end)])),
        ("failed", messages(&[failed])),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/messages");
        let path = folder.join(name).with_extension("bin");
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            fs::write(&path, &bytes).expect("writable");
        }
        assert!(
            fs::read(&path).is_ok_and(|seed| seed == bytes),
            "INSTA_UPDATE=always makes {}",
            path.display()
        );
    }
}

/// Returns a greeting and these messages.
fn messages(messages: &[impl Serialize]) -> Vec<u8> {
    let hello = Hello {
        protocol: PROTOCOL,
        version: "0.1.0".to_owned(),
        host: serde_json::from_value(json!({ "boot": "b", "network": "net:[1]" })).expect("a host"),
        agent_is_remote: false,
    };
    let mut bytes = Vec::new();
    message::write_hello(&mut bytes, &hello).expect("into memory");
    for it in messages {
        message::write(&mut bytes, it).expect("into memory");
    }
    bytes
}
