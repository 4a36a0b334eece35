//! `udpbench compare`: did it change.

use std::process::ExitCode;

use crate::cli::CompareArgs;

/// Skeleton.
///
/// # Errors
/// Always.
pub fn run(_args: &CompareArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not yet")
}
