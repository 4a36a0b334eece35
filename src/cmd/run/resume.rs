//! `--resume`: goes on where a sweep was interrupted.

use std::path::Path;
use std::time::SystemTime;

use super::{Begun, Desk, Outputs, say};
use crate::cli::RunArgs;
use crate::error::UsageError;
use crate::raw::{FORMAT, Line, Log};
use crate::reckoning;
use crate::request::{self, Again};
use crate::sweep::{Journal, Unable};
use crate::sys::files::{self, Kind, Root};

/// Reads what a sweep left, and opens its files again.
pub(super) fn go_on(args: &RunArgs, raw: &Path) -> anyhow::Result<Begun> {
    let bytes = files::read_whole(raw, Kind::File).map_err(|error| {
        UsageError::flag(
            "--resume",
            &raw.display(),
            format!("cannot read it: {error}"),
        )
    })?;
    let mut log = Log::parse(&raw.display().to_string(), &bytes)?;
    drop(bytes);
    if log.header.format != FORMAT {
        let problem = format!(
            "a sweep of format {} does not go on in format {FORMAT}: take the udpbench that wrote it, or begin anew",
            log.header.format
        );
        return Err(UsageError::file(&log.name, 1, &problem).into());
    }
    let root = Root::new(&args.root);
    log.header.schedule.settings.root = root.clone();
    let (mut reckoning, rows) = reckoning::replay(&log)?;
    let Again { unlike, unable } = request::again(&log.header, &root)?;
    refuse_unless_forced(args, raw, &unlike)?;

    let outputs = Outputs::resume(args, raw, &log, &rows, &reckoning.unfinished())?;
    let is_window = |line: &&Line| matches!(line, Line::Window(_));
    let windows = log.lines.iter().filter(is_window).count() as u64;
    if !args.quiet {
        let (name, planned) = (&log.name, log.header.schedule.windows(&log.header.plan));
        say(&format!(
            "going on with {name}: it has {windows} of {planned} windows"
        ));
        say(&format!("results in {}", outputs.shown));
        for what in &unlike {
            say(&format!("warning: {what}"));
        }
    }
    let mut desk = Desk::new(outputs, args.quiet, &log.header, windows);
    desk.rows = rows;
    let resumed = Line::Resumed {
        at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        unlike,
    };
    desk.line(&resumed)?;
    reckoning.take(&resumed).map_err(anyhow::Error::msg)?;
    Ok(Begun {
        reckoning,
        unable: if args.force { unable } else { Unable::new() },
        desk,
    })
}

fn refuse_unless_forced(args: &RunArgs, raw: &Path, unlike: &[String]) -> Result<(), UsageError> {
    /// More would not be read.
    const SHOWN: usize = 3;
    if args.force || unlike.is_empty() {
        return Ok(());
    }
    let mut differences = unlike.to_vec();
    if unlike.len() > SHOWN {
        differences.truncate(SHOWN);
        differences.push(format!("and {} more differences", unlike.len() - SHOWN));
    }
    let differences = differences.join("; ");
    Err(UsageError::flag(
        "--resume",
        &raw.display(),
        format!("{differences}; --force goes on all the same, and the rows will say so"),
    ))
}
