//! `udpbench find knob`: nothing is changed before it was shown, and asked for.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::{about, say, show, width};
use crate::cli::{FindCommand, PutBackArgs};
use crate::error::UsageError;
use crate::find::Record;
use crate::find::knob::table;
use crate::find::log::Header;
use crate::measure::keeper::is_as_before;
use crate::measure::watchdog;
use crate::platform::knob::Lock;
use crate::session::Experiment;
use crate::sys::files::Root;

/// The watchdog.
///
/// # Errors
/// What could not be put back.
pub fn put_back(args: &PutBackArgs) -> anyhow::Result<ExitCode> {
    watchdog::serve(io::stdin(), io::stdout(), &Root::new(&args.root))?;
    Ok(ExitCode::SUCCESS)
}

/// Locks the settings of this machine for a search that changes them.
///
/// # Errors
/// Another one does so now.
pub(super) fn lock(what: &FindCommand) -> Result<Option<Lock>, UsageError> {
    let FindCommand::Knob(args) = what else {
        return Ok(None);
    };
    let lock = args
        .search
        .yes
        .then(|| Lock::take(&Root::new(&args.output.root)));
    let refused = |problem| UsageError::flag("find", "knob --yes", problem);
    lock.transpose().map_err(refused)
}

/// Reads back what a search has changed, and says whether all is as it was.
///
/// # Errors
/// What is not.
pub(super) fn check_after(what: &FindCommand, record: &Record) -> anyhow::Result<()> {
    let (FindCommand::Knob(args), Some(knobs)) = (what, &record.header().knobs) else {
        return Ok(());
    };
    if !args.search.yes {
        return Ok(());
    }
    let root = &record.header().settings.root;
    let mut settings = knobs.tried.iter().map(|knob| &knob.settings);
    settings
        .try_for_each(|settings| is_as_before(settings, root))
        .map_err(|problem| {
            anyhow::anyhow!("settings are not as they were: {problem}; set it by hand")
        })?;
    if !args.output.quiet {
        say("read back: all settings are as they were");
    }
    Ok(())
}

/// Shows what would be changed. Whether to go on.
///
/// # Errors
/// When it cannot be shown, or there is nothing to try.
pub(super) fn confirm(what: &FindCommand, header: &Header) -> anyhow::Result<bool> {
    let (FindCommand::Knob(args), Some(knobs)) = (what, &header.knobs) else {
        return Ok(true);
    };
    let plan = table::plan(knobs, width());
    if knobs.tried.is_empty() {
        plan.lines().for_each(say);
        let names = args.search.knob.iter().map(|name| name.text());
        let names = names.collect::<Vec<_>>().join(",");
        let problem = "none of them can be tried here, for the reasons above";
        return Err(UsageError::flag("--knob", &names, problem).into());
    }
    if args.search.yes {
        if !args.output.quiet {
            plan.lines().for_each(say);
        }
        return Ok(true);
    }
    let record = Record::new(header.clone());
    let cases = u32::try_from(
        record
            .cases()
            .iter()
            .filter(|case| case.next().is_some())
            .count(),
    );
    let time = record.expected_time().min(header.max_time);
    show(&format!(
        "{plan}\nNothing was touched. Add --yes: each is changed for one trial at a time, and put back after it, whatever \
         happens. That takes {}.\n",
        about(time.saturating_mul(cases.unwrap_or(u32::MAX)))
    ))?;
    Ok(false)
}

/// Whether a search can go on: it was asked for, and settings are as they were.
///
/// # Errors
/// What is missing or different, and the fix.
pub(super) fn check_resume(
    what: &FindCommand,
    record: &Record,
    path: &Path,
) -> Result<(), UsageError> {
    let (FindCommand::Knob(args), Some(knobs)) = (what, &record.header().knobs) else {
        return Ok(());
    };
    if record.is_complete() {
        return Ok(());
    }
    if !args.search.yes {
        let fix = "to go on, it changes settings of this machine: add --yes";
        return Err(UsageError::flag("--resume", &path.display(), fix));
    }
    let root = &record.header().settings.root;
    for knob in &knobs.tried {
        is_as_before(&knob.settings, root).map_err(|problem| {
            let problem = format!("{problem}; set it as it was, or search anew");
            UsageError::file(&path.display().to_string(), 1, &problem)
        })?;
    }
    Ok(())
}
