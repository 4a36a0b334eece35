//! Commands for the reader to type next, made of the command line that a log has.

use std::iter;

use crate::term::shell;

/// Options without a value, standard output, and the end of the options.
pub(crate) const FLAGS: &str = "- -- -q --quiet --accept-changes --capture --decide --decimal-comma --deploy --detect --details --drop-reasons \
    --explain --full --new --no-reference --overwrite --quick --verify --warnings --yes";

/// Options that name the files of a run. Another run has files of its own.
const FILES: &str = "-o --output --samples";

/// Options that say how another host is reached.
const REACH: &str = "--rsh --agent --deploy --binary";

/// Options that have no meaning between this host and another one, or another meaning.
const OF_ONE_HOST: &str =
    "--on --address --loopback --load --suite --baseline --against --threshold --accept";

/// Options that `find lossless` does not take, or that mean something else there.
const NOT_OF_LOSSLESS: &str = "--on --rate --arrivals --transport --duplex --outstanding --think-time --duration --rounds \
    --until --max-time --heat --no-reference --verify --power-command --seed --full --quick --format --decimal-comma \
    --columns --warnings --explain --quiet -q --load --suite --baseline --against --threshold --accept --by --trial \
    --drop-reasons --delay";

/// The words of a command line, the program first.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine<'a>(pub &'a [String]);

impl<'a> CommandLine<'a> {
    /// Returns whether a subcommand or an option was typed.
    pub fn has(&self, word: &str) -> bool {
        self.parts().any(|(name, _)| name == word)
    }

    /// Returns the host of `--on`.
    pub fn on_host(&self) -> Option<&'a str> {
        let (_, words) = self.parts().find(|(name, _)| *name == "--on")?;
        words
            .last()
            .map(|it| it.strip_prefix("--on=").unwrap_or(it))
    }

    /// Returns the host of `wire`.
    fn wire_host(&self) -> Option<&'a str> {
        let names = self.parts().map(|(name, _)| name);
        let mut words = names.filter(|name| !name.starts_with('-'));
        words.find(|word| *word == "wire").and(words.next())
    }

    /// Returns the words behind the program for the host of `--on`: without those that say how it is reached.
    pub(crate) fn on_that_host(&self) -> Vec<&'a str> {
        let own = self
            .parts()
            .filter(|(name, _)| *name != "--on" && !is_in(REACH, name));
        own.flat_map(|(_, words)| words).collect()
    }

    /// Returns the command that does the same again, into new files, with the values of these options changed.
    pub fn again(&self, changes: &[(&str, String)]) -> String {
        self.without(&[], changes)
    }

    /// Returns the command without these options, into new files, with the values of others changed.
    pub(crate) fn without(&self, omitted: &[&str], changes: &[(&str, String)]) -> String {
        let is_kept = |name: &str| !is_in(FILES, name) && !omitted.contains(&name);
        self.changed("", is_kept, changes)
    }

    /// Returns the command that measures the same between this host and another one: that of `--on`, or one that the
    /// reader names.
    pub fn between_hosts(&self) -> String {
        let host = self.on_host().map_or_else(
            || "HOST --deploy".to_owned(),
            |host| {
                format!(
                    "{}{}",
                    shell::word(host),
                    self.kept(|name| is_in(REACH, name))
                )
            },
        );
        let what = if self.has("latency") { " latency" } else { "" };
        let is_kept = |name: &str| {
            let others = [FILES, REACH, OF_ONE_HOST];
            name.starts_with('-') && !others.iter().any(|names| is_in(names, name))
        };
        self.changed(&format!(" wire {host}{what}"), is_kept, &[])
    }

    /// Returns the command that searches the highest rate without loss on the same hosts, with the options that have a
    /// meaning there, and with the values of these options changed.
    pub fn find_lossless(&self, changes: &[(&str, String)]) -> String {
        let reach = self.kept(|name| is_in(REACH, name));
        let begin = match (self.wire_host(), self.on_host()) {
            (Some(host), _) => format!(" wire {}{reach} find lossless", shell::word(host)),
            (None, Some(host)) => format!(" find lossless --on {}{reach}", shell::word(host)),
            (None, None) => " find lossless".to_owned(),
        };
        let is_kept = |name: &str| {
            let others = [FILES, REACH, NOT_OF_LOSSLESS];
            name.starts_with("--") && !others.iter().any(|names| is_in(names, name))
        };
        self.changed(&begin, is_kept, changes)
    }

    /// Returns the commands that check the hosts of the run.
    pub fn checks(&self) -> Vec<String> {
        let reach = self.kept(|name| is_in(REACH, name));
        let there = self.on_host().or(self.wire_host());
        let there = there.map(|host| format!("udpbench check --on {}{reach}", shell::word(host)));
        let here = self
            .on_host()
            .is_none()
            .then(|| "udpbench check".to_owned());
        here.into_iter().chain(there).collect()
    }

    /// Returns a command with the options and words that are kept, and the values of the options that change.
    fn changed(
        &self,
        begin: &str,
        is_kept: impl Fn(&str) -> bool,
        changes: &[(&str, String)],
    ) -> String {
        let changed = changes.iter();
        let changed = changed.map(|(flag, value)| format!(" {flag} {}", shell::word(value)));
        let is_kept = |name: &str| is_kept(name) && changes.iter().all(|(flag, _)| *flag != name);
        format!(
            "udpbench{begin}{}{}",
            self.kept(is_kept),
            changed.collect::<String>()
        )
    }

    /// Returns the options and words whose names are kept, quoted for a shell and each behind a blank.
    fn kept(&self, is_kept: impl Fn(&str) -> bool) -> String {
        let kept = self.parts().filter(|(name, _)| is_kept(name));
        let words = kept.flat_map(|(_, words)| words);
        let words = words.flat_map(|word| [" ".into(), shell::word(word)]);
        words.collect()
    }

    /// Returns each option and its value by the option's name, and each other word by itself. An option whose value is
    /// `-` has that name: standard output is no file of its own.
    fn parts(&self) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
        let mut words = self.0.iter().skip(1).map(String::as_str).peekable();
        iter::from_fn(move || {
            let word = words.next()?;
            let (name, has_value) = split(word);
            let is_alone = has_value || !name.starts_with('-') || is_in(FLAGS, name);
            let value = words.next_if(|_| !is_alone);
            let name = if value == Some("-") { "-" } else { name };
            Some((name, [word].into_iter().chain(value).collect()))
        })
    }
}

