//! Finds mounts that cover files of the kernel.

use std::path::Path;

use crate::sys::files::Root;

/// Returns whether a file below `/proc` or `/sys` is not the kernel's own: something is mounted over it, or over a
/// directory on its way (`/proc/self/mountinfo`, proc_pid_mountinfo(5)). False if the mounts are unknown.
pub(super) fn is_covered(root: &Root, path: &str) -> bool {
    let mounts = root.text("proc/self/mountinfo").unwrap_or_default();
    let path = Path::new("/").join(path);
    // The last mount on the way is the visible one.
    let last = mounts
        .lines()
        .filter_map(mount)
        .rfind(|(place, _)| path.starts_with(place));
    last.is_some_and(|(place, kind)| place != "/" && !["proc", "sysfs"].contains(&kind))
}

/// Returns the place and the kind of file system of a line.
fn mount(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    Some((before.split(' ').nth(4)?, after.split(' ').next()?))
}
