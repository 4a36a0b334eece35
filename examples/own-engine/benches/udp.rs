//! `cargo bench -- --quick`: the same program as a bench target.

use std::process::ExitCode;

fn main() -> ExitCode {
    udpbench::run_with(own_engine::ENGINES)
}
