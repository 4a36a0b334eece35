//! Addresses of another host that were typed for an experiment, for its resumption.

use std::path::Path;

use serde_json::Value;

use crate::data::Destination;
use crate::sys::files::{self, Kind};

/// Returns the values of `--address` in the command line that a log has. `None` if there are none, or if the file cannot
/// be read.
pub fn typed_addresses(log: &Path) -> Option<Vec<Destination>> {
    let bytes = files::read_whole(log, Kind::File).ok()?;
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let first: Value = serde_json::from_slice(line).ok()?;
    let header = first.as_object()?.values().next()?;
    let words = header.get("command_line")?.as_array()?;
    let mut words = words.iter().filter_map(Value::as_str);
    let typed = words.find_map(|word| match word.strip_prefix("--address")? {
        "" => Some(None),
        rest => rest.strip_prefix('=').map(Some),
    })?;
    let list = typed.or_else(|| words.next())?;
    let addresses = list.split(',').map(|one| one.trim().parse().ok());
    addresses.collect()
}
