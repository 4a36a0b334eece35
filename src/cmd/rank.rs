//! `udpbench rank`: which engines are the fastest and the cheapest.

use std::process::ExitCode;

use crate::cli::RankArgs;

/// Skeleton.
///
/// # Errors
/// Always.
pub fn run(_args: &RankArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not yet")
}
