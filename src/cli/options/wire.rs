//! Options of sweeps between two hosts.

use std::path::Path;

use crate::cli::ParameterArgs;
use crate::data::{Destination, Direction};
use crate::error::UsageError;
use crate::results::log::run_of;

/// Checks the options that only sweeps between two hosts take, and those that they do not take.
///
/// # Errors
/// Fails if such an option was given, and names the fix.
pub(super) fn check(given: &ParameterArgs, is_across: bool) -> Result<(), UsageError> {
    let is_wrong = |address: &&Destination| matches!(address, Destination::Of(_)) != is_across;
    match given.address.iter().flatten().find(is_wrong) {
        Some(address) => {
            let fix = if is_across {
                "between hosts, name IP addresses that the other one has, or leave it out"
            } else {
                "another host takes udpbench wire USER@HOST; without, use loopback or local"
            };
            Err(UsageError::flag("--address", address, fix))
        }
        None => Ok(()),
    }
}

/// Sets both directions if `--direction` was not given.
pub fn complete(given: &mut ParameterArgs) {
    given
        .direction
        .get_or_insert_with(|| vec![Direction::Up, Direction::Down]);
}

/// Names the addresses that were typed for the experiment to resume, if none are typed now.
pub fn reach_again(given: &mut ParameterArgs, log: Option<&Path>) {
    let typed = given.address.take();
    given.address = typed.or_else(|| typed_addresses(&run_of(log?)?.command_line));
}

/// Returns the values of `--address` in a command line. `None`: there are none.
fn typed_addresses(words: &[String]) -> Option<Vec<Destination>> {
    let mut words = words.iter().map(String::as_str);
    let typed = words.find_map(|word| match word.strip_prefix("--address")? {
        "" => Some(None),
        rest => rest.strip_prefix('=').map(Some),
    })?;
    let list = typed.or_else(|| words.next())?;
    let addresses = list.split(',').map(|one| one.trim().parse().ok());
    addresses.collect()
}
