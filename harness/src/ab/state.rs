//! What makes a side what it is: a process of its program, and the state that its command puts the machine in.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::Side;
use super::log::Setup;
use crate::measure::agent::Agent;
use crate::measure::spawned::{THIS_PROGRAM, ended};
use crate::sys::interrupt::Interrupt;

/// Has the machine be that of this side, by its command.
///
/// # Errors
/// When the command fails.
pub(super) fn prepare(side: Side, command: &str, interrupt: &Interrupt) -> anyhow::Result<()> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let started = shell.spawn().context("cannot start sh")?;
    let status = ended(started, interrupt)?;
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
pub fn start(side: Side, setup: &Setup, interrupt: &Interrupt) -> anyhow::Result<Agent> {
    let program = Path::new(setup.program.as_deref().unwrap_or(THIS_PROGRAM));
    let name = side.to_string();
    let root = &setup.settings.root;
    let agent = Agent::start(Some(&name), program, root, &interrupt.asked())?;
    let (version, then) = (agent.version(), &setup.version);
    ensure!(
        then.is_empty() || version == then,
        "{side}, {}, was udpbench {then}, and is udpbench {version} now",
        program.display()
    );
    Ok(agent)
}
