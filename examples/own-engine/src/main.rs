//! udpbench with the engine of this crate: every subcommand, every engine.

use std::process::ExitCode;

fn main() -> ExitCode {
    udpbench::run_with(own_engine::ENGINES)
}
