//! Settings of this machine that are changed for a trial, and put back by this process or by its watchdog.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::slice;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::watchdog::{DONE, PutBackOrder, put_back};
use crate::host::tuning::{NotChanged, Setting, Tuning, differences};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::trial::spawned::{THIS_PROGRAM, ends_within, wait_for_input};

/// Name of the hidden command that runs the watchdog.
const WATCHDOG_COMMAND: &str = "put-back";
/// Error of a watchdog that is gone: nothing more is changed.
const WATCHDOG_ENDED: &str = "the watchdog has ended";

/// Time limit for an answer of the watchdog.
const WATCHDOG_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that a change may last in addition to its trial: processes start, a link comes up, the remote host stays
/// silent.
const OUTSIDE_TRIAL: Duration = Duration::from_secs(60);
/// Time limit for a link to come up again.
const LINK_UP_TIMEOUT: Duration = Duration::from_secs(10);
/// Time until the kernel shows that a link is down.
///
/// Without an interrupt of the PHY, the kernel checks once per second whether the link is still up (`PHY_STATE_TIME`,
/// drivers/net/phy/phy.c).
const LINK_DOWN_DELAY: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns the minimum time spent waiting for the link when a setting is changed and put back.
pub fn min_link_wait(tuning: &Tuning) -> Duration {
    if tuning.name.resets_link() {
        2 * LINK_DOWN_DELAY
    } else {
        Duration::ZERO
    }
}

/// Settings that stay changed until this is dropped, with the watchdog that puts them back if this process dies.
pub struct ChangedSettings {
    root: Root,
    watchdog: Child,
    /// Pipe to the watchdog. `None` while the watchdog ends.
    orders: Option<ChildStdin>,
    changed: Vec<Setting>,
    /// Interfaces whose links were up, and may go down by the change.
    links: Vec<String>,
    resets_link: bool,
}

