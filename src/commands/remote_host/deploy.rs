//! `--deploy`: copies a udpbench for the remote host's CPUs there, unless the same file is there already.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use nix::sys::utsname::uname;

use super::rsh::Rsh;
use crate::cli::RemoteArgs;
use crate::error::UsageError;
use crate::sys::interrupt::Interrupt;
use crate::term::output::say;
use crate::trial::spawned::THIS_PROGRAM;

/// Directory of the copy on the remote host, below the directory of [`CD_HOME`]. The copy has the name of this program.
/// `mv` replaces the name; a running copy keeps its file.
const REMOTE_DIRECTORY: &str = concat!(".cache/udpbench/", env!("CARGO_PKG_VERSION"));

/// `cd` to the home directory, or to `/data/local/tmp` if it is not writable (Android).
pub(super) const CD_HOME: &str = r#"cd "${HOME:-.}" 2>/dev/null; [ -w . ] || cd /data/local/tmp 2>/dev/null
"#;

/// Script that prints the directory, the CPU name of `uname -m`, and the checksum of the file that is there (nothing
/// without sha256sum). These are the last lines, after any output of start-up files.
const PROBE_SCRIPT: &str = r#"pwd; uname -m; echo "$({ sha256sum <"$1"; } 2>/dev/null)""#;

/// Script that takes the file from standard input. $2 is its size in bytes and $3 its checksum, which is compared if
/// both ends have sha256sum. The file gets its name when it is complete and has run once. Otherwise it is removed. The
/// script runs in every POSIX shell, such as busybox's.
const INSTALL_SCRIPT: &str = include_str!("install.sh");

/// Names of CPUs by `uname -m`, each with its build targets, the best first. The first one needs no cross compiler.
const TARGETS: [&str; 5] = [
    "aarch64 aarch64-unknown-linux-musl aarch64-unknown-linux-gnu",
    "armv7l armv7-unknown-linux-musleabihf armv7-unknown-linux-gnueabihf",
    "armv8l armv7-unknown-linux-musleabihf armv7-unknown-linux-gnueabihf",
    "armv6l arm-unknown-linux-musleabihf arm-unknown-linux-gnueabihf",
    "x86_64 x86_64-unknown-linux-musl",
];

/// Copies the program to the remote host if needed and returns its path there.
///
/// # Errors
/// Fails if there is no program for these CPUs, or if it does not arrive complete or does not run there. The partial
/// copy is removed.
pub(super) fn deploy(
    rsh: &Rsh,
    options: &RemoteArgs,
    to: &str,
    interrupt: &Interrupt,
) -> anyhow::Result<String> {
    let run = |script: &str, words: &[&str], input: Stdio| {
        rsh.script(&format!("{CD_HOME}{script}"), words, input, interrupt)
    };
    let copy = remote_path();
    let said = run(PROBE_SCRIPT, &[&copy], Stdio::null())?;
    let mut lines = said.lines().rev();
    let (sum, machine, home) = (lines.next(), lines.next(), lines.next());
    let machine = machine.context("uname -m says nothing there")?;
    let home = home.context("pwd says nothing there")?;
    let path = format!("{home}/{copy}");
    let (option, binary) = match &options.binary {
        Some(file) => ("--binary", file.clone()),
        None => ("--deploy", binary_for(machine)?),
    };
    let unreadable =
        |error: io::Error| UsageError::flag(option, &binary.display(), error.to_string());
    let mut file = File::open(&binary).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let own_sum = checksum(&mut file)?;
    if !own_sum.is_empty() && first_word(sum.unwrap_or_default()) == own_sum {
        return Ok(path);
    }
    // The real path, for /proc/self/exe.
    let shown = binary.canonicalize().unwrap_or(binary);
    let shown = shown.display();
    say(&format!("copying {shown} to {to}:{path} ({machine})"));
    let bytes = bytes.to_string();
    run(INSTALL_SCRIPT, &[&copy, &bytes, &own_sum], file.into())
        .context("it could not be put there, and nothing of it is left there")?;
    Ok(path)
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// Returns the SHA-256 of a file. Empty without sha256sum on this host. sha256sum gets the open file, since a name such
/// as /proc/self/exe means another file in another process.
fn checksum(file: &mut File) -> io::Result<String> {
    let mut command = Command::new("sha256sum");
    let output = command.stdin(file.try_clone()?).output();
    file.rewind()?;
    let output = output.ok().filter(|output| output.status.success());
    let text = output.map_or_else(Vec::new, |output| output.stdout);
    Ok(first_word(&String::from_utf8_lossy(&text)).to_owned())
}

/// Returns the path of the copy on the remote host, below the directory of [`CD_HOME`].
pub(super) fn remote_path() -> String {
    format!("{REMOTE_DIRECTORY}/{}", program_name())
}

/// Returns the file name of this program: udpbench, or that of another crate's program with engines of its own.
pub(super) fn program_name() -> String {
    let own = std::env::current_exe().ok();
    let name = own.as_deref().and_then(Path::file_name);
    let name = name.unwrap_or_else(|| OsStr::new("udpbench"));
    without_suffixes(&name.to_string_lossy()).to_owned()
}

/// Returns a name without ` (deleted)`, which the kernel adds if the file was replaced, and without the hash that cargo
/// adds to the name of a bench target.
fn without_suffixes(name: &str) -> &str {
    let name = name.strip_suffix(" (deleted)").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => {
            stem
        }
        _ => name,
    }
}

/// Returns the program for the CPUs that `uname -m` calls `machine`. It is looked for below `target` in the working
/// directory and in the `target` directory that this program runs from. Else it is this program, if this host has the
/// same CPU name.
fn binary_for(machine: &str) -> anyhow::Result<PathBuf> {
    let mut targets = TARGETS.iter().map(|names| names.split(' '));
    let targets = targets.find_map(|mut names| (names.next() == Some(machine)).then_some(names));
    let targets: Vec<&str> = targets.into_iter().flatten().collect();
    let beside = std::env::current_exe().ok();
    let beside = beside.and_then(|exe| Some(exe.parent()?.parent()?.to_owned()));
    let roots = [Some(PathBuf::from("target")), beside];
    let files = roots.iter().flatten().flat_map(|root| {
        let of = move |target: &&str| ["dist", "release"].map(|it| root.join(target).join(it));
        targets.iter().flat_map(of)
    });
    let name = program_name();
    let mut files = files.map(|directory| directory.join(&name));
    if let Some(found) = files.find(|file| file.is_file()) {
        return Ok(found);
    }
    if uname().is_ok_and(|local| local.machine() == machine) {
        return Ok(PathBuf::from(THIS_PROGRAM));
    }
    let fix = match targets.first() {
        Some(target) => format!(
            "build one by rustup target add {target} && cargo build --release --target {target}, \
             or name a file by --binary"
        ),
        None => "name one that runs there by --binary".to_owned(),
    };
    let problem = format!("there is no {name} for its CPUs in target/: {fix}");
    Err(UsageError::flag("--deploy", machine, problem).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_name_of_its_target() {
        for (file, name) in [
            ("udpbench", "udpbench"),
            ("own-engine (deleted)", "own-engine"),
            ("udp-0123456789abcdef", "udp"),
            ("own-engine", "own-engine"),
        ] {
            assert_eq!(without_suffixes(file), name);
        }
    }

    #[test]
    fn an_unknown_machine_has_no_binary() {
        let error = binary_for("pdp11").expect_err("nobody builds for it");
        assert!(error.to_string().contains("--binary"), "{error}");
    }
}
