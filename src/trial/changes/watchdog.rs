//! The watchdog: a process that puts settings back when the process that changed them cannot, however that one ended:
//! SIGKILL, the OOM killer, a closed ssh.
//!
//! The watchdog is told the values of settings before they are changed, and answers. At the end of its input, or when a
//! change lasts longer than announced, it puts back all settings that are still changed. It has its own session and
//! survives Ctrl-C, SIGTERM and SIGHUP. Nothing helps against a SIGKILL of both processes, or the end of the machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::unistd::setsid;
use serde::{Deserialize, Serialize};

use super::poll::wait_for_input;
use super::put_back::put_back;
use crate::host::tuning::Setting;
use crate::sys::files::Root;
use crate::sys::interrupt;
use crate::term::duration::ns;
use crate::term::json;

/// Order to the watchdog, one line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Announcement of settings that are about to be changed for a limited time.
    Remember {
        /// The settings with their current values.
        settings: Vec<Setting>,
        /// Longest time until they are put back, whatever the other process does.
        #[serde(rename = "longest_ns", with = "ns")]
        longest: Duration,
    },
    /// Notice that all settings were put back.
    Forget,
}

/// Answer of the watchdog: one line at the start, and one for each order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WatchdogAnswer {
    /// The watchdog runs, and survives SIGINT, SIGTERM and SIGHUP.
    Ready,
    /// The watchdog remembers the settings to put back.
    Remembered,
    /// The watchdog has forgotten the settings.
    Forgotten,
    /// The watchdog has already put the settings back, since the change took too long.
    TooLong,
}

/// Serves the process at the other end of these pipes.
///
/// # Errors
/// Fails if a setting could not be put back, or if a line is not an order.
pub fn serve(input: impl Read + AsFd, mut output: impl Write, root: &Root) -> anyhow::Result<()> {
    // Leaves the terminal, where a job that writes to it may be stopped. Fails only for the leader of a process group.
    let _ = setsid();
    interrupt::outlive_requests()?;
    let mut input = BufReader::new(input);
    let mut to_put_back = ToPutBack::default();
    let mut answer = WatchdogAnswer::Ready;
    loop {
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        // If the other process is gone, the next read shows it.
        let _ = output.write_all(&line).and_then(|()| output.flush());
        let order = to_put_back.next_order(&mut input, root);
        answer = match order {
            Ok(Some(Order::Remember { settings, longest })) => {
                to_put_back.remember(settings, longest)
            }
            Ok(Some(Order::Forget)) => to_put_back.forget(),
            Ok(None) => return to_put_back.put_back(root),
            Err(error) => return to_put_back.put_back(root).and(Err(error)),
        };
    }
}

/// Settings to put back.
#[derive(Debug, Default)]
struct ToPutBack {
    settings: Vec<Setting>,
    until: Option<Instant>,
    was_too_long: bool,
}

impl ToPutBack {
    fn remember(&mut self, settings: Vec<Setting>, longest: Duration) -> WatchdogAnswer {
        self.settings = settings;
        self.until = Instant::now().checked_add(longest);
        self.was_too_long = false;
        WatchdogAnswer::Remembered
    }

    fn forget(&mut self) -> WatchdogAnswer {
        self.settings.clear();
        self.until = None;
        if self.was_too_long {
            WatchdogAnswer::TooLong
        } else {
            WatchdogAnswer::Forgotten
        }
    }

    fn put_back(&mut self, root: &Root) -> anyhow::Result<()> {
        self.until = None;
        put_back(&std::mem::take(&mut self.settings), root)
    }

    /// Waits for the next order, and puts settings back when their time is over. `None`: no more orders will come.
    fn next_order<R: Read + AsFd>(
        &mut self,
        input: &mut BufReader<R>,
        root: &Root,
    ) -> anyhow::Result<Option<Order>> {
        // Only one order is sent at a time: none waits in the buffer.
        while !wait_for_input(input.get_ref(), self.until)? {
            self.was_too_long = true;
            self.put_back(root)?;
        }
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        // Half an order comes from a process that was killed while it wrote: nothing was changed yet.
        if !line.ends_with(b"\n") {
            return Ok(None);
        }
        json::parse(&line)
            .context("the watchdog got a line that is not an order")
            .map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::{fs, thread};

    use tempfile::TempDir;

    use super::*;
    use crate::host::tuning::Location;

    fn setting() -> Setting {
        Setting {
            location: Location::File("governor".to_owned()),
            before: "ondemand".to_owned(),
            tried: "performance".to_owned(),
        }
    }

    fn changed() -> (TempDir, Root) {
        let dir = TempDir::new().expect("a directory");
        fs::write(dir.path().join("governor"), "performance\n").expect("written");
        let root = Root::new(dir.path());
        (dir, root)
    }

    fn governor(root: &Root) -> Option<String> {
        root.text("governor")
    }

    #[test]
    fn what_is_remembered_is_put_back_at_the_end_of_the_input() {
        let (_dir, root) = changed();
        let (watchdog_end, mut other_end) = UnixStream::pair().expect("a pair");
        let mut to_put_back = ToPutBack::default();
        to_put_back.remember(vec![setting()], Duration::MAX);
        // Killed in the middle of an order.
        other_end.write_all(b"{\"remember\":").expect("written");
        drop(other_end);
        let order = to_put_back.next_order(&mut BufReader::new(watchdog_end), &root);
        assert!(matches!(order, Ok(None)), "{order:?}");
        to_put_back.put_back(&root).expect("put back");
        assert_eq!(governor(&root).as_deref(), Some("ondemand"));
    }

    #[test]
    fn what_lasts_too_long_is_put_back_and_the_other_process_is_told() {
        let (_dir, root) = changed();
        let (watchdog_end, mut other_end) = UnixStream::pair().expect("a pair");
        let mut to_put_back = ToPutBack::default();
        to_put_back.remember(vec![setting()], Duration::from_millis(1));
        thread::scope(|scope| {
            scope.spawn(|| {
                while governor(&root).as_deref() != Some("ondemand") {
                    thread::yield_now();
                }
                other_end.write_all(b"\"forget\"\n").expect("written");
            });
            let order = to_put_back.next_order(&mut BufReader::new(watchdog_end), &root);
            assert!(matches!(order, Ok(Some(Order::Forget))), "{order:?}");
        });
        assert_eq!(to_put_back.forget(), WatchdogAnswer::TooLong);
    }

    #[test]
    fn what_cannot_be_put_back_is_said_with_its_value() {
        let (dir, root) = changed();
        fs::remove_file(dir.path().join("governor")).expect("removed");
        let mut to_put_back = ToPutBack::default();
        to_put_back.remember(vec![setting()], Duration::MAX);
        let error = to_put_back
            .put_back(&root)
            .expect_err("there is no such file");
        let said = error.to_string();
        assert!(
            said.starts_with("not put back: /governor: ") && said.contains("it was ondemand"),
            "{said}"
        );
    }
}
