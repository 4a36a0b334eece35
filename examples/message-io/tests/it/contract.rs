//! What udpbench expects of an engine, and knows of this one by its name.

use udpbench::data::EngineProperties;
use udpbench::testing::check_engine;
use udpbench_message_io::{ENGINES, MessageIo, Udp};

#[test]
fn it_keeps_the_contract() {
    check_engine::<MessageIo<Udp>>();
}

#[test]
fn what_is_known_of_it_by_name_alone_is_so() {
    let [entry] = ENGINES else {
        panic!("{ENGINES:?}");
    };
    let known = EngineProperties::known(entry.name());
    assert_eq!(known, Some(entry.about.properties()));
}
