//! `--against`: what the comparison will be able to say, before anything is measured, and the comparison at the end.

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

/// What a run is compared with.
pub(super) struct Base {
    /// As it was typed.
    name: String,
    results: Results,
    /// The words of its command line, without the program's. `None`: its raw samples are gone.
    words: Option<Vec<String>>,
}

impl Base {
    /// The baseline, or the file, of that name.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub(super) fn open(name: &str) -> Result<Self, UsageError> {
        let results = baselines::find(name)?;
        Ok(Self {
            name: name.to_owned(),
            words: words_of(Path::new(&results.name)),
            results,
        })
    }

    /// Says what cannot be decided by comparing the run of this plan and command line, and what can decide it.
    ///
    /// # Errors
    /// When no case could be compared at all.
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

    /// The command that measures both sides in turn.
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

    /// Shows how a run differs from this one, and what becomes of its outcome then.
    ///
    /// # Errors
    /// When nothing can be compared, or standard output is gone.
    pub(super) fn compared(
        &self,
        command_line: &[String],
        progress: &Progress,
        measured: Outcome,
    ) -> anyhow::Result<Outcome> {
        let run = Results {
            name: progress.outputs.results.clone(),
            rows: progress.rows.iter().map(Row::shown).collect(),
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

/// As many as an engine needs blocks.
const FOUR_PAYLOADS: &str = "26,300,800,1460";

/// The command line of the run whose results these are, by the raw samples beside them.
fn words_of(results: &Path) -> Option<Vec<String>> {
    let mut first = String::new();
    let log = File::open(results.with_extension("jsonl")).ok()?;
    BufReader::new(log).read_line(&mut first).ok()?;
    let log = Log::<Header>::parse("", first.as_bytes()).ok()?;
    Some(log.header.command_line.get(1..)?.to_vec())
}

/// What is no option of a side of `ab`, with its value.
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
/// The same without a value.
const BARE: [&str; 6] = [
    "--no-config",
    "--no-reference",
    "--quiet",
    "--verify",
    "--warnings",
    "--force",
];

/// The options of a command line that a side of `ab` takes, each with its value.
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
            // -o FILE and -q; all that is short.
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
