//! Limits of this process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of open files as far as it goes without privilege: 256 lanes need more than the usual
/// 1024 descriptors. Where it cannot be raised, the case that needs it fails with the system's reason.
pub fn raise_open_files() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
