//! The words of this program's command line.

use std::env;
use std::ffi::OsString;

/// Returns the words of the command line, the program's name first. `cargo bench` adds `--bench` as the last one, which is
/// left out.
pub fn words() -> Vec<OsString> {
    without_cargos(env::args_os().collect())
}

/// Returns the words of the command line as text, for logs.
pub fn words_as_text() -> Vec<String> {
    let words = words().into_iter();
    let text = words.map(|word| word.to_string_lossy().into_owned());
    text.collect()
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
