//! `udpbench find tuning`: shows the planned changes of kernel and NIC settings, changes nothing without `--yes`, and
//! checks afterwards that all settings are restored.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

use super::{about, say, show, width};
use crate::cli::peer::{Peer, Share};
use crate::cli::{FindCommand, PutBackArgs};
use crate::error::UsageError;
use crate::experiment::find::header::Header;
use crate::experiment::find::tuning::table;
use crate::experiment::find::{Record, Search};
use crate::host::tuning::{Difference, Lock};
use crate::results::row::Failure;
use crate::session::Experiment;
use crate::sys::files::Root;
use crate::trial::changes::host_settings::HostSettings;
use crate::trial::changes::watchdog;

/// Runs the watchdog: the process that restores settings if the search dies.
///
/// # Errors
/// Fails if a setting cannot be restored or an input line is invalid.
pub fn put_back(args: &PutBackArgs) -> anyhow::Result<ExitCode> {
    watchdog::serve(io::stdin(), io::stdout(), &Root::new(&args.root))?;
    Ok(ExitCode::SUCCESS)
}

/// Locks the machine's settings if this search changes them.
///
/// # Errors
/// Fails if another search holds the lock.
pub(super) fn lock(
    what: &FindCommand,
    settings: &mut HostSettings,
) -> anyhow::Result<Option<Lock>> {
    match what {
        FindCommand::Tuning(args) if args.search.yes => {
            let refused = |problem| UsageError::flag("find", "tuning --yes", problem);
            Ok(settings.lock()?.map_err(refused)?)
        }
        _ => Ok(None),
    }
}

/// Reads the changed settings back, and says that all are as they were, or which of them somebody else has set.
///
/// # Errors
/// Fails if a setting still has the value that this search tried, and names it.
pub(super) fn check_after(
    what: &FindCommand,
    record: &Record,
    settings: &mut HostSettings,
) -> anyhow::Result<()> {
    let (FindCommand::Tuning(args), Some(tunings)) = (what, &record.header().tunings) else {
        return Ok(());
    };
    if !args.search.yes {
        return Ok(());
    }
    let found = match settings.differences(&tunings.settings()) {
        Ok(found) => found,
        Err(error) => {
            say(&format!(
                "settings there were not read back ({error:#}): the watchdog there puts them back"
            ));
            return Ok(());
        }
    };
    // Somebody else may have set the value that was to be tried: then it was given up before.
    let is_ours = |it: &&Difference| it.may_be_ours() && !had_changed_before(record, it);
    if let Some(left) = found.iter().find(is_ours) {
        bail!("settings are not as they were: {left}; set it by hand");
    }
    for other in &found {
        let left = "left as somebody else has set it: ";
        let left = if other.is_gone() { "" } else { left };
        say(&format!("{left}{other}"));
    }
    if found.is_empty() && !args.output.quiet {
        say("read back: all settings are as they were");
    }
    Ok(())
}

/// Returns whether a setting was given up because it already had this value before it was to be changed.
fn had_changed_before(record: &Record, difference: &Difference) -> bool {
    let searches = record.cases().iter().map(|case| &case.search);
    let series = searches.flat_map(|search| match search {
        Search::Tuning(search) => search.series(),
        _ => &[],
    });
    let mut reasons = series.filter_map(|it| it.given_up.as_ref());
    reasons.any(|reason| matches!(reason, Failure::SettingChanged { now } if **now == *difference))
}

/// Shows the planned changes and returns whether to go on, which needs `--yes`.
///
/// # Errors
/// Fails if the plan cannot be shown or no setting can be tried.
pub(super) fn confirm(
    what: &FindCommand,
    header: &Header,
    peer: Option<&Peer>,
) -> anyhow::Result<bool> {
    let (FindCommand::Tuning(args), Some(tunings)) = (what, &header.tunings) else {
        return Ok(true);
    };
    let plan = table::plan(tunings, width());
    let plan = match peer.filter(|peer| peer.share == Share::All) {
        Some(peer) => format!("settings of {}:\n{plan}", peer.wire.to),
        None => plan,
    };
    if tunings.tried.is_empty() {
        plan.lines().for_each(say);
        let names = args.search.setting.iter().map(|name| name.text());
        let names = names.collect::<Vec<_>>().join(",");
        let problem = "none of them can be tried here, for the reasons above";
        return Err(UsageError::flag("--setting", &names, problem).into());
    }
    if args.search.yes {
        if !args.output.quiet {
            plan.lines().for_each(say);
        }
        return Ok(true);
    }
    let record = Record::new(header.clone());
    let (time, _) = record.expected_time();
    show(&format!(
        "{plan}\nNothing was touched. Add --yes: each is changed for one trial at a time, and put back after it, whatever \
         happens. That takes {}.\n",
        about(time)
    ))?;
    Ok(false)
}

/// Checks that a search that changes settings can be resumed: `--yes` was given, and all settings are as they were.
///
/// # Errors
/// Fails if `--yes` is missing or a setting differs, and names the fix.
pub(super) fn check_resume(
    what: &FindCommand,
    record: &Record,
    path: &Path,
    settings: &mut HostSettings,
) -> anyhow::Result<()> {
    let (FindCommand::Tuning(args), Some(tunings)) = (what, &record.header().tunings) else {
        return Ok(());
    };
    if record.is_complete() {
        return Ok(());
    }
    if !args.search.yes {
        let fix = "to go on, it changes settings: add --yes";
        return Err(UsageError::flag("--resume", &path.display(), fix).into());
    }
    let found = settings.differences(&tunings.settings())?;
    let Some(other) = found.into_iter().next() else {
        return Ok(());
    };
    let problem = format!("{other}; set it as it was, or search anew");
    Err(UsageError::file(&path.display().to_string(), 1, &problem).into())
}
