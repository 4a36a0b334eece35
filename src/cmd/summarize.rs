//! `udpbench summarize`: the results again, from the raw samples.

use std::process::ExitCode;

use crate::cli::SummarizeArgs;

/// Skeleton.
///
/// # Errors
/// Always.
pub fn run(_args: &SummarizeArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not yet")
}
