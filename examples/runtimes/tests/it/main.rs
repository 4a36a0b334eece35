//! Tests of the engines monoio, compio, glommio and smol. Those of udpbench's own engines run here with them, too.

#[path = "../../../../tests/it/common/mod.rs"]
mod common;
mod contract;
#[path = "../../../../tests/it/matrix.rs"]
mod matrix;
mod runs;
#[path = "../../../../tests/it/verify.rs"]
mod verify;

use std::sync::Once;

use udpbench::engines::{self, Entry};
use udpbench_runtimes::ENGINES;

/// The program under test.
const PROGRAM: &str = env!("CARGO_PKG_NAME");
/// The repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn engines_under_test() -> impl Iterator<Item = &'static Entry> {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| engines::add(ENGINES));
    ENGINES.iter()
}
