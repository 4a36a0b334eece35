//! The command that runs programs on the remote host (`--rsh`): ssh, `docker exec` or the like.

use std::cell::OnceCell;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, bail};

use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::shell;
use crate::trial::spawned::{EscapedStderr, wait_or_kill};

/// Placeholder for the host in the command. Without it, the host is appended.
const HOST: &str = "{}";

/// A shell command that includes the host.
pub(super) struct Rsh {
    command: String,
    /// True if a shell on the remote host splits words again, as with ssh. Found out when it is first needed.
    splits_words: OnceCell<bool>,
}

impl Rsh {
    /// Returns the command with the host in place of `{}`, or appended to it.
    pub(super) fn new(command: &str, host: &str) -> Self {
        let host = shell::word(host);
        let command = if command.contains(HOST) {
            command.replace(HOST, &host)
        } else {
            format!("{command} {host}")
        };
        Self {
            command,
            splits_words: OnceCell::new(),
        }
    }

    /// Returns the command that runs `words` on the remote host. A shell splits the `--rsh` command as it was typed.
    /// `words` reach it unchanged.
    pub(super) fn run(&self, words: &[impl AsRef<str>]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {} \"$@\"", self.command), "sh"]);
        command.args(words.iter().map(AsRef::as_ref));
        command
    }

    /// Returns the command line as text for messages.
    pub(super) fn shown(&self, words: &[impl AsRef<str>]) -> String {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        format!("{} {}", self.command, words.join(" "))
    }

    /// Runs `words` on the remote host and returns their output.
    ///
    /// # Errors
    /// Fails if the command fails or a signal asks this program to end.
    pub(super) fn answer(
        &self,
        words: &[impl AsRef<str>],
        input: Stdio,
        interrupt: &Interrupt,
    ) -> anyhow::Result<String> {
        let (status, said) = self.output(words, input, interrupt)?;
        if !status.success() {
            let shown = self.shown(&words[..1]);
            bail!("`{shown}` ended with {status}: what it said is above");
        }
        Ok(said)
    }

    /// Runs `words` on the remote host and returns how they ended, and their standard output.
    ///
    /// # Errors
    /// Fails if the command cannot be started or a signal asks this program to end.
    pub(super) fn output(
        &self,
        words: &[impl AsRef<str>],
        input: Stdio,
        interrupt: &Interrupt,
    ) -> anyhow::Result<(ExitStatus, String)> {
        // The first word identifies the command; the others may be whole scripts.
        let shown = self.shown(&words[..1]);
        let mut command = self.run(words);
        command
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = command.spawn();
        let mut child = started.with_context(|| format!("cannot start `{shown}`"))?;
        let stderr = EscapedStderr::of(&mut child);
        let mut output = child.stdout.take().context("it has no output")?;
        // The thread is not joined after a signal: a child of the command may hold the pipe open.
        let reader = thread::spawn(move || {
            let mut said = Vec::new();
            output.read_to_end(&mut said).map(|_| said)
        });
        let status = wait_or_kill(child, interrupt)?;
        if let Some(stderr) = stderr {
            stderr.finish();
        }
        if interrupt.signal().is_some() {
            bail!(Interrupted);
        }
        let said = reader.join().ok().context("the reader broke")??;
        Ok((status, String::from_utf8_lossy(&said).into_owned()))
    }

    /// Runs a shell script on the remote host, with `words` as its arguments, and returns its output.
    ///
    /// # Errors
    /// Fails as [`Rsh::answer`] does.
    pub(super) fn script(
        &self,
        script: &str,
        words: &[&str],
        input: Stdio,
        interrupt: &Interrupt,
    ) -> anyhow::Result<String> {
        let words = [&["sh", "-c", script, "sh"], words].concat();
        self.answer(&self.quoted(&words, interrupt)?, input, interrupt)
    }

    /// Returns words that reach a program on the remote host unchanged: quoted if a shell there splits them again.
    ///
    /// # Errors
    /// Fails if the remote host runs no command.
    pub(super) fn quoted(
        &self,
        words: &[&str],
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<String>> {
        let has_shell = self.has_shell(interrupt)?;
        let quoted = words.iter().map(|word| {
            if has_shell {
                shell::word(word).into_owned()
            } else {
                (*word).to_owned()
            }
        });
        Ok(quoted.collect())
    }

    /// Returns whether a shell there splits words again. Such a shell turns `''` into an empty word.
    fn has_shell(&self, interrupt: &Interrupt) -> anyhow::Result<bool> {
        if let Some(known) = self.splits_words.get() {
            return Ok(*known);
        }
        let said = self.answer(&["echo", "''"], Stdio::null(), interrupt)?;
        // The last line: start-up files may print before it.
        let has_shell = said.lines().last().is_none_or(|line| line.trim() != "''");
        Ok(*self.splits_words.get_or_init(|| has_shell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_follows_the_command_or_stands_where_the_braces_are() {
        for (command, host, expected) in [
            ("ssh -p 2222", "pi@board", "ssh -p 2222 pi@board true"),
            (
                "kubectl exec -i {} --",
                "pod-1",
                "kubectl exec -i pod-1 -- true",
            ),
            ("docker exec -i", "a b", "docker exec -i 'a b' true"),
            ("x {} y {}", "$HOME", "x '$HOME' y '$HOME' true"),
        ] {
            assert_eq!(Rsh::new(command, host).shown(&["true"]), expected);
        }
    }

    #[test]
    fn words_stay_what_they_are() {
        let rsh = Rsh::new("printf '[%s]'", "it's");
        let output = rsh.run(&["''", "$HOME", "a b"]).output();
        let output = output.expect("there is a shell").stdout;
        assert_eq!(String::from_utf8_lossy(&output), "[it's][''][$HOME][a b]");
    }

    #[test]
    fn a_shell_there_is_found_out() {
        let interrupt = Interrupt::never().expect("a pair of sockets");
        let has_shell = |command: &str| Rsh::new(command, "x").has_shell(&interrupt);
        // The first two join the words as ssh does, the second with output of a start-up file. The third works as
        // docker does.
        let joined = r#"sh -c 'shift; eval "$*"' sh"#;
        let noisy = r#"sh -c 'echo hi; shift; eval "$*"' sh"#;
        let plain = r#"sh -c 'echo hi; shift; exec "$@"' sh"#;
        assert!(has_shell(joined).expect("it runs"));
        assert!(has_shell(noisy).expect("it runs"));
        assert!(!has_shell(plain).expect("it runs"));
        let error = has_shell("false").expect_err("it fails").to_string();
        assert!(
            error.starts_with("`false x echo` ended with exit status: 1"),
            "{error}"
        );
    }
}
