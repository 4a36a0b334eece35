//! Allows one search of tunings per machine at a time: two searches would take each other's trials for the original
//! settings.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, Flock, FlockArg, fcntl};
use nix::sys::stat::{major, minor};

use crate::sys::files::Root;

/// Files to lock, all of which a search holds. The lock changes none: flock(2) needs no file of its own and no place to
/// write, and ends with the last process that has the file open.
///
/// A lock belongs to an inode. `/proc` and `/sys` have others for each PID or network namespace that mounts them, so a
/// container would not see a lock there. The file of a namespace has one inode, whoever opens it by whatever mount
/// (nsfs is mounted once, fs/nsfs.c). Two searches that could change the same setting share at least one of these: the
/// settings of an interface are in its network namespace, and those of the machine are the user's of the first user
/// namespace. The namespace of time is shared by most containers.
const FILES: [&str; 5] = [
    "proc",
    "sys",
    "proc/self/ns/net",
    "proc/self/ns/user",
    "proc/self/ns/time",
];
/// Time to wait for the lock: a watchdog that has restored everything ends within it.
const TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The right to change settings of a machine. Child processes inherit it: the watchdog of a killed search keeps it
/// until everything is restored.
#[derive(Debug)]
pub struct Lock {
    _held: Vec<Flock<File>>,
}

impl Lock {
    /// Takes the lock, and waits up to 1 s for it.
    ///
    /// # Errors
    /// Fails if another search has the lock (the message names its process if it is known), or if the system refuses
    /// the lock.
    pub fn take(root: &Root) -> Result<Self, String> {
        let files = FILES.iter().filter_map(|it| File::open(root.path(it)).ok());
        let end = Instant::now() + TIMEOUT;
        // All searches take them in one order, so that none waits for another that waits for it.
        let held = files.map(|file| hold(file, end));
        let held = held.collect::<Result<Vec<_>, _>>()?;
        if held.is_empty() {
            return Err("settings cannot be locked: no /proc, no /sys".to_owned());
        }
        Ok(Self { _held: held })
    }
}

fn hold(mut file: File, end: Instant) -> Result<Flock<File>, String> {
    let held = loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => break held,
            Err((taken, Errno::EWOULDBLOCK)) if Instant::now() < end => file = taken,
            Err((taken, Errno::EWOULDBLOCK)) => return Err(refusal(&taken)),
            Err((_, error)) => return Err(format!("settings cannot be locked: {error}")),
        }
        thread::sleep(POLL_INTERVAL);
    };
    let inherited = fcntl(&*held, FcntlArg::F_SETFD(FdFlag::empty()));
    inherited.map_err(|error| format!("settings cannot be locked: {error}"))?;
    Ok(held)
}

fn refusal(file: &File) -> String {
    let who = holder(file).map_or_else(String::new, |pid| format!(" (process {pid})"));
    format!(
        "another search changes settings of this machine{who}: wait until it has ended; nothing was changed"
    )
}

/// Returns the process that locked the file (`/proc/locks`, proc_locks(5)). `None` if it is gone and only its watchdog
/// is left, or if it is in another PID namespace.
fn holder(file: &File) -> Option<u32> {
    let metadata = file.metadata().ok()?;
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
    use std::process::Command;

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

    #[test]
    fn a_lock_of_this_machine_holds_in_other_namespaces() {
        let _first = Lock::take(&Root::default()).expect("no search runs here");
        // As in a container: another /proc, another /sys, and another network namespace.
        let tried = |namespaces: &[&str]| {
            let script = "for file in net user time; do
                flock --nonblock 9 9</proc/self/ns/$file || echo $file
            done";
            let mut unshare = Command::new("unshare");
            unshare.args(namespaces).args(["sh", "-c", script]);
            let output = unshare.output().ok()?;
            let held = String::from_utf8(output.stdout).expect("text");
            output.status.success().then_some(held)
        };
        if tried(&["--net"]).is_none() {
            eprintln!("SKIPPED: no namespaces can be made here");
            return;
        }
        let in_pid = tried(&["--pid", "--fork", "--mount-proc"]).expect("it is permitted");
        assert_eq!(in_pid, "net\nuser\ntime\n");
        let in_net = tried(&["--net", "--pid", "--fork", "--mount-proc"]).expect("it is permitted");
        assert_eq!(in_net, "user\ntime\n");
    }
}
