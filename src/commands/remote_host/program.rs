//! The program on the remote host: the one that `--agent` names, the one that `--deploy` copied, or one that is found.

use std::process::Command;

use anyhow::Context;

use super::deploy::{self, CD_HOME, program_name, remote_path};
use super::rsh::Rsh;
use crate::cli::RemoteArgs;
use crate::sys::interrupt::Interrupt;
use crate::term::shell;

/// Script that becomes the program: the first one of release $2, else the first one that there is. $1 is its name, $3
/// the copy of `--deploy` below the home directory. The words behind them are those of the program.
const FIND_SCRIPT: &str = include_str!("find.sh");

/// Command that starts the program on the remote host.
pub(super) struct RemoteProgram {
    /// Words before those of the program, quoted for `rsh`.
    words: Vec<String>,
    /// The program in messages.
    shown: String,
    /// True if further words must be quoted: see [`Rsh::has_shell`]. `None`: unknown.
    splits_words: Option<bool>,
}

impl RemoteProgram {
    /// Finds out how to start the program. With `--deploy`, copies it there first.
    ///
    /// # Errors
    /// Fails if the program cannot be copied, or if no command runs on the remote host.
    pub(super) fn new(
        options: &RemoteArgs,
        rsh: &Rsh,
        to: &str,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let named = if options.deploy {
            let copied = deploy::deploy(rsh, options, to, interrupt);
            Some(copied.with_context(|| format!("cannot copy udpbench to {to}"))?)
        } else {
            options.agent.clone()
        };
        if let Some(path) = named {
            return Ok(Self {
                words: vec![path.clone()],
                shown: path,
                splits_words: None,
            });
        }
        let splits_words = rsh.has_shell(interrupt);
        let splits_words = splits_words.with_context(|| format!("cannot reach {to}"))?;
        let name = program_name();
        let script = format!("home=$({CD_HOME}pwd)\n{FIND_SCRIPT}");
        let (release, copy) = (env!("CARGO_PKG_VERSION"), remote_path());
        let words = ["sh", "-c", &script, "sh", &name, release, &copy];
        Ok(Self {
            words: words.map(|it| quoted(it, splits_words)).to_vec(),
            shown: name,
            splits_words: Some(splits_words),
        })
    }

    /// Returns the command that starts an agent, as text for messages and to be started.
    pub(super) fn agent(&self, rsh: &Rsh) -> (String, Command) {
        let words = self.words.iter().map(String::as_str);
        let words: Vec<&str> = words.chain(["agent"]).collect();
        (rsh.shown(&[&self.shown, "agent"]), rsh.run(&words))
    }

    /// Returns the words that run the program with `words`, in a terminal of `columns` columns if they are known.
    ///
    /// # Errors
    /// Fails if no command runs on the remote host.
    pub(super) fn with(
        &self,
        words: &[String],
        columns: Option<u16>,
        rsh: &Rsh,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<String>> {
        let splits_words = match self.splits_words {
            Some(known) => known,
            None => rsh.has_shell(interrupt)?,
        };
        let columns = columns.map(|columns| ["env".to_owned(), format!("COLUMNS={columns}")]);
        let words = words.iter().map(|word| quoted(word, splits_words));
        let all = columns.into_iter().flatten();
        Ok(all.chain(self.words.iter().cloned()).chain(words).collect())
    }
}

/// Returns a word, quoted if a shell splits it again.
fn quoted(word: &str, splits_words: bool) -> String {
    if splits_words {
        shell::word(word).into_owned()
    } else {
        word.to_owned()
    }
}
