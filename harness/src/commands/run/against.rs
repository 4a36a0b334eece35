//! The comparison at the end of a run.

use anstream::adapter::strip_str;

use super::Outcome;
use super::progress::Progress;
use crate::commands::compare::{refuse_nothing, show};
use crate::commands::{say, width};
use crate::compare::table::{self, Detail};
use crate::compare::{Options, compare};
use crate::results::Results;
use crate::row::Row;

/// Shows how a run differs from `base`, and what becomes of its outcome then.
///
/// # Errors
/// When nothing can be compared, or standard output is gone.
pub(super) fn compared(
    base: Option<&Results>,
    progress: &Progress,
    measured: Outcome,
) -> anyhow::Result<Outcome> {
    let Some(base) = base else {
        return Ok(measured);
    };
    let run = Results {
        name: progress.outputs.results.clone(),
        rows: progress.rows.iter().map(Row::shown).collect(),
        windows: Vec::new(),
        host: None,
        is_torn: false,
    };
    let new = [run];
    let comparison = compare(base, &new, Options::default());
    refuse_nothing(&comparison, std::iter::once(base).chain(&new))?;
    let text = table::draw(&comparison, Detail::Changes, width());
    let text = format!("\n{text}");
    if progress.outputs.to_stdout && !progress.quiet {
        strip_str(&text).to_string().lines().for_each(say);
    } else if !progress.quiet {
        show(&text)?;
    }
    Ok(if comparison.is_worse() {
        Outcome::Worse
    } else {
        measured
    })
}
