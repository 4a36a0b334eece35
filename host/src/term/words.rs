//! The words of this program's command line.

use std::borrow::Cow;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::shell;

/// The program's name in texts.
const NAME: &str = "udpbench";
/// Its commands, parted by blanks.
pub const COMMANDS: &str = "ab agent boards check compare completions engines files find latency listen manual plan put-back rank report resume run soak suites summarize watch wire";

/// Returns the words of the command line, the program's name first. `cargo bench` adds `--bench` as the last one, which
/// is left out.
pub fn words() -> Vec<OsString> {
    without_cargos(env::args_os().collect())
}

/// Returns the words of the command line as text, for logs.
pub fn words_as_text() -> Vec<String> {
    let text = words().into_iter();
    text.map(|it| it.to_string_lossy().into_owned()).collect()
}

/// Returns a text whose commands begin with the program as it was typed, such as `./udpbench`, if a shell would not
/// find it by its name.
pub fn as_typed(text: &str) -> Cow<'_, str> {
    static TYPED: LazyLock<Option<String>> = LazyLock::new(typed);
    match &*TYPED {
        Some(program) => started_by(program, text).into(),
        None => text.into(),
    }
}

/// Returns the path by which this program was started. `None`: its name is enough.
fn typed() -> Option<String> {
    let typed = PathBuf::from(env::args_os().next()?);
    let is_path = typed.parent().is_some_and(|it| it != Path::new(""));
    if !is_path || typed.file_name() != Some(NAME.as_ref()) {
        return None;
    }
    let directories = env::var_os("PATH").unwrap_or_default();
    let mut named = env::split_paths(&directories).map(|directory| directory.join(NAME));
    let found = named.find_map(|file| file.canonicalize().ok());
    let is_found = found.is_some() && found == typed.canonicalize().ok();
    (!is_found).then(|| shell::path(&typed))
}

/// Puts `program` in the place of the name of this program in each command of a text.
fn started_by(program: &str, text: &str) -> String {
    let begins = COMMANDS.split(' ').chain(["--"]);
    begins.fold(text.to_owned(), |text, name| {
        let (named, typed) = (format!("{NAME} {name}"), format!("{program} {name}"));
        replaced(&text, &named, &typed)
    })
}

/// Replaces commands that begin a word: the path of an agent ends with this program's name, too.
fn replaced(text: &str, command: &str, by: &str) -> String {
    let mut parts = text.split(command);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        let is_command = whole.is_empty() || whole.ends_with([' ', '\n', '`', '(']);
        whole += if is_command { by } else { command };
        whole += rest;
    }
    whole
}

fn without_cargos(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.len() > 1 && words.last().is_some_and(|last| last == "--bench") {
        words.pop();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_begin_with_the_program_as_it_was_typed_and_prose_stays() {
        for (text, expected) in [
            ("udpbench report a.jsonl", "./udpbench report a.jsonl"),
            (
                "stop it (udpbench check); udpbench 0.1.0",
                "stop it (./udpbench check); udpbench 0.1.0",
            ),
            ("use: udpbench --suite x", "use: ./udpbench --suite x"),
            ("/bin/udpbench check", "/bin/udpbench check"),
            (
                "run it again:\nudpbench --full",
                "run it again:\n./udpbench --full",
            ),
            ("udpbench measures, udpbench", "udpbench measures, udpbench"),
        ] {
            assert_eq!(started_by("./udpbench", text), expected);
            assert_eq!(as_typed(text), text, "a test has another name");
        }
    }

    #[test]
    fn what_cargo_bench_adds_is_left_out() {
        let without = |words: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            without_cargos(words)
        };
        assert_eq!(without(&["udp", "--quick", "--bench"]), ["udp", "--quick"]);
        assert_eq!(without(&["udp", "--bench"]), ["udp"]);
        assert_eq!(without(&["udp", "--bench", "ab"]), ["udp", "--bench", "ab"]);
        assert_eq!(without(&["--bench"]), ["--bench"]);
    }
}
