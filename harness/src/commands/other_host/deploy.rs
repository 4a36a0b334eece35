//! `--deploy`: puts a udpbench for the other host's CPUs there, unless it is there already.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use super::ssh;
use crate::cli::LinkArgs;
use crate::commands::say;
use crate::error::UsageError;
use crate::measure::spawned::THIS_PROGRAM;

/// Where it goes, below the home directory there. One that still runs is not written over.
const THERE: &str = concat!(".cache/udpbench/", env!("CARGO_PKG_VERSION"), "/udpbench");

/// Prints what the CPUs are called, and the checksum of what is there.
const LOOK: &str = r#"uname -m; sha256sum "$1" 2>/dev/null || true"#;

/// Takes the file from standard input, and puts it in place when it is whole. Prints its checksum.
const TAKE: &str = r#"set -e
mkdir -p "${1%/*}"
new="$1.$$"
trap 'rm -f "$new"' EXIT
cat >"$new"
chmod 755 "$new"
mv "$new" "$1"
sha256sum "$1""#;

/// What `scripts/build-boards` and `cargo build` build for CPUs that `uname -m` calls so, the best first.
const TARGETS: [(&str, &[&str]); 5] = [
    (
        "aarch64",
        &["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"],
    ),
    ("armv7l", &["armv7-unknown-linux-gnueabihf"]),
    ("armv8l", &["armv7-unknown-linux-gnueabihf"]),
    (
        "armv6l",
        &[
            "arm-unknown-linux-musleabihf",
            "arm-unknown-linux-gnueabihf",
        ],
    ),
    ("x86_64", &["x86_64-unknown-linux-musl"]),
];

/// Returns where it is there.
///
/// # Errors
/// When there is none for such CPUs, or it does not get there whole.
pub(super) fn deploy(link: &LinkArgs, to: &str) -> anyhow::Result<String> {
    let seen = answer(
        ssh(link, to, &["sh", "-c", &quoted(LOOK), "sh", THERE]),
        None,
    )?;
    let mut lines = seen.lines();
    let machine = lines.next().context("uname -m says nothing there")?;
    let binary = match &link.binary {
        Some(binary) => binary.clone(),
        None => binary_for(machine)?,
    };
    let own = checksum(&binary)?;
    if lines.next().and_then(first_word) == Some(&own) {
        return Ok(THERE.to_owned());
    }
    say(&format!(
        "copying {} to {to}:{THERE} ({machine})",
        binary.display()
    ));
    let file = File::open(&binary).with_context(|| binary.display().to_string())?;
    let taken = answer(
        ssh(link, to, &["sh", "-c", &quoted(TAKE), "sh", THERE]),
        Some(file),
    )?;
    let theirs = first_word(&taken).unwrap_or_default();
    ensure!(
        theirs == own,
        "what got there has the SHA-256 {theirs}, and {} has {own}: is there room?",
        binary.display()
    );
    Ok(THERE.to_owned())
}

/// A word for the shell that ssh starts there.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

/// What a command prints.
fn answer(mut command: Command, input: Option<File>) -> anyhow::Result<String> {
    command.stdin(input.map_or_else(Stdio::null, Stdio::from));
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.context("cannot start ssh")?;
    ensure!(output.status.success(), "ssh ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn checksum(file: &Path) -> anyhow::Result<String> {
    let output = Command::new("sha256sum").arg(file).output();
    let output = output.context("cannot start sha256sum")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(sum) = first_word(&text).filter(|_| output.status.success()) {
        // A name with a backslash makes it begin with one.
        return Ok(sum.trim_start_matches('\\').to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!(UsageError::flag("--binary", &file.display(), said.trim()))
}

/// The binary for such CPUs: below `target` here, or beside this program; else this program, if they are its own.
fn binary_for(machine: &str) -> anyhow::Result<PathBuf> {
    let targets = TARGETS.iter().find(|(name, _)| *name == machine);
    let targets = targets.map_or(&[][..], |(_, targets)| targets);
    let beside = std::env::current_exe().ok();
    let beside = beside.and_then(|exe| Some(exe.parent()?.parent()?.to_owned()));
    let roots = [Some(PathBuf::from("target")), beside];
    let files = roots.iter().flatten().flat_map(|root| {
        let of = move |target: &&str| ["dist", "release"].map(|it| root.join(target).join(it));
        targets.iter().flat_map(of)
    });
    let mut files = files.map(|directory| directory.join("udpbench"));
    if let Some(found) = files.find(|file| file.is_file()) {
        return Ok(found);
    }
    if machine == std::env::consts::ARCH {
        return Ok(PathBuf::from(THIS_PROGRAM));
    }
    let fix = match targets.first() {
        Some(target) => format!(
            "build one by cross build --release --target {target} or scripts/build-boards --target {target}"
        ),
        None => "name one that runs there by --binary".to_owned(),
    };
    let problem = format!("there is no udpbench for its CPUs in target/: {fix}");
    Err(UsageError::flag("--deploy", machine, problem).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell_are_quoted() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn an_unknown_machine_has_no_binary() {
        let error = binary_for("pdp11").expect_err("nobody builds for it");
        assert!(error.to_string().contains("--binary"), "{error}");
    }
}
