//! Limits of this process.

use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// More open files than any case needs.
const MANY_FILES: rlim_t = 1 << 20;

/// Raises the limit of open files as far as it goes: 256 lanes need more than the usual 1024 descriptors, and ten
/// thousand flows need thirty thousand. Where it cannot be raised, the case that needs it says so.
pub fn raise_open_files() {
    let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return;
    };
    // Beyond the hard limit only with privilege (CAP_SYS_RESOURCE).
    let most = hard.max(MANY_FILES);
    if setrlimit(Resource::RLIMIT_NOFILE, most, most).is_err() {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// How many files this process may have open.
pub fn most_open_files() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    // 32 bits on some targets.
    #[allow(clippy::useless_conversion, reason = "64 bits on the others")]
    Some(soft.into())
}

/// Whether the stack of the main thread may be no larger than so (`ulimit -s`).
pub fn is_stack_below(bytes: usize) -> bool {
    // No limit is the largest number there is.
    let soft = getrlimit(Resource::RLIMIT_STACK).map(|(soft, _)| usize::try_from(soft));
    matches!(soft, Ok(Ok(soft)) if soft < bytes)
}

/// Makes a write beyond the largest size of a file (`ulimit -f`) an error (EFBIG) like that of a full disk; else
/// its signal ends the process without a word (setrlimit(2), "RLIMIT_FSIZE").
pub fn survive_file_size() {
    // A handler that does nothing to anybody does the same as SIG_IGN, which only `unsafe` can set. Where it
    // cannot be set, all is as it was.
    let _ = flag::register(SIGXFSZ, Arc::default());
}
