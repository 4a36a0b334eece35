//! The program `udpbench` with the engines `monoio`, `compio` and `glommio`.

use std::process::ExitCode;

fn main() -> ExitCode {
    udpbench::run_with(udpbench_runtimes::ENGINES)
}
