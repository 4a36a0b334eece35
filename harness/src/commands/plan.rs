//! `udpbench plan`: what would run, what is skipped and why, how long it takes. Measures nothing.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::about;
use crate::cli::RunArgs;
use crate::error::UsageError;
use crate::options::Request;
use crate::options::suite::{expected_time, requests};
use crate::plan::Verdict;
use crate::rank::table::counted;
use crate::suite;

/// Prints the plan.
///
/// # Errors
/// Bad input, or standard output that is gone.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    if let Some(raw) = &args.output.resume {
        let fix = "the plan is in the file; udpbench --resume continues it";
        return Err(UsageError::flag("--resume", &raw.display(), fix).into());
    }
    let mut out = String::new();
    match &args.suite {
        None => write(&mut out, &Request::new(args)?)?,
        Some(name) => {
            let found = suite::find("--suite", name)?;
            let requests = requests(&found, args)?;
            for (sweep, request) in found.sweeps.iter().zip(&requests) {
                writeln!(out, "== {}: {}", sweep.name, sweep.about)?;
                write(&mut out, request)?;
                writeln!(out)?;
            }
            let all = about(expected_time(&requests));
            writeln!(out, "{}: {all}", counted(requests.len(), "sweep"))?;
        }
    }
    super::show(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn write(out: &mut String, request: &Request) -> std::fmt::Result {
    let machine = request.detected.machine(&request.host);
    writeln!(out, "{machine} ({})", request.detected.because)?;
    for block in &request.plan.blocks {
        writeln!(out, "{}", block.key)?;
        for planned in &block.cases {
            let (case, connection) = (&planned.case, planned.case.connection);
            let label = case.label();
            match &planned.verdict {
                Verdict::Run(placement, warnings) => {
                    writeln!(out, "  run   {label:<20} {connection:<12} CPUs {placement}")?;
                    for warning in warnings {
                        writeln!(out, "        warning: {warning}")?;
                    }
                }
                Verdict::Skip(reason) => {
                    writeln!(out, "  skip  {label:<20} {connection}")?;
                    writeln!(out, "        {reason}")?;
                }
            }
        }
    }
    if let Some(advice) = &request.advice {
        writeln!(out, "advice: {advice}")?;
    }
    writeln!(out, "{}", summary(request))
}

/// One line: how much, on what, how long.
pub fn summary(request: &Request) -> String {
    let runs = request.plan.runnable().count();
    let skipped = request.plan.skipped().count();
    format!(
        "{} to run, {skipped} to skip; {} windows of {:.1?} each; {}",
        counted(runs, "case"),
        request.schedule.rounds,
        request.schedule.settings.window,
        about(request.schedule.expected_time(&request.plan)),
    )
}
