//! `udpbench compare`: compares saved runs before a change with those after it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::session::Outcome;
use super::show_answers;
use crate::cli::CompareArgs;
use crate::error::UsageError;
use crate::results::command_line::CommandLine;
use crate::results::export::Conclusion;
use crate::results::files::Results;
use crate::results::log::run_of;
use crate::term::output::width;
use crate::term::{fold, shell};
use crate::verdict::compare::table::draw;
use crate::verdict::compare::{Comparison, compare};
use crate::verdict::judge;
use crate::verdict::judge::JudgedEngine;
use crate::verdict::judge::table::Detail;

/// Compares and prints the answers.
///
/// # Errors
/// Fails if a file cannot be read or has no case to compare.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let shape = args.asked.form.shape()?;
    let sides = args.sides()?;
    let [before, after] = sides;
    let opened = |paths: &[PathBuf]| -> Result<Vec<Results>, UsageError> {
        paths.iter().map(|path| Results::open(path)).collect()
    };
    let (before, after) = (opened(before)?, opened(after)?);
    let comparison = compare([&before, &after], args.asked.question());
    refuse_nothing(&comparison, [&before, &after])?;
    let table = || {
        let next = next(&comparison, sides);
        draw(&comparison, Detail::of(args.asked.details), width()) + &next
    };
    let rows = || {
        let [before, after] = comparison.names.each_ref().map(|names| names.join(" "));
        let shared = serde_json::json!({ "before": before, "after": after });
        judge::rows::rows(
            &comparison.judgement,
            ["before_value", "after_value"],
            &shared,
        )
    };
    let conclusion = Conclusion::of_comparison(
        comparison.judgement.is_worse(),
        comparison.is_inconclusive(),
    );
    show_answers(shape, &conclusion, table, rows)?;
    Ok(outcome(&comparison, args.asked.accept.is_some()).into())
}

/// Returns what can tell what this comparison cannot. Empty: there is nothing, or no need.
fn next(comparison: &Comparison, sides: [&[PathBuf]; 2]) -> String {
    let engines = &comparison.judgement.engines;
    if comparison.judgement.is_worse() {
        return String::new();
    }
    let is_open = comparison.is_inconclusive();
    if comparison.is_disturbed && is_open {
        let advice = "next  stop what else runs, and mend what this names; then measure again:\n      udpbench check\n";
        return fold::text(advice, width().into());
    }
    if engines.len() == 1 || engines.iter().any(JudgedEngine::is_unattributed) {
        let advice = "next  measure another engine, too, in all runs, or each engine against itself, in two programs or \
                      states:\n      udpbench ab -h\n";
        return fold::text(advice, width().into());
    }
    match sides {
        [[before], [after]] if is_open => measure_again(before, after),
        _ => String::new(),
    }
}

/// Returns the commands that measure once more, and compare. They are not folded: they are there to be pasted.
fn measure_again(before: &Path, after: &Path) -> String {
    let again = after.with_extension("again.csv");
    let [before, after_too, output] = [before, after, &again].map(shell::path);
    let measure = match run_of(&after.with_extension("jsonl")) {
        Some(run) => {
            let changes = [("--output", again.display().to_string())];
            CommandLine(&run.command_line).without(&["--baseline", "--against"], &changes)
        }
        None => format!("measure again, with the same options and --output {output}"),
    };
    format!("next  {measure}\n      udpbench compare {before} -- {after_too} {output}\n")
}

/// Returns the outcome of a comparison. `accept`: an open question is no failure.
pub(super) fn outcome(comparison: &Comparison, accept: bool) -> Outcome {
    if comparison.judgement.is_worse() {
        Outcome::Worse
    } else if comparison.is_inconclusive() && !accept {
        Outcome::Inconclusive
    } else {
        Outcome::Done
    }
}

/// Returns an error if there is no case to compare: an empty comparison must not look like one without a slowdown. It
/// has the command that would tell, if there is one.
pub(super) fn refuse_nothing(
    comparison: &Comparison,
    sides: [&[Results]; 2],
) -> Result<(), UsageError> {
    let Some(why) = comparison.obstacle() else {
        return Ok(());
    };
    let begun = sides
        .into_iter()
        .flatten()
        .find_map(Results::resume_command);
    let fix = begun.map(|command| format!("; measure what is missing: {command}"));
    let fix = fix.unwrap_or_default();
    let [before, after] = comparison.names.each_ref().map(|names| names.join(" "));
    let problem = format!("no case can be compared with {before}: {why}{fix}");
    Err(UsageError::flag("compare", &after, problem))
}
