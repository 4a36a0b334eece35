//! `udpbench report`: one page for a browser.

use std::process::ExitCode;

use crate::cli::ReportArgs;

/// Skeleton.
///
/// # Errors
/// Always.
pub fn run(_args: &ReportArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not yet")
}
