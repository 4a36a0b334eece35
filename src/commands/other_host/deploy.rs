//! `--deploy`: puts a udpbench for the other host's CPUs there, unless it is there already.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use nix::sys::utsname::uname;

use super::rsh::Rsh;
use crate::cli::LinkArgs;
use crate::commands::say;
use crate::error::UsageError;
use crate::sys::interrupt::Interrupt;
use crate::term::shell;
use crate::trial::spawned::THIS_PROGRAM;

/// Where it goes, below the directory of [`AT_HOME`]. One that still runs is not written over.
const THERE: &str = concat!(".cache/udpbench/", env!("CARGO_PKG_VERSION"), "/udpbench");

/// Goes to the home directory; on Android, where nobody has one to write to, to the directory for such things.
const AT_HOME: &str = r#"cd "${HOME:-.}" 2>/dev/null; [ -w . ] || cd /data/local/tmp 2>/dev/null
"#;

/// Prints where that is, what the CPUs are called, and the checksum of what is there, if sha256sum is. These are the last
/// lines, behind what start-up files print.
const LOOK: &str = r#"pwd; uname -m; echo "$({ sha256sum <"$1"; } 2>/dev/null)""#;

/// Takes the file from standard input: of $2 bytes, with the checksum $3, if that is known at both ends. It is put in
/// place when it is whole and has run once; otherwise nothing is left of it. Works in every POSIX shell, as in busybox.
const TAKE: &str = r#"directory=${1%/*} new=$1.$$ cache=
[ -d "${directory%%/*}" ] || cache=${directory%%/*}
end() {
    code=$?
    rm -f "$new"
    for it in "$directory" "${directory%/*}" $cache; do rmdir "$it" 2>/dev/null; done
    exit $code
}
trap end EXIT
trap "exit 1" HUP INT TERM
fail() { echo "$1" >&2; exit 1; }
mkdir -p "$directory" || exit 1
cat >"$new" || exit 1
bytes=$(wc -c <"$new")
[ "$bytes" -eq "$2" ] || fail "$bytes of $2 bytes got there"
if sum=$(sha256sum <"$new" 2>/dev/null) && [ -n "$3" ]; then
    [ "${sum%% *}" = "$3" ] || fail "it got there with the SHA-256 ${sum%% *}, not $3"
fi
chmod 755 "$new" && "$new" --version >/dev/null && mv "$new" "$1" ||
    fail "it does not run there: no leave to run programs in the home directory (noexec)? built for another system?""#;

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

/// Returns where it is there, as a word for `rsh`.
///
/// # Errors
/// When there is none for such CPUs, or it does not get there whole, or does not run there. Then nothing is left there.
pub(super) fn deploy(
    rsh: &Rsh,
    link: &LinkArgs,
    to: &str,
    interrupt: &Interrupt,
) -> anyhow::Result<String> {
    let shell = Shell {
        rsh,
        quotes: rsh.has_shell(interrupt)?,
        interrupt,
    };
    let seen = shell.run(LOOK, &[], Stdio::null())?;
    let mut lines = seen.lines().rev();
    let (there, machine, home) = (lines.next(), lines.next(), lines.next());
    let machine = machine.context("uname -m says nothing there")?;
    let path = format!("{}/{THERE}", home.context("pwd says nothing there")?);
    let binary = match &link.binary {
        Some(binary) => binary.clone(),
        None => binary_for(machine)?,
    };
    let unreadable =
        |error: std::io::Error| UsageError::flag("--binary", &binary.display(), error.to_string());
    let mut file = File::open(&binary).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len().to_string();
    let sum = checksum(&mut file)?;
    if sum.is_some() && there.and_then(first_word) == sum.as_deref() {
        return Ok(shell.word(&path));
    }
    say(&format!(
        "copying {} to {to}:{path} ({machine})",
        shown(&binary)
    ));
    shell
        .run(TAKE, &[&bytes, &sum.unwrap_or_default()], file.into())
        .context("it could not be put there, and nothing of it is left there")?;
    Ok(shell.word(&path))
}

/// What runs scripts there.
struct Shell<'a> {
    rsh: &'a Rsh,
    /// Whether words have to be quoted, as the shell of ssh takes them apart.
    quotes: bool,
    interrupt: &'a Interrupt,
}

impl Shell<'_> {
    fn word(&self, word: &str) -> String {
        if self.quotes {
            shell::word(word).into_owned()
        } else {
            word.to_owned()
        }
    }

    /// Runs a script in the directory of [`AT_HOME`], with [`THERE`] and these words. Returns what it prints.
    fn run(&self, script: &str, words: &[&str], input: Stdio) -> anyhow::Result<String> {
        let script = format!("{AT_HOME}{script}");
        let words = [&["sh", "-c", &script, "sh", THERE], words].concat();
        let words: Vec<String> = words.into_iter().map(|it| self.word(it)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.rsh.answer(&words, input, self.interrupt)
    }
}

fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

/// Returns the SHA-256 of a file, if there is a sha256sum here. It is handed the open file: a name such as
/// /proc/self/exe is another file in another process.
fn checksum(file: &mut File) -> anyhow::Result<Option<String>> {
    let mut command = Command::new("sha256sum");
    let output = command.stdin(file.try_clone()?).output();
    file.rewind()?;
    let output = output.ok().filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    Ok(text.as_deref().and_then(first_word).map(str::to_owned))
}

/// The path of a binary, as a reader knows it.
fn shown(binary: &Path) -> String {
    let own = std::env::current_exe().ok();
    let own = own.filter(|_| binary == Path::new(THIS_PROGRAM));
    own.as_deref().unwrap_or(binary).display().to_string()
}

/// The binary for such CPUs: below `target` here, or beside this program; else this program, if this machine's CPUs are
/// called the same.
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
    if uname().is_ok_and(|here| here.machine() == machine) {
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
    fn an_unknown_machine_has_no_binary() {
        let error = binary_for("pdp11").expect_err("nobody builds for it");
        assert!(error.to_string().contains("--binary"), "{error}");
    }
}
