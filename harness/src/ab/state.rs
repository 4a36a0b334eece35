//! What makes a side what it is: a process of its program, and the state that its command puts the machine in.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::Side;
use super::log::Setup;
use crate::measure::spawned::{Spawned, THIS_PROGRAM};

/// Has the machine be that of this side, by its command.
///
/// # Errors
/// When the command fails.
pub(super) fn prepare(side: Side, command: &str) -> anyhow::Result<()> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let status = shell.status().context("cannot start sh")?;
    ensure!(
        status.success(),
        "the command before {side}, {command:?}, failed: {status}"
    );
    Ok(())
}

/// A process of this side.
///
/// # Errors
/// When it cannot be started, or is not of the version that it was of.
pub fn start(side: Side, setup: &Setup) -> anyhow::Result<Spawned> {
    let program = Path::new(setup.program.as_deref().unwrap_or(THIS_PROGRAM));
    let agent = Spawned::start(Some(&side.to_string()), program, &setup.settings.root)?;
    let (version, then) = (agent.version(), &setup.version);
    ensure!(
        then.is_empty() || version == then,
        "{side}, {}, was udpbench {then}, and is udpbench {version} now",
        program.display()
    );
    Ok(agent)
}
