//! The program `udpbench`: see [`udpbench::run_with`].

use std::process::ExitCode;

fn main() -> ExitCode {
    udpbench::run_with(&[])
}