fn is_in(names: &str, name: &str) -> bool {
    names.split(' ').any(|it| it == name)
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
    fn a_search_gets_what_has_a_meaning_there_and_the_same_hosts() {
        for (typed, expected) in [
            ("udpbench --quick", "udpbench find lossless"),
            (
                "udpbench --engine std,mmsg --duration 2s --rate 10k --payload=300 --pin 0:1 -q -o -",
                "udpbench find lossless --engine std,mmsg --payload=300 --pin 0:1",
            ),
            (
                "udpbench wire box --rsh x --deploy --drop-reasons --address 10.0.0.2 --rate 10k",
                "udpbench wire box --rsh x --deploy find lossless --address 10.0.0.2",
            ),
            (
                "udpbench --full --on=pi@board --threads 4 --deploy --workload rr",
                "udpbench find lossless --on pi@board --deploy --threads 4 --workload rr",
            ),
        ] {
            assert_eq!(CommandLine(&words(typed)).find_lossless(&[]), expected);
        }
        let typed = words("udpbench find knee --engine mmsg --batch 1,2 --trial 1s");
        let of_batch = CommandLine(&typed).find_lossless(&[("--batch", "2".to_owned())]);
        assert_eq!(of_batch, "udpbench find lossless --engine mmsg --batch 2");
    }

    #[test]
    fn the_same_between_hosts_has_all_options_but_those_of_one_host() {
        for (typed, expected) in [
            (
                "udpbench run --quick",
                "udpbench wire HOST --deploy --quick",
            ),
            (
                "udpbench latency -o a.csv --address local --pin 0:1 --against wire --quick",
                "udpbench wire HOST --deploy latency --pin 0:1 --quick",
            ),
            (
                "udpbench --on pi@board --agent /x --engine std --output -",
                "udpbench wire pi@board --agent /x --engine std --output -",
            ),
            (
                "udpbench wire container --rsh x latency --ip v4",
                "udpbench wire HOST --deploy latency --ip v4",
            ),
        ] {
            assert_eq!(CommandLine(&words(typed)).between_hosts(), expected);
        }
    }

    #[test]
    fn the_other_host_gets_the_words_that_are_not_about_reaching_it() {
        let typed = words("udpbench check --on pi --rsh=x --interface eth0 --deploy --board auto");
        let expected = ["check", "--interface", "eth0", "--board", "auto"];
        assert_eq!(CommandLine(&typed).on_that_host(), expected);
    }

    #[test]
    fn each_host_of_a_run_is_checked() {
        let checks = |typed: &str| CommandLine(&words(typed)).checks().join("\n");
        assert_eq!(checks("udpbench --engine std"), "udpbench check");
        let both = "udpbench check\nudpbench check --on board --deploy";
        assert_eq!(checks("udpbench wire board --deploy --drop-reasons"), both);
        let there = "udpbench check --on 'a b' --rsh 'docker exec -i'";
        let typed = ["udpbench", "--on", "a b", "--rsh", "docker exec -i"].map(str::to_owned);
        assert_eq!(CommandLine(&typed).checks(), [there]);
    }
}
