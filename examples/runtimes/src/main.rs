//! The program `udpbench` with the engines `monoio`, `compio`, `glommio` and `smol`.

use std::process::ExitCode;

fn main() -> ExitCode {
    udpbench::run_with(udpbench_runtimes::ENGINES)
}
