//! `udpbench compare`: compares saved results with a base and says which cases changed.

use std::process::ExitCode;

use super::{open, show_answers, width};
use crate::cli::CompareArgs;
use crate::error::UsageError;
use crate::results::files::Results;
use crate::verdict::compare::table::{self, Detail};
use crate::verdict::compare::{Comparison, Options, compare, rows};

/// Exit code if something is slower, costs more CPU time or is broken.
pub(super) const WORSE: u8 = 3;

/// Exit code if the comparison is inconclusive.
pub(super) const INCONCLUSIVE: u8 = 4;

/// Compares and prints the answers. Exit code 3: something is slower, costs more CPU time or is broken. Exit code 4:
/// the comparison is inconclusive.
///
/// # Errors
/// Fails if a file cannot be read or has no case to compare.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let base = open(&args.base)?;
    let new = args.new.iter().map(|path| open(path));
    let new = new.collect::<Result<Vec<Results>, UsageError>>()?;
    let options = Options {
        by: args.asked.by,
        threshold: args.asked.threshold,
    };
    let comparison = compare(&base, &new, options);
    refuse_nothing(&comparison, std::iter::once(&base).chain(&new))?;
    let detail = if args.asked.details {
        Detail::All
    } else {
        Detail::Changes
    };
    let table = || table::draw(&comparison, detail, width());
    show_answers(args.asked.format, table, || rows::rows(&comparison))?;
    Ok(ExitCode::from(if comparison.is_worse() {
        WORSE
    } else if comparison.is_inconclusive() {
        INCONCLUSIVE
    } else {
        0
    }))
}

/// Returns an error if a file has no case to compare: an empty comparison must not look like one without a slowdown.
pub(super) fn refuse_nothing<'a>(
    comparison: &Comparison,
    mut files: impl Iterator<Item = &'a Results>,
) -> Result<(), UsageError> {
    for file in &comparison.files {
        if let Some(why) = file.obstacle() {
            let begun = files.find_map(Results::resume_command);
            let fix = begun.map(|command| format!("; measure what is missing: {command}"));
            let fix = fix.unwrap_or_default();
            let problem = format!(
                "no case can be compared with {}: {why}{fix}",
                comparison.base
            );
            return Err(UsageError::flag("compare", &file.name, problem));
        }
    }
    Ok(())
}
