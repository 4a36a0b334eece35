//! The program on the remote host: the one that `--agent` names, the one that `--deploy` copied, or one that is found.

use std::process::{ExitCode, Stdio};

use anyhow::{Context, bail};

use super::deploy::{self, CD_HOME, program_name, remote_path};
use super::rsh::Rsh;
use crate::cli::RemoteArgs;
use crate::commands::{interrupt_on_signals, session};
use crate::results::command_line::CommandLine;
use crate::sys::interrupt::{Interrupt, StopRequested};
use crate::term::output::{known_width, show_file};
use crate::term::words::words_as_text;
use crate::trial::agent::Agent;

/// Script that becomes the program: the first one of release $2, else the first one that there is. $1 is its name, $3
/// the copy of `--deploy` below the home directory. The words behind them are those of the program.
const FIND_SCRIPT: &str = include_str!("find.sh");

/// The program on the remote host, to start agents there.
pub(in crate::commands) struct RemoteProgram {
    /// Host in messages.
    to: String,
    rsh: Rsh,
    /// Words before those of the program, quoted for `rsh`.
    words: Vec<String>,
    /// The program in messages.
    shown: String,
}

impl RemoteProgram {
    /// Finds out how to start the program. With `--deploy`, copies it there first.
    ///
    /// # Errors
    /// Fails if the program cannot be copied, or if no command runs on the remote host.
    pub(super) fn new(
        options: &RemoteArgs,
        to: &str,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let rsh = Rsh::new(&options.rsh, to);
        let (words, shown) = if options.deploy {
            let copied = deploy::deploy(&rsh, options, to, interrupt);
            let path = copied.with_context(|| format!("cannot copy udpbench to {to}"))?;
            (rsh.quoted(&[&path], interrupt)?, path)
        } else if let Some(path) = &options.agent {
            (vec![path.clone()], path.clone())
        } else {
            let name = program_name();
            let script = format!("home=$({CD_HOME}pwd)\n{FIND_SCRIPT}");
            let (release, copy) = (env!("CARGO_PKG_VERSION"), remote_path());
            let words = ["sh", "-c", &script, "sh", &name, release, &copy];
            let words = rsh.quoted(&words, interrupt);
            (words.with_context(|| format!("cannot reach {to}"))?, name)
        };
        let to = to.to_owned();
        Ok(Self {
            to,
            rsh,
            words,
            shown,
        })
    }

    /// Starts an agent. One that is patient has no heartbeat: see [`Agent::connect`].
    ///
    /// # Errors
    /// Fails if the host cannot be reached or has no udpbench of this version.
    pub(in crate::commands) fn start(
        &self,
        is_patient: bool,
        asked: &StopRequested,
    ) -> anyhow::Result<Agent> {
        let command = self
            .rsh
            .run(&[&self.words[..], &["agent".to_owned()]].concat());
        let shown = self.rsh.shown(&[self.shown.as_str(), "agent"]);
        Agent::start_by(Some(&self.to), &shown, command, is_patient, asked)
    }
}

/// `--on` of commands that measure nothing: runs this command line on that host, and prints its standard output
/// with control characters escaped. Returns its exit code, or `None` without `--on`.
///
/// # Errors
/// Fails if the host cannot be reached or has no udpbench.
pub(in crate::commands) fn run_there(options: &RemoteArgs) -> anyhow::Result<Option<ExitCode>> {
    let Some(to) = &options.on else {
        return Ok(None);
    };
    let interrupt = interrupt_on_signals()?;
    let run = || {
        let RemoteProgram {
            rsh,
            words: program,
            ..
        } = RemoteProgram::new(options, to, &interrupt)?;
        let typed = words_as_text();
        let words = CommandLine(&typed).on_that_host();
        let columns = known_width().map(|columns| ["env".to_owned(), format!("COLUMNS={columns}")]);
        let mut all: Vec<String> = columns.into_iter().flatten().chain(program).collect();
        all.extend(rsh.quoted(&words, &interrupt)?);
        rsh.output(&all, Stdio::null(), &interrupt)
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
