//! `--on` of commands that measure nothing: the program on that host runs them, and its answer is passed on.

use std::process::{ExitCode, Stdio};

use anyhow::bail;

use super::host_of_on;
use super::program::RemoteProgram;
use super::rsh::Rsh;
use crate::cli::RemoteArgs;
use crate::commands::{interrupt_on_signals, known_width, session, show_file};

/// Runs the program with these words on the host of `--on`, and prints its standard output with control characters
/// escaped. Returns its exit code, or `None` without `--on`.
///
/// # Errors
/// Fails if an option for a remote host is given without `--on`, or if the host cannot be reached or has no udpbench.
pub(in crate::commands) fn run_there(
    options: &RemoteArgs,
    words: &[String],
) -> anyhow::Result<Option<ExitCode>> {
    let Some(to) = host_of_on(options)? else {
        return Ok(None);
    };
    let interrupt = interrupt_on_signals()?;
    let run = || {
        let rsh = Rsh::new(&options.rsh, to);
        let program = RemoteProgram::new(options, &rsh, to, &interrupt)?;
        let words = program.with(words, known_width(), &rsh, &interrupt)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        rsh.output(&words, Stdio::null(), &interrupt)
    };
    let (status, said) = match run() {
        Err(_) if interrupt.signal().is_some() => {
            return Ok(Some(session::interrupted(&interrupt).into()));
        }
        ended => ended?,
    };
    show_file(&said)?;
    match status.code().map(u8::try_from) {
        Some(Ok(code @ 0..=2)) => Ok(Some(ExitCode::from(code))),
        _ => bail!(
            "udpbench ended with {status} on {to}, and said why above: where it is missing there, let --deploy copy it, \
             or name it by --agent PATH"
        ),
    }
}
