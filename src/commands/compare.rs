//! `udpbench compare`: compares saved runs before a change with those after it.

use std::path::PathBuf;
use std::process::ExitCode;

use super::session::Outcome;
use super::{open, show_answers, width};
use crate::cli::CompareArgs;
use crate::error::UsageError;
use crate::results::files::Results;
use crate::verdict::compare::table::draw;
use crate::verdict::compare::{Comparison, compare};
use crate::verdict::judge;
use crate::verdict::judge::table::Detail;

/// Compares and prints the answers.
///
/// # Errors
/// Fails if a file cannot be read or has no case to compare.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let shape = args.asked.form.shape()?;
    let [before, after] = args.sides()?;
    let opened = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| open(path))
            .collect::<Result<Vec<Results>, _>>()
    };
    let (before, after) = (opened(before)?, opened(after)?);
    let comparison = compare([&before, &after], args.asked.question());
    refuse_nothing(&comparison, before.iter().chain(&after))?;
    let table = || draw(&comparison, Detail::of(args.asked.details), width());
    let rows = || {
        let [before, after] = comparison.names.each_ref().map(|names| names.join(" "));
        let shared = serde_json::json!({ "before": before, "after": after });
        judge::rows::rows(
            &comparison.judgement,
            ["before_value", "after_value"],
            &shared,
        )
    };
    show_answers(shape, table, rows)?;
    Ok(outcome(&comparison, args.asked.accept.is_some()).into())
}

/// Returns the outcome of a comparison. `accept`: an open question is no failure.
pub(super) fn outcome(comparison: &Comparison, accept: bool) -> Outcome {
    if comparison.is_worse() {
        Outcome::Worse
    } else if comparison.is_inconclusive() && !accept {
        Outcome::Inconclusive
    } else {
        Outcome::Done
    }
}

/// Returns an error if there is no case to compare: an empty comparison must not look like one without a slowdown.
pub(super) fn refuse_nothing<'a>(
    comparison: &Comparison,
    mut files: impl Iterator<Item = &'a Results>,
) -> Result<(), UsageError> {
    let Some(why) = comparison.obstacle() else {
        return Ok(());
    };
    let begun = files.find_map(Results::resume_command);
    let fix = begun.map(|command| format!("; measure what is missing: {command}"));
    let fix = fix.unwrap_or_default();
    let [before, after] = comparison.names.each_ref().map(|names| names.join(" "));
    let problem = format!("no case can be compared with {before}: {why}{fix}");
    Err(UsageError::flag("compare", &after, problem))
}
