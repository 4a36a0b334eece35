//! The watchdog: a process that puts settings back when the process that changed them cannot, however that one ended:
//! SIGKILL, the OOM killer, a closed ssh.
//!
//! The watchdog is told the values of settings before they are changed, and answers. If its input ends before all is
//! put back, or the change lasts longer than announced, it puts back all settings that are still changed. It has its
//! own session and survives Ctrl-C, SIGTERM and SIGHUP. Nothing helps against a SIGKILL of both processes, or the end
//! of the machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::unistd::setsid;
use serde::{Deserialize, Serialize};

use crate::host::tuning::Setting;
use crate::sys::files::Root;
use crate::sys::interrupt;
use crate::term::json;
use crate::text::duration::ns;
use crate::trial::spawned::wait_for_input;

/// Message in either direction: the watchdog remembers the settings, or all of them were put back.
pub(super) const DONE: &[u8] = b"\n";

/// Announcement of settings that are about to be changed, in one line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PutBackOrder {
    /// The settings with their current values.
    pub(super) settings: Vec<Setting>,
    /// Longest time until they are put back, whatever the other process does.
    #[serde(rename = "longest_ns", with = "ns")]
    pub(super) longest: Duration,
}

/// Serves the process at the other end of these pipes.
///
/// # Errors
/// Fails if a setting could not be put back, or if the line is not an order.
pub fn serve(input: impl Read + AsFd, output: impl Write, root: &Root) -> anyhow::Result<()> {
    // Leaves the terminal, where a job that writes to it may be stopped. Fails only for the leader of a process group.
    let _ = setsid();
    interrupt::outlive_requests()?;
    watch(input, output, root)
}

fn watch(input: impl Read + AsFd, mut output: impl Write, root: &Root) -> anyhow::Result<()> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    // Half an order comes from a process that was killed while it wrote: nothing was changed yet.
    if !line.ends_with(b"\n") {
        return Ok(());
    }
    let PutBackOrder { settings, longest } =
        json::parse(&line).context("the watchdog got a line that is not an order")?;
    let until = Instant::now().checked_add(longest);
    // If the other process is gone, the input ends.
    let _ = output.write_all(DONE).and_then(|()| output.flush());
    let is_done = wait_for_input(input.get_ref(), until)? && input.read(&mut [0])? > 0;
    if is_done {
        return Ok(());
    }
    put_back(&settings, root)
}

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
    // A setting that cannot be set at all, such as an interrupt that the kernel manages, was not changed either. A
    // value that is neither is of somebody else.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixStream;

    use tempfile::TempDir;

    use super::*;
    use crate::host::tuning::Location;

    fn changed() -> (TempDir, Root) {
        let dir = TempDir::new().expect("a directory");
        fs::write(dir.path().join("governor"), "performance\n").expect("written");
        let root = Root::new(dir.path());
        (dir, root)
    }

    fn governor(root: &Root) -> Option<String> {
        root.text("governor")
    }

    fn order(longest: Duration) -> Vec<u8> {
        let settings = vec![Setting {
            location: Location::File("governor".to_owned()),
            before: "ondemand".to_owned(),
            tried: "performance".to_owned(),
        }];
        let line = serde_json::to_vec(&PutBackOrder { settings, longest });
        [line.expect("text"), b"\n".to_vec()].concat()
    }

    /// Runs a watchdog whose other end is `other`.
    fn watched(root: &Root, other: impl FnOnce(UnixStream) + Send) -> anyhow::Result<()> {
        let (watchdog_end, other_end) = UnixStream::pair().expect("a pair");
        let output = watchdog_end.try_clone().expect("a socket");
        thread::scope(|scope| {
            scope.spawn(|| other(other_end));
            watch(watchdog_end, output, root)
        })
    }

    /// Gives an order, and waits until the watchdog remembers it.
    fn announce(other_end: &mut UnixStream, longest: Duration) {
        other_end.write_all(&order(longest)).expect("written");
        other_end.read_exact(&mut [0]).expect("an answer");
    }

    #[test]
    fn what_is_remembered_is_put_back_at_the_end_of_the_input() {
        let (_dir, root) = changed();
        let killed = |mut other_end: UnixStream| announce(&mut other_end, Duration::MAX);
        watched(&root, killed).expect("put back");
        assert_eq!(governor(&root).as_deref(), Some("ondemand"));
    }

    #[test]
    fn half_an_order_and_what_was_put_back_already_change_nothing() {
        let (_dir, root) = changed();
        let killed_before = |mut other_end: UnixStream| {
            let order = order(Duration::MAX);
            other_end.write_all(&order[..20]).expect("written");
        };
        let done = |mut other_end: UnixStream| {
            announce(&mut other_end, Duration::MAX);
            other_end.write_all(DONE).expect("written");
        };
        watched(&root, killed_before).expect("nothing to do");
        watched(&root, done).expect("nothing to do");
        assert_eq!(governor(&root).as_deref(), Some("performance"));
    }

    #[test]
    fn what_lasts_too_long_is_put_back_and_the_watchdog_ends() {
        let (_dir, root) = changed();
        let hangs = |mut other_end: UnixStream| {
            announce(&mut other_end, Duration::from_millis(1));
            let end = other_end.read(&mut [0]);
            assert_eq!(end.expect("the end"), 0);
        };
        watched(&root, hangs).expect("put back");
        assert_eq!(governor(&root).as_deref(), Some("ondemand"));
    }

    #[test]
    fn what_cannot_be_put_back_is_said_with_its_value() {
        let (dir, root) = changed();
        fs::remove_file(dir.path().join("governor")).expect("removed");
        let killed = |mut other_end: UnixStream| announce(&mut other_end, Duration::MAX);
        let error = watched(&root, killed).expect_err("there is no such file");
        let said = error.to_string();
        assert!(
            said.starts_with("not put back: /governor: ") && said.contains("it was ondemand"),
            "{said}"
        );
    }
}
