//! The program `udpbench` with the engine `message-io` and the transports of its table.

use std::process::ExitCode;

use udpbench_message_io::{CARRIERS, ENGINES};

fn main() -> ExitCode {
    udpbench::add_carriers(CARRIERS);
    udpbench::run_with(ENGINES)
}
