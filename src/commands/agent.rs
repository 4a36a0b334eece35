//! `udpbench agent`: runs trials in this process for a controller, which sends its messages to standard input.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::AgentArgs;
use crate::engines::exec;
use crate::error::UsageError;
use crate::sys::files::Root;
use crate::sys::own_loopback::OwnLoopback;
use crate::trial::local::LocalTrials;
use crate::trial::serve::{self, Begins};

/// Serves one controller until its messages end.
///
/// # Errors
/// Fails if the process cannot have a loopback of its own, if standard input is a terminal, if the controller has
/// another version of udpbench, or if an invalid message arrives.
pub fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    // First: a process with threads cannot be moved to a user namespace.
    let loopback = args.own_loopback.then(OwnLoopback::enter).transpose();
    let loopback = loopback.context("no network namespace of its own")?;
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let problem = "messages come on standard input, which is a terminal here: have udpbench wire start the agent, by a \
                       command that makes no terminal (docker exec -i, not -it)";
        return Err(UsageError::flag("udpbench", "agent", problem).into());
    }
    // Unbuffered: the process may execute itself again, and the new image reads on where this one stopped.
    let input = File::from(stdin.as_fd().try_clone_to_owned()?);
    let begins = if args.again {
        Begins::Again
    } else {
        Begins::First
    };
    let local = LocalTrials::new(&Root::new(&args.root), loopback);
    let served = serve::serve(input, io::stdout(), begins, local);
    // The kernel ends the programs of this process's threads, but not what they have started.
    exec::end_all();
    match served {
        // The controller closed the connection while an answer was being written. Nobody is left to read an error.
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
