//! `udpbench find tuning`: shows the planned changes of kernel and NIC settings, changes nothing without `--yes`, and
//! checks afterwards that all settings are restored. Each setting is an A/B comparison of its value with another one.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use super::ab::show_comparison;
use super::remote_host::RemoteHost;
use super::session::outputs::Outputs;
use super::session::progress::Progress;
use super::session::{self, Outcome};
use super::{about, run};
use crate::cli::options::find::{comparison, limit, wanted};
use crate::cli::peer::Peer;
use crate::cli::{PutBackArgs, SearchArgs, TuningArgs};
use crate::error::UsageError;
use crate::experiment::ab::header::AbHeader;
use crate::experiment::ab::{AbComparison, Pair, judge, table};
use crate::host::tuning::{Difference, Tunings};
use crate::log::name::now;
use crate::results::log::Log;
use crate::results::row::Failure;
use crate::session::{Ending, Experiment, Logged, Resources};
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::term::fold;
use crate::term::output::{say, show, width};
use crate::trial::agents::Agents;
use crate::trial::changes::changed_settings::min_link_wait;
use crate::trial::changes::host_settings::HostSettings;
use crate::trial::changes::watchdog;
use crate::verdict::judge::table::Detail;

/// Runs the watchdog: the process that restores settings if the search dies.
///
/// # Errors
/// Fails if a setting cannot be restored or an input line is invalid.
pub fn put_back(args: &PutBackArgs) -> anyhow::Result<ExitCode> {
    watchdog::serve(io::stdin(), io::stdout(), &Root::new(&args.root))?;
    Ok(ExitCode::SUCCESS)
}

/// Tries the settings, with a remote host if there is one.
///
/// # Errors
/// Fails on bad input, if the log cannot be written, or if a setting cannot be restored.
pub(super) fn try_settings(
    args: &SearchArgs<TuningArgs>,
    interrupt: &Interrupt,
    remote: Option<&mut RemoteHost>,
) -> anyhow::Result<Outcome> {
    let output = &args.common.output;
    let root = Root::new(&output.root);
    let (mut agents, peer) = run::agents(remote, &root, interrupt);
    let past = output.resume.as_deref().map(|path| open(path, args, peer));
    let past = past.transpose()?;
    // What is complete needs no settings.
    let changes = args.search.yes && past.as_ref().is_none_or(|(it, _)| !it.is_complete());
    // Locked before the first setting is read: another search may have changed it for a trial.
    if changes {
        let refused = |problem| UsageError::flag("find", "tuning --yes", problem);
        agents.settings().lock()?.map_err(refused)?;
    }
    let begun = match past {
        Some(mut past) => {
            if changes {
                resume(&mut past, &mut agents.settings())?;
            }
            Some(past)
        }
        None => begin(args, peer, &mut agents.settings())?,
    };
    let Some((mut comparison, outputs)) = begun else {
        return Ok(Outcome::Done);
    };
    if !output.quiet {
        if !comparison.is_complete() {
            run::warn(agents.other_programs().as_slice());
        }
        say(&format!("log: {}", outputs.shown));
    }
    let mut progress = Progress::new(outputs, output.quiet, comparison.work());
    let resources = Resources {
        agents: vec![agents],
        command: &|_, _| Ok(()),
        power_command: None,
        interrupt,
    };
    let show = |comparison: &AbComparison, _: &Progress, agents: &mut [Agents]| {
        let mut is_as_before = Ok(());
        if changes {
            is_as_before = check_after(args, comparison, &mut agents[0].settings());
        }
        show_comparison(comparison, output.form.shape()?, Detail::Changes)?;
        is_as_before
    };
    let ending = session::measure(&mut comparison, resources, &mut progress, show)?;
    let outcome = session::ended(&ending, "", &progress.outputs, interrupt)?;
    let judgement = judge(&comparison, comparison.question);
    let found = if judgement.engines.is_empty() {
        Outcome::Failed
    } else if ending == Ending::OutOfTime {
        Outcome::Inconclusive
    } else {
        Outcome::Done
    };
    Ok(outcome.unwrap_or(found))
}

/// Checks that all settings are as they were, and writes into the log that it goes on.
fn resume(
    (comparison, outputs): &mut (AbComparison, Outputs),
    settings: &mut HostSettings,
) -> anyhow::Result<()> {
    let found = settings.differences(&comparison.header().settings())?;
    if let Some(other) = found.first() {
        let problem = format!("{other}; set it as it was, or search anew");
        return Err(UsageError::file(&outputs.shown, 1, &problem).into());
    }
    session::resumed(comparison, outputs, Vec::new())
}

