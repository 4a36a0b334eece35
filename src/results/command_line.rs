//! Commands for the reader to type next, made of the command line that a log has.

use crate::data::parameters::{attribute, parameters};
use crate::term::shell;

/// Options that name the files of a run. Another run has files of its own.
const FILES: [&str; 3] = ["-o", "--output", "--samples"];

macro_rules! define {
    (
        block { $($(#[$block_doc:meta])* $block:ident: $block_kind:ident $block_type:ty { $($of_block:tt)* })* }
        case { $($(#[$case_doc:meta])* $case:ident: $case_kind:ident $case_type:ty { $($of_case:tt)* })* }
    ) => {
        /// Options of the parameters of cases.
        const PARAMETERS: &[&str] = &[
            "--engine",
            "--sender",
            "--receiver",
            $(attribute!(flag { $($of_block)* }),)*
            $(attribute!(flag { $($of_case)* }),)*
            "--sharing",
            "--spread",
        ];
    };
}
parameters!(define);

/// Options of `find lossless` besides the parameters.
const SEARCH: [&str; 8] = [
    "--goal",
    "--exceed",
    "--trial",
    "--sum",
    "--width",
    "--recheck",
    "--max-case-time",
    "--warmup",
];

/// Parameters that a search chooses itself, or that datagrams do not have.
const NOT_SEARCHED: [&str; 3] = ["--rate", "--arrivals", "--transport"];

/// The words of a command line, the program first.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine<'a>(pub &'a [String]);

impl CommandLine<'_> {
    /// Returns whether a subcommand or an option was typed.
    pub fn has(&self, word: &str) -> bool {
        let mut words = self.0.iter().skip(1);
        words.any(|it| it == word || it.split('=').next() == Some(word))
    }

    /// Returns the command that does the same again, into new files, with the values of these options changed.
    pub fn again(&self, changes: &[(&str, String)]) -> String {
        self.without(&[], changes)
    }

    /// Returns the command without these options, which have a value, into new files, with the values of others changed.
    pub(crate) fn without(&self, omitted: &[&str], changes: &[(&str, String)]) -> String {
        self.with("udpbench", changes, |flag| {
            !FILES.contains(&flag) && !omitted.contains(&flag)
        })
    }

    /// Returns `find lossless` with the options that were typed and have a meaning there, and with the values of these
    /// options changed.
    pub fn find_lossless(&self, changes: &[(&str, String)]) -> String {
        self.with("find lossless", changes, |flag| {
            let is_of_one_host = flag == "--address" && !self.has("wire");
            let is_parameter =
                PARAMETERS.contains(&flag) && !NOT_SEARCHED.contains(&flag) && !is_of_one_host;
            is_parameter || SEARCH.contains(&flag) && self.has("lossless")
        })
    }

    /// Returns a command with the words that are kept and the values of the options that change. Options that are kept
    /// although other words are not, or not kept although other words are, have a value.
    fn with(
        &self,
        command: &str,
        changes: &[(&str, String)],
        is_kept: impl Fn(&str) -> bool,
    ) -> String {
        let mut words = vec![command.to_owned()];
        let mut keep = |word: &str| words.push(shell::word(word).into_owned());
        let mut typed = self.0.iter().skip(1).peekable();
        while let Some(word) = typed.next() {
            let (flag, has_value) = split(word);
            let keeps = is_kept(flag) && !changes.iter().any(|(changed, _)| *changed == flag);
            let is_special = keeps != is_kept("");
            let value = typed.next_if(|_| is_special && !has_value);
            // Standard output is no file of its own.
            if keeps || is_kept("") && value.is_some_and(|value| value == "-") {
                keep(word);
                if let Some(value) = value {
                    keep(value);
                }
            }
        }
        let changed = changes.iter();
        words.extend(changed.map(|(flag, value)| format!("{flag} {}", shell::word(value))));
        words.join(" ")
    }
}

/// Returns the name of an option, and whether the word has its value: `--threads=2`, `-oFILE`.
fn split(word: &str) -> (&str, bool) {
    if word.starts_with("-o") {
        return ("-o", word.len() > 2);
    }
    match word.split_once('=') {
        Some((flag, _)) => (flag, true),
        None => (word, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_same_again_goes_into_new_files_with_what_changes() {
        for (typed, expected) in [
            ("./udpbench", "udpbench --until 5%"),
            (
                "udpbench wire board --deploy --engine std --until=1% --output a.csv",
                "udpbench wire board --deploy --engine std --until 5%",
            ),
            (
                "udpbench -oa.csv --until 9% --samples b.jsonl latency",
                "udpbench latency --until 5%",
            ),
            ("udpbench -o -", "udpbench -o - --until 5%"),
        ] {
            let typed = words(typed);
            let changes = [("--until", "5%".to_owned())];
            assert_eq!(CommandLine(&typed).again(&changes), expected);
        }
        let typed = ["udpbench", "--power-command", "cat x; y"].map(str::to_owned);
        let again = CommandLine(&typed).again(&[]);
        assert_eq!(again, "udpbench --power-command 'cat x; y'");
    }

    #[test]
    fn a_search_gets_what_has_a_meaning_there() {
        for (typed, expected) in [
            ("udpbench --quick", "find lossless"),
            (
                "udpbench --engine std,mmsg --duration 2s --rate 10k --payload=300 --pin 0:1",
                "find lossless --engine std,mmsg --payload=300",
            ),
            (
                "udpbench --address local --engine std",
                "find lossless --engine std",
            ),
            (
                "udpbench wire box --rsh x --address 10.0.0.2 --rate 10k",
                "find lossless --address 10.0.0.2",
            ),
            (
                "udpbench find lossless --goal 1% --on board -o x.jsonl --threads 4 --workload rr",
                "find lossless --goal 1% --threads 4 --workload rr",
            ),
        ] {
            assert_eq!(CommandLine(&words(typed)).find_lossless(&[]), expected);
        }
        let typed = words("udpbench find knee --engine mmsg --batch 1,2 --trial 1s");
        let of_batch = CommandLine(&typed).find_lossless(&[("--batch", "2".to_owned())]);
        assert_eq!(of_batch, "find lossless --engine mmsg --batch 2");
    }
}