impl ChangedSettings {
    /// Changes the settings of a tuning for a trial that takes about `trial`, on the machine below `root`.
    ///
    /// # Errors
    /// Fails if the watchdog cannot be started or does not answer, or if a setting could not be put back. The inner
    /// error is the reason why the settings cannot be changed; all of them are then as before.
    pub fn change(
        tuning: &Tuning,
        trial: Duration,
        root: &Root,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<Self, NotChanged>> {
        if let Some(other) = differences(&tuning.settings, root).into_iter().next() {
            return Ok(Err(NotChanged::Before(other)));
        }
        let mut settings = Self::announce(tuning, trial, root).map_err(|error| {
            // Until it answers, the watchdog also receives Ctrl-C, which may have ended it: report the interrupt then.
            let ended = interrupt.signal().map(|_| Interrupted.into());
            ended.unwrap_or(error)
        })?;
        settings.changed.clone_from(&tuning.settings);
        let mut changed = settings.changed.iter_mut();
        let set = changed.try_for_each(|setting| try_value(setting, root));
        let set = set.and_then(|()| settings.wait_for_links(interrupt));
        if set.is_err() {
            settings.put_all_back()?;
            // The next trial reports whatever is wrong with the link then.
            let _ = settings.wait_for_links(interrupt);
        }
        Ok(set.map(|()| settings).map_err(NotChanged::Refused))
    }

    /// Starts a watchdog that remembers the settings.
    fn announce(tuning: &Tuning, trial: Duration, root: &Root) -> anyhow::Result<Self> {
        let mut command = Command::new(THIS_PROGRAM);
        command.arg0("udpbench").arg(WATCHDOG_COMMAND);
        command.arg("--root").arg(root.path(""));
        // The watchdog gets no process group of its own, since the leader of a group could not start a session
        // (setsid(2)).
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut watchdog = command.spawn().context("cannot start the watchdog")?;
        let pipes = watchdog.stdin.take().zip(watchdog.stdout.take());
        let (mut orders, mut answers) = pipes.context("the watchdog has no pipes")?;
        let mut order = serde_json::to_vec(&PutBackOrder {
            settings: tuning.settings.clone(),
            longest: trial + OUTSIDE_TRIAL,
        })?;
        order.push(b'\n');
        orders.write_all(&order).context(WATCHDOG_ENDED)?;
        if !wait_for_input(&answers, Some(Instant::now() + WATCHDOG_TIMEOUT))? {
            bail!("the watchdog does not answer");
        }
        answers.read_exact(&mut [0]).context(WATCHDOG_ENDED)?;
        let interfaces = (tuning.settings.iter()).filter_map(|it| it.location.interface());
        let links = interfaces.filter(|interface| has_carrier(root, interface));
        Ok(Self {
            root: root.clone(),
            watchdog,
            orders: Some(orders),
            changed: Vec::new(),
            links: links.map(str::to_owned).collect(),
            resets_link: tuning.name.resets_link(),
        })
    }

    /// Puts all settings back, and tells the watchdog. Returns `false` if the watchdog had put them back before.
    fn put_all_back(&mut self) -> anyhow::Result<bool> {
        put_back(&self.changed, &self.root)?;
        self.changed.clear();
        match self.watchdog.try_wait()? {
            None => {}
            Some(status) if status.success() => return Ok(false),
            Some(_) => bail!(WATCHDOG_ENDED),
        }
        let mut orders = self.orders.take().context(WATCHDOG_ENDED)?;
        orders.write_all(DONE).context(WATCHDOG_ENDED)?;
        Ok(true)
    }

    /// Puts the settings back and waits until their links are up again. The inner error is the reason why the settings
    /// did not stay changed until now.
    ///
    /// # Errors
    /// Fails if a setting cannot be put back; the watchdog tries again.
    pub fn put_back(mut self, interrupt: &Interrupt) -> anyhow::Result<Result<(), String>> {
        let others = others_value(&self.changed, &self.root);
        let lasted = self.put_all_back()?;
        // The next trial reports a link that stays down.
        let _ = self.wait_for_links(interrupt);
        if !lasted {
            let problem = "it took so long that the watchdog had put the setting back";
            return Ok(Err(problem.to_owned()));
        }
        Ok(others.map_or(Ok(()), Err))
    }

    /// Waits until the links are up again, or until the program is asked to end.
    ///
    /// # Errors
    /// Returns an error for a link that is still down after [`LINK_UP_TIMEOUT`].
    fn wait_for_links(&self, interrupt: &Interrupt) -> Result<(), String> {
        let links = &self.links;
        if links.is_empty() || self.resets_link && interrupt.sleep(LINK_DOWN_DELAY).is_err() {
            return Ok(());
        }
        let end = Instant::now() + LINK_UP_TIMEOUT;
        while let Some(down) = links.iter().find(|link| !has_carrier(&self.root, link)) {
            if Instant::now() >= end {
                return Err(format!(
                    "{down} has no link {} s later",
                    LINK_UP_TIMEOUT.as_secs()
                ));
            }
            if interrupt.sleep(POLL_INTERVAL).is_err() {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for ChangedSettings {
    fn drop(&mut self) {
        if !self.changed.is_empty() {
            // If this fails, the watchdog tries again and reports the result.
            let _ = self.put_all_back();
        }
        self.orders = None;
        ends_within(&mut self.watchdog, WATCHDOG_TIMEOUT);
    }
}

/// Sets the value to try. If the kernel keeps another one, as a driver that rounds does, that is the one to put back.
///
/// # Errors
/// Returns the location and the reason if the value cannot be set.
fn try_value(setting: &mut Setting, root: &Root) -> Result<(), String> {
    let Setting {
        location, tried, ..
    } = setting;
    let written = location.write(root, tried);
    written.map_err(|error| {
        if let Ok(kept) = location.read(root) {
            *tried = kept;
        }
        format!("{location}: {error}")
    })
}

fn has_carrier(root: &Root, interface: &str) -> bool {
    root.number(format!("sys/class/net/{interface}/carrier")) == Some(1)
}

/// Returns a sentence about the first setting that somebody else has given another value than the one tried.
fn others_value(settings: &[Setting], root: &Root) -> Option<String> {
    let is_kept = |it: &Setting| {
        let now = it.location.read(root);
        now.is_ok_and(|now| it.location.is_same(&now, &it.tried))
    };
    let other = settings.iter().find(|setting| !is_kept(setting))?;
    let now = differences(slice::from_ref(other), root).pop();
    Some(now.map_or_else(
        || format!("{}: somebody else put it back", other.location),
        |now| now.to_string(),
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::host::tuning::Location;

    #[test]
    fn what_the_kernel_keeps_instead_of_the_value_is_put_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Root::new(directory.path());
        let file = directory.path().join("ring");
        // It takes any value and keeps none.
        symlink("/dev/null", &file).expect("a link");
        let mut setting = Setting {
            location: Location::File("ring".to_owned()),
            before: "256".to_owned(),
            tried: "4096".to_owned(),
        };
        let refused = try_value(&mut setting, &root).expect_err("another value is kept");
        assert!(refused.contains("asked for 4096"), "{refused}");
        assert_eq!(setting.tried, "", "it is ours");
        fs::remove_file(&file).expect("it is there");
        fs::write(&file, "").expect("written");
        put_back(&[setting], &root).expect("put back");
        assert_eq!(root.text("ring").as_deref(), Some("256"));
    }
}