/// Shows the planned changes, and creates the log. `None`: they are only shown.
///
/// # Errors
/// Fails on bad input, if no setting can be tried, or if the log cannot be written.
fn begin(
    args: &SearchArgs<TuningArgs>,
    peer: Option<&Peer>,
    settings: &mut HostSettings,
) -> anyhow::Result<Option<(AbComparison, Outputs)>> {
    args.common.output.form.shape()?;
    let started_at = now();
    let mut header = comparison(args, peer, &started_at)?;
    let tunings = settings.list_tunings(wanted(args, peer))?;
    let plan = plan(&tunings, peer);
    if tunings.tried.is_empty() {
        plan.lines().for_each(say);
        let names = args.search.setting.iter().map(|name| name.text());
        let names = names.collect::<Vec<_>>().join(",");
        let problem = "none of them can be tried here, for the reasons above";
        return Err(UsageError::flag("--setting", &names, problem).into());
    }
    header.tunings = Some(tunings);
    let comparison = AbComparison::begin(header).map_err(anyhow::Error::msg)?;
    let time = about(expected_time(&comparison));
    if !args.search.yes {
        show(&format!(
            "{plan}\nNothing was touched. Add --yes: each is changed for one trial at a time, and put back after it, \
             whatever happens. That takes {time}.\n"
        ))?;
        return Ok(None);
    }
    if !args.common.output.quiet {
        plan.lines().for_each(say);
        say(&time);
    }
    let header = comparison.header();
    let name = (&*header.environment.board, &*started_at, "find");
    let outputs = Outputs::log_of(args.common.output.output.as_deref(), name, header)?;
    Ok(Some((comparison, outputs)))
}

fn plan(tunings: &Tunings, peer: Option<&Peer>) -> String {
    let mut plan = table::settings(tunings).draw(width().into());
    if !plan.is_empty() {
        plan += "\n";
    }
    plan += &fold::text(&table::left_out(tunings), width().into());
    match peer.filter(|peer| peer.runs_all()) {
        Some(peer) => format!("settings of {}:\n{plan}", peer.wire.to),
        None => plan,
    }
}

fn expected_time(comparison: &AbComparison) -> Duration {
    let (header, pairs) = (comparison.header(), comparison.pairs());
    let windows = 2 * header.a.settings.time_per_window();
    let time = |pair: &Pair| windows + pair.tuning.map_or(Duration::ZERO, min_link_wait);
    let measured = pairs.iter().filter(|pair| pair.refusal().is_none());
    let round: Duration = measured.map(time).sum();
    (round + header.a.settings.time_of_restart()).saturating_mul(header.rounds)
}

/// Opens a log to go on.
///
/// # Errors
/// Fails if the log cannot be read.
fn open(
    path: &Path,
    args: &SearchArgs<TuningArgs>,
    peer: Option<&Peer>,
) -> anyhow::Result<(AbComparison, Outputs)> {
    let mut log = Log::<AbHeader>::open_to_resume(path)?;
    log.header.until = limit(args, &log.header.a.plan);
    let request_time = peer.map_or(Duration::ZERO, |peer| peer.request_time);
    for setup in [&mut log.header.a, &mut log.header.b] {
        setup.settings.root = Root::new(&args.common.output.root);
        setup.settings.request_time = request_time;
    }
    let comparison = AbComparison::of(&log)?;
    let outputs = Outputs::resume_log(path, log.end)?;
    let added = comparison.header().a.plan.add_programs();
    added.map_err(anyhow::Error::msg)?;
    Ok((comparison, outputs))
}

/// Reads the changed settings back, and says that all are as they were, or which of them somebody else has set.
///
/// # Errors
/// Fails if a setting still has the value that this search tried, and names it.
fn check_after(
    args: &SearchArgs<TuningArgs>,
    comparison: &AbComparison,
    settings: &mut HostSettings,
) -> anyhow::Result<()> {
    let found = match settings.differences(&comparison.header().settings()) {
        Ok(found) => found,
        Err(error) => {
            say(&format!(
                "settings there were not read back ({error:#}): the watchdog there puts them back"
            ));
            return Ok(());
        }
    };
    // Somebody else may have set the value that was to be tried: then it was given up before.
    let is_ours = |it: &&Difference| {
        let mut reasons = comparison.given_up();
        it.may_be_ours
            && !reasons.any(|why| matches!(why, Failure::SettingChanged { now } if **now == **it))
    };
    if let Some(left) = found.iter().find(is_ours) {
        bail!("settings are not as they were: {left}; set it by hand");
    }
    for other in &found {
        let by = if other.is_gone {
            ""
        } else {
            "left as somebody else has set it: "
        };
        say(&format!("{by}{other}"));
    }
    if found.is_empty() && !args.common.output.quiet {
        say("read back: all settings are as they were");
    }
    Ok(())
}
