//! `udpbench compare`: did it change.

use std::process::ExitCode;

use super::{open, show_answers, width};
use crate::cli::CompareArgs;
use crate::error::UsageError;
use crate::results::files::Results;
use crate::verdict::compare::table::{self, Detail};
use crate::verdict::compare::{Comparison, Options, compare, rows};

/// Something is slower, dearer or broken.
pub(super) const WORSE: u8 = 3;

/// Nothing can be said.
pub(super) const INCONCLUSIVE: u8 = 4;

/// Compares and prints the answers. Exit code 3: something is slower, dearer or broken; 4: nothing can be said.
///
/// # Errors
/// Files that cannot be read, or of which nothing can be compared.
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
    let detail = if args.asked.all {
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

/// A comparison of nothing must not look as if nothing were slower.
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
