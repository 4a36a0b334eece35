//! Turns the options of `watch` into one case and its windows.

use super::{MIN_WINDOW, Request};
use crate::cli::{Cli, ParameterArgs, RunArgs, WatchArgs};
use crate::data::{Case, Duplex, Workload};
use crate::error::UsageError;
use crate::host::placement::Placement;
use crate::plan::{Decision, PlanWarning, Planned};

/// The case to watch, and how.
#[derive(Debug)]
pub struct WatchPlan {
    /// A sweep of this case alone, with windows of the typed length.
    pub request: Request,
    /// The case.
    pub case: Case,
    /// CPUs of its threads.
    pub placement: Placement,
    /// Warnings about the case.
    pub warnings: Vec<PlanWarning>,
}

/// Returns the plan of a watch, if its case can run here.
///
/// # Errors
/// Fails if the options give several cases or a case that cannot run, or if a sweep would refuse them.
pub fn plan_watch(args: &WatchArgs) -> anyhow::Result<WatchPlan> {
    if args.window < MIN_WINDOW {
        let window = humantime::format_duration(args.window);
        let fix = "use 1ms or more: opening and closing a window would be part of what is measured";
        return Err(UsageError::flag("--window", &window, fix).into());
    }
    let mut run = sweep(args)?;
    complete(&mut run.parameters);
    let mut request = Request::new(&run)?;
    request.schedule.settings.window = args.window;
    let planned: Vec<Planned> = request.plan.cases().cloned().collect();
    let [Planned { case, verdict }] = &planned[..] else {
        let cases = format!("{} cases", planned.len());
        let fix = "it measures one: give each option one value";
        return Err(UsageError::flag("watch", &cases, fix).into());
    };
    match verdict {
        Decision::Run(placement, warnings) => Ok(WatchPlan {
            request,
            case: *case,
            placement: placement.clone(),
            warnings: warnings.clone(),
        }),
        Decision::Skip(reason) => {
            let problem = format!("it cannot run: {reason}");
            Err(UsageError::flag("watch", &case.key(), problem).into())
        }
    }
}

/// Returns the options of a sweep of this case, with defaults for options that `watch` does not have.
fn sweep(args: &WatchArgs) -> Result<RunArgs, clap::Error> {
    let mut run = Cli::try_parse_from(["udpbench"])?.run;
    run.parameters = args.parameters.clone();
    run.placement = args.placement.clone();
    run.measuring.warmup = args.warmup;
    run.measuring.no_reference = true;
    run.root.clone_from(&args.root);
    Ok(run)
}

/// Sets one value for each parameter that has several by default.
fn complete(given: &mut ParameterArgs) {
    let mut workloads = given.workload.iter().flatten();
    if workloads.any(|it| *it == Workload::Bidir) {
        given.duplex.get_or_insert_with(|| vec![Duplex::Full]);
    }
}
