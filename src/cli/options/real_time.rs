//! Checks before a run that real-time scheduling and locked memory are permitted.

use crate::data::{Mlock, Sched};
use crate::error::UsageError;
use crate::host::facts::Host;
use crate::plan::Axes;

/// Checks that `host` permits the scheduling and the locked memory that are asked for.
///
/// # Errors
/// Fails if it does not; the error says how to get the permission.
pub(super) fn check(axes: &Axes, host: &Host) -> Result<(), UsageError> {
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
