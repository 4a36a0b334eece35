//! The command that runs others on the other host (`--rsh`): ssh, or whatever else does that.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, bail};

use crate::sys::interrupt::Interrupt;
use crate::term::shell;
use crate::trial::spawned::ended;

/// Where the host stands in the command, unless it follows it.
const HOST: &str = "{}";

/// A command for a shell, with the host in it.
pub(super) struct Rsh(String);

impl Rsh {
    /// Puts the host into the command, or behind it.
    pub(super) fn new(command: &str, host: &str) -> Self {
        let host = shell::word(host);
        Self(if command.contains(HOST) {
            command.replace(HOST, &host)
        } else {
            format!("{command} {host}")
        })
    }

    /// Returns the command that runs these words there. A shell takes its own part apart, as it was typed; the words stay
    /// what they are.
    pub(super) fn run(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {} \"$@\"", self.0), "sh"]);
        command.args(words);
        command
    }

    /// The same command, for people.
    pub(super) fn shown(&self, words: &[&str]) -> String {
        format!("{} {}", self.0, words.join(" "))
    }

    /// Runs these words there, and returns what they print.
    ///
    /// # Errors
    /// When they fail, or this program is asked to end.
    pub(super) fn answer(
        &self,
        words: &[&str],
        input: Stdio,
        interrupt: &Interrupt,
    ) -> anyhow::Result<String> {
        // The first tells which it is: others may be whole scripts.
        let shown = self.shown(&words[..words.len().min(1)]);
        let mut command = self.run(words);
        let started = command.stdin(input).stdout(Stdio::piped()).spawn();
        let mut child = started.with_context(|| format!("cannot start `{shown}`"))?;
        let mut output = child.stdout.take().context("it has no output")?;
        // Nobody waits for it after a signal: something that the command has started may hold the pipe.
        let reader = thread::spawn(move || {
            let mut said = Vec::new();
            output.read_to_end(&mut said).map(|_| said)
        });
        let status = ended(child, interrupt)?;
        if !status.success() {
            bail!("`{shown}` ended with {status}: what it said is above");
        }
        let said = reader.join().ok().context("the reader broke")??;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    /// Returns whether a shell there takes words apart once more, as ssh has it: then two quotes are none.
    ///
    /// # Errors
    /// When nothing can be run there.
    pub(super) fn has_shell(&self, interrupt: &Interrupt) -> anyhow::Result<bool> {
        let said = self.answer(&["echo", "''"], Stdio::null(), interrupt)?;
        // Behind what start-up files print.
        Ok(said.lines().last().is_none_or(|line| line.trim() != "''"))
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
        // As ssh does, and with a noisy start; as docker does.
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
