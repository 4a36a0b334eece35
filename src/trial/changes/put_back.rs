//! Puts settings back to their values before a change.

use std::thread;
use std::time::Duration;

use crate::host::tuning::Setting;
use crate::sys::files::Root;

/// Attempts for each setting: a driver that resets may be busy for a while.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// Puts settings back, in the reverse order of their changes. Settings that have their previous values already are left
/// alone, and so are values that somebody else has set meanwhile, and settings whose interface is gone.
///
/// # Errors
/// Returns an error that names the settings that could not be put back, their previous values, and the fix by hand.
pub(crate) fn put_back(settings: &[Setting], root: &Root) -> anyhow::Result<()> {
    let failed: Vec<String> = settings
        .iter()
        .rev()
        .filter_map(|setting| failure(setting, root))
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    anyhow::bail!("not put back: {}", failed.join("; "))
}

fn failure(setting: &Setting, root: &Root) -> Option<String> {
    let Setting {
        location,
        before,
        tried,
    } = setting;
    // A setting that cannot be set at all, such as an interrupt that the kernel manages, was not changed either. A value
    // that is neither is of somebody else.
    let is_changed = |now: &str| location.is_same(now, tried) && !location.is_same(now, before);
    if location.read(root).is_ok_and(|now| !is_changed(&now)) {
        return None;
    }
    let mut problem = String::new();
    for _ in 0..TRIES {
        match location.write(root, before) {
            Ok(()) => return None,
            // The kernel removes the files of an interface one after the other.
            Err(_) if location.is_gone(root) => return None,
            Err(error) => problem = error.to_string(),
        }
        thread::sleep(PAUSE);
    }
    Some(format!(
        "{location}: {problem}; it was {before}: set it by hand"
    ))
}
