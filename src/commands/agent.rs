//! `udpbench agent`: threads of this process for a udpbench elsewhere, which drives them by messages.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::AgentArgs;
use crate::error::UsageError;
use crate::sys::files::Root;
use crate::trial::serve::{self, Begins};

/// Serves one udpbench until its messages end.
///
/// # Errors
/// When standard input is a terminal, or when the other side is no udpbench of this version, or sends what is no message.
pub fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let problem = "messages come on standard input, which is a terminal here: have udpbench wire start the agent, by a \
                       command that makes no terminal (docker exec -i, not -it)";
        return Err(UsageError::flag("udpbench", "agent", problem).into());
    }
    // Without a buffer: after it has begun anew, the process reads on.
    let input = File::from(stdin.as_fd().try_clone_to_owned()?);
    let begins = if args.again {
        Begins::Again
    } else {
        Begins::First
    };
    match serve::serve(input, io::stdout(), begins, &Root::new(&args.root)) {
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
