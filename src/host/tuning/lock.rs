//! Allows one search of tunings per machine at a time: two searches would take each other's trials for the original
//! settings.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, Flock, FlockArg, fcntl};
use nix::sys::stat::{major, minor};

use crate::sys::files::Root;

/// Directories to lock, which every machine has; network namespaces do not change the first one. The lock changes
/// neither: flock(2) needs no file of its own and no place to write, and ends with the last process that has the file
/// open.
const DIRECTORIES: [&str; 2] = ["proc", "sys"];
/// Time to wait for the lock: a watchdog that has restored everything ends within it.
const TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The right to change settings of a machine. Child processes inherit it: the watchdog of a killed search keeps it
/// until everything is restored.
#[derive(Debug)]
pub struct Lock {
    _held: Flock<File>,
}

impl Lock {
    /// Takes the lock, and waits up to 1 s for it.
    ///
    /// # Errors
    /// Fails if another search has the lock (the message names its process if it is known), or if the system refuses
    /// the lock.
    pub fn take(root: &Root) -> Result<Self, String> {
        let mut directories = DIRECTORIES.iter();
        let directory = directories.find_map(|it| File::open(root.path(it)).ok());
        let mut directory = directory.ok_or("settings cannot be locked: no /proc, no /sys")?;
        let end = Instant::now() + TIMEOUT;
        let held = loop {
            match Flock::lock(directory, FlockArg::LockExclusiveNonblock) {
                Ok(held) => break held,
                Err((taken, Errno::EWOULDBLOCK)) if Instant::now() < end => directory = taken,
                Err((taken, Errno::EWOULDBLOCK)) => return Err(refusal(&taken)),
                Err((_, error)) => return Err(format!("settings cannot be locked: {error}")),
            }
            thread::sleep(POLL_INTERVAL);
        };
        let inherited = fcntl(&*held, FcntlArg::F_SETFD(FdFlag::empty()));
        inherited.map_err(|error| format!("settings cannot be locked: {error}"))?;
        Ok(Self { _held: held })
    }
}

fn refusal(directory: &File) -> String {
    let mut text = "another search changes settings of this machine".to_owned();
    if let Some(pid) = holder(directory) {
        let _ = write!(text, " (process {pid})");
    }
    text + ": wait until it has ended; nothing was changed"
}

/// Returns the process that locked the directory (`/proc/locks`, proc_locks(5)). `None` if it is gone and only its
/// watchdog is left.
fn holder(directory: &File) -> Option<u32> {
    let metadata = directory.metadata().ok()?;
    let (device, inode) = (metadata.dev(), metadata.ino());
    let file = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let held = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let is_flock = words.next() == Some("FLOCK");
        let pid = words.nth(2)?.parse().ok()?;
        (is_flock && words.next() == Some(&file)).then_some(pid)
    };
    // Lines of waiting processes have an arrow before their kind, so they do not match.
    locks.lines().find_map(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_learns_who_was_first() {
        let location = tempfile::tempdir().expect("a directory");
        fs::create_dir(location.path().join("sys")).expect("a directory");
        let root = Root::new(location.path());
        let first = Lock::take(&root).expect("nobody has it");
        let refused = Lock::take(&root).expect_err("it is taken");
        let pid = std::process::id();
        assert!(refused.contains(&format!("(process {pid})")), "{refused}");
        drop(first);
        Lock::take(&root).expect("nobody has it any more");
    }
}
