//! Resource limits of this process (setrlimit(2)).

use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// Limit of open files beyond the need of any case.
const MANY_FILES: rlim_t = 1 << 20;

/// Raises the limit of open files to the highest possible value: 256 bench threads need more than the usual 1024
/// descriptors, and ten thousand flows need thirty thousand. If it cannot be raised, the case that needs it reports
/// that.
pub fn raise_open_files() {
    let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return;
    };
    // Raising it beyond the hard limit needs a privilege (CAP_SYS_RESOURCE).
    let most = hard.max(MANY_FILES);
    if setrlimit(Resource::RLIMIT_NOFILE, most, most).is_err() {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Returns the number of files that this process may have open.
pub fn most_open_files() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    // The type has 32 bits on some targets.
    #[allow(clippy::useless_conversion, reason = "64 bits on the others")]
    Some(soft.into())
}

/// Returns whether the stack of the main thread is limited to less than this number of bytes (`ulimit -s`).
pub fn is_stack_below(bytes: usize) -> bool {
    // "No limit" is the largest number of the type.
    let soft = getrlimit(Resource::RLIMIT_STACK).map(|(soft, _)| usize::try_from(soft));
    matches!(soft, Ok(Ok(soft)) if soft < bytes)
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with EFBIG, like a write to a full disk. Otherwise its
/// signal ends the process without a message (setrlimit(2), "RLIMIT_FSIZE").
pub fn survive_file_size() {
    // A handler without effect does the same as SIG_IGN, which only `unsafe` code can set. If it cannot be set, nothing
    // changes.
    let _ = flag::register(SIGXFSZ, Arc::default());
}
