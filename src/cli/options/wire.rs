//! Options of sweeps between two hosts, and what a host has to permit.

use crate::cli::ParameterArgs;
use crate::data::{Destination, Direction, Mlock, Sched};
use crate::error::UsageError;
use crate::host::facts::Host;
use crate::plan::Axes;

/// Checks the options that only sweeps between two hosts take, and those that they do not take.
///
/// # Errors
/// Fails if such an option was given, and names the fix.
pub(super) fn check(given: &ParameterArgs, is_across: bool) -> Result<(), UsageError> {
    let is_wrong = |address: &&Destination| matches!(address, Destination::Of(_)) != is_across;
    let fix = if is_across {
        "between hosts, name IP addresses that the other one has, or leave it out"
    } else {
        "another host takes udpbench wire USER@HOST; without, use loopback or local"
    };
    let wrong = given.address.iter().flatten().find(is_wrong);
    wrong.map_or(Ok(()), |address| {
        Err(UsageError::flag("--address", address, fix))
    })
}

/// Sets both directions if `--direction` was not given.
pub fn complete(given: &mut ParameterArgs) {
    given
        .direction
        .get_or_insert_with(|| vec![Direction::Up, Direction::Down]);
}

/// Checks that `host` permits the scheduling and the locked memory that are asked for.
///
/// # Errors
/// Fails if it does not; the error says how to get the permission.
pub(super) fn check_permissions(axes: &Axes, host: &Host) -> Result<(), UsageError> {
    let most = host.most_rt_priority;
    let is_refused = |sched: &&Sched| {
        let priority = sched.priority();
        priority.is_some_and(|priority| priority > most.unwrap_or(0))
    };
    if let Some(sched) = axes.sched.iter().find(is_refused) {
        let problem = match most {
            Some(most) => format!("priorities up to {most} are permitted here (ulimit -r, less one): use a lower one"),
            None => "real-time scheduling is not permitted here: sudo setcap cap_sys_nice=ep PATH-OF-udpbench, or \
                     raise rtprio in /etc/security/limits.conf (ulimit -r), or use sudo"
                .to_owned(),
        };
        return Err(UsageError::flag("--sched", sched, problem));
    }
    if axes.mlock.contains(&Mlock::On) && host.locks_memory == Some(false) {
        let problem = "the limit of locked memory is too low: sudo setcap cap_ipc_lock=ep PATH-OF-udpbench, or raise \
                       memlock in /etc/security/limits.conf (ulimit -l unlimited), or use sudo";
        return Err(UsageError::flag("--mlock", "on", problem));
    }
    Ok(())
}
