//! What udpbench expects of an engine.

#[test]
fn the_engine_keeps_the_contract() {
    udpbench::testing::check_engine::<own_engine::Rustix>();
}
