//! `udpbench agent`: threads of this process for a udpbench elsewhere, which drives them by messages.

use std::io;
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::AgentArgs;
use crate::measure::agent;
use crate::sys::files::Root;

/// Serves one udpbench until standard input ends.
///
/// # Errors
/// When the other side is no udpbench of this version, or sends what is no message.
pub fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    let root = Root::new(&args.root);
    let served = agent::serve(io::stdin(), io::stdout(), &root);
    match served {
        // Called off while an answer was on its way: nobody is there to be told.
        Err(error) if is_gone(&error) => {}
        served => served.context("the other side")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn is_gone(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
