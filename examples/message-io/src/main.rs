//! The program `udpbench` with the engine `message-io`.

use std::process::ExitCode;

fn main() -> ExitCode {
    udpbench::run_with(udpbench_message_io::ENGINES)
}
