//! Options of sweeps between two hosts.

use crate::cli::ParameterArgs;
use crate::data::{Destination, Direction};
use crate::error::UsageError;

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
