//! `--against`: before the run, says whether the comparison can decide anything; after it, compares.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anstream::adapter::strip_str;

use crate::commands::compare::refuse_nothing;
use crate::commands::session::Outcome;
use crate::commands::session::progress::Progress;
use crate::commands::{baselines, say, show_in_colours, width};
use crate::error::UsageError;
use crate::plan::Plan;
use crate::results::files::Results;
use crate::results::log::{Header, Log};
use crate::results::row::Row;
use crate::term::fold;
use crate::verdict::compare::table::{self, Detail};
use crate::verdict::compare::{BLOCKS_NEEDED, Options, Outlook, compare, outlook};

/// Results that a run is compared with.
pub(super) struct Base {
    /// The name as typed.
    name: String,
    results: Results,
    /// Command line of the base without the program's name. `None` if its raw samples are gone.
    words: Option<Vec<String>>,
}

impl Base {
    /// Opens the baseline or file of this name.
    ///
    /// # Errors
    /// Fails if there is none or it cannot be read.
    pub(super) fn open(name: &str) -> Result<Self, UsageError> {
        let results = baselines::find(name)?;
        Ok(Self {
            name: name.to_owned(),
            words: words_of(Path::new(&results.name)),
            results,
        })
    }

    /// Warns if the plan has too few blocks in common with the base to decide, and says what can decide.
    ///
    /// # Errors
    /// Fails if no case could be compared.
    pub(super) fn announce(&self, plan: &Plan, command_line: &[String]) -> Result<(), UsageError> {
        let cases = plan.runnable().map(|planned| &planned.case);
        let refused = |what: &str| {
            let problem = format!("{what}; {}", self.what_decides(command_line));
            Err(UsageError::flag("--against", &self.name, problem))
        };
        match outlook(&self.results.rows, cases) {
            Outlook::Decides => Ok(()),
            Outlook::NoCase => {
                refused("no case of this run is in it, so nothing would be compared")
            }
            Outlook::OnlyReference => refused(
                "only std on connected sockets would be in both, and that is what others are held against",
            ),
            Outlook::TooFewBlocks(blocks) => {
                say(&format!(
                    "warning: --against {}: this plan cannot tell whether an engine changed ({blocks} of the \
                     {BLOCKS_NEEDED} blocks needed); unless a single case does, the run ends with exit code 4",
                    self.name
                ));
                say(&format!("   fix: {}", self.what_decides(command_line)));
                Ok(())
            }
        }
    }

    /// Returns the advice that can decide: the `ab` command that measures both sides in turn, or more payloads.
    fn what_decides(&self, command_line: &[String]) -> String {
        let words = command_line.get(1..).unwrap_or_default();
        let is_one_of = |word: &String| ["wire", "latency"].contains(&word.as_str());
        if words.first().is_some_and(is_one_of) {
            return format!(
                "four payloads or more in both runs can, such as --payload {FOUR_PAYLOADS}"
            );
        }
        let own = options(words);
        let theirs = self.words.as_deref().map(options);
        let is_in = |all: &[String], one: &String| all.contains(one);
        let Some(theirs) = theirs else {
            return format!("this can: udpbench ab BEFORE AFTER -- {}", own.join(" "));
        };
        let side = |name: &str, own: &[String], other: &[String]| {
            let alone: Vec<&str> = own
                .iter()
                .filter(|one| !is_in(other, one))
                .map(String::as_str)
                .collect();
            if alone.is_empty() {
                String::new()
            } else {
                format!(" --{name} '{}'", alone.join(" ").replace('\'', r"'\''"))
            }
        };
        let sides = side("a", &theirs, &own) + &side("b", &own, &theirs);
        let both: Vec<&str> = own
            .iter()
            .filter(|one| is_in(&theirs, one))
            .map(String::as_str)
            .collect();
        let both = if both.is_empty() {
            String::new()
        } else {
            format!(" -- {}", both.join(" "))
        };
        if sides.is_empty() {
            format!("this can, with the program of each: udpbench ab BEFORE AFTER{both}")
        } else {
            format!("this can: udpbench ab{sides}{both}")
        }
    }

    /// Compares the run with the base, prints the differences and returns the combined outcome.
    ///
    /// # Errors
    /// Fails if no case can be compared or standard output cannot be written.
    pub(super) fn compared(
        &self,
        command_line: &[String],
        progress: &Progress,
        measured: Outcome,
    ) -> anyhow::Result<Outcome> {
        let run = Results {
            name: progress.outputs.results.clone(),
            rows: progress
                .rows
                .iter()
                .map(Row::escaped_for_terminal)
                .collect(),
            ..Results::default()
        };
        let new = [run];
        let comparison = compare(&self.results, &new, Options::default());
        refuse_nothing(&comparison, std::iter::once(&self.results).chain(&new))?;
        let is_inconclusive = comparison.is_inconclusive();
        let mut text = format!("\n{}", table::draw(&comparison, Detail::Changes, width()));
        if is_inconclusive && !comparison.is_worse() {
            let fix = format!("Nothing is decided: {}\n", self.what_decides(command_line));
            text += &fold::text(&fix, width().into());
        }
        if progress.outputs.to_stdout && !progress.quiet {
            strip_str(&text).to_string().lines().for_each(say);
        } else if !progress.quiet {
            show_in_colours(&text)?;
        }
        Ok(match measured {
            _ if comparison.is_worse() => Outcome::Worse,
            Outcome::Done if is_inconclusive => Outcome::Inconclusive,
            measured => measured,
        })
    }
}

/// Payloads for the number of blocks that a verdict on an engine needs.
const FOUR_PAYLOADS: &str = "26,300,800,1460";

/// Reads the command line of a run from the raw samples beside its results.
fn words_of(results: &Path) -> Option<Vec<String>> {
    let mut first = String::new();
    let log = File::open(results.with_extension("jsonl")).ok()?;
    BufReader::new(log).read_line(&mut first).ok()?;
    let log = Log::<Header>::parse("", first.as_bytes()).ok()?;
    Some(log.header.command_line.get(1..)?.to_vec())
}

/// Options with a value that a side of `ab` does not take.
const VALUED: [&str; 12] = [
    "--against",
    "--baseline",
    "--columns",
    "--config",
    "--format",
    "--max-time",
    "--output",
    "--rounds",
    "--samples",
    "--seed",
    "--soak",
    "--until",
];
/// Options without a value that a side of `ab` does not take.
const BARE: [&str; 6] = [
    "--no-config",
    "--no-reference",
    "--quiet",
    "--verify",
    "--warnings",
    "--accept-changes",
];

/// Returns the options of a command line that a side of `ab` takes, each with its value.
fn options(words: &[String]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let mut is_dropped = false;
    for word in words {
        let name = word.split('=').next().unwrap_or_default();
        let (is_short, is_flag) = (
            word.starts_with('-') && !word.starts_with("--"),
            word.starts_with("--"),
        );
        if is_flag || is_short {
            // Short options are dropped, such as -o FILE and -q.
            is_dropped = is_short || VALUED.contains(&name) || BARE.contains(&name);
            if !is_dropped {
                options.push(word.clone());
            }
        } else if let (false, Some(option)) = (is_dropped, options.last_mut()) {
            *option = format!("{option} {word}");
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_side_of_ab_takes_is_left_of_a_command_line() {
        let typed = "run --engine std,mmsg --against before --rcvbuf=64k -o out.csv -q --rounds 6 --no-reference --quick";
        let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        assert_eq!(
            options(&words),
            ["--engine std,mmsg", "--rcvbuf=64k", "--quick"]
        );
    }
}
