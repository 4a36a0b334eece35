//! What udpbench expects of an engine.

use udpbench::testing::check_engine;
use udpbench_runtimes::{Compio, Glommio, Monoio, Smol};

#[test]
fn monoio_keeps_the_contract() {
    check_engine::<Monoio>();
}
#[test]
fn compio_keeps_the_contract() {
    check_engine::<Compio>();
}
#[test]
fn glommio_keeps_the_contract() {
    check_engine::<Glommio>();
}
#[test]
fn smol_keeps_the_contract() {
    check_engine::<Smol>();
}
