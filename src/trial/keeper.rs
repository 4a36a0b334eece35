//! A setting of this machine that is changed for a trial and put back, by this process or by its watchdog.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::put_back::put_back;
use super::spawned::THIS_PROGRAM;
use super::watchdog::{Answer, Order, is_readable};
use crate::host::tuning::{Location, Setting, Tuning};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// Name of the hidden command that runs the watchdog.
pub const WATCHDOG: &str = "put-back";

/// Time that the watchdog has for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time that a change may last besides its trial: processes start, a link comes up, the remote host stays silent.
const BESIDES_TRIAL: Duration = Duration::from_secs(60);
/// Time that a link has to come up again.
const LINK: Duration = Duration::from_secs(10);
/// Time until a link that is down shows as down.
///
/// Without an interrupt of the PHY, the kernel checks once per second whether the link is still up (`PHY_STATE_TIME`,
/// drivers/net/phy/phy.c).
const UNTIL_LINK_SHOWS: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns the minimum time that changing a setting for a trial, and putting it back, waits for the link.
pub fn waiting(tuning: &Tuning) -> Duration {
    if tuning.name.resets_link() {
        2 * UNTIL_LINK_SHOWS
    } else {
        Duration::ZERO
    }
}

/// A setting that stays changed until the keeper is dropped.
pub struct Keeper {
    root: Root,
    watchdog: Child,
    /// Pipe to the watchdog. `None` while the watchdog ends.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    changed: Vec<Setting>,
}

impl Keeper {
    /// Changes the settings of a tuning for a trial that takes about `trial`, on the machine below `root`.
    ///
    /// # Errors
    /// Fails if a setting could not be put back, or if no watchdog would put it back. The inner error is the reason why
    /// the settings cannot be changed; all of them are then as before.
    pub fn change(
        tuning: &Tuning,
        trial: Duration,
        root: &Root,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<Self, String>> {
        let mut keeper = Self::start(root).map_err(|error| {
            // Until it is ready, the watchdog also receives Ctrl-C.
            let ended = interrupt.signal().map(|_| Interrupted.into());
            ended.unwrap_or(error)
        })?;
        Ok(keeper.set(tuning, trial, interrupt)?.map(|()| keeper))
    }

    fn start(root: &Root) -> anyhow::Result<Self> {
        let mut command = Command::new(THIS_PROGRAM);
        command.arg0("udpbench").arg(WATCHDOG);
        command.arg("--root").arg(root.path(""));
        // The watchdog gets no process group of its own, since the leader of a group could not start a session
        // (setsid(2)).
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut watchdog = command.spawn().context("cannot start the watchdog")?;
        let pipes = watchdog.stdin.take().zip(watchdog.stdout.take());
        let (orders, answers) = pipes.context("the watchdog has no pipes")?;
        let mut keeper = Self {
            root: root.clone(),
            watchdog,
            orders: Some(orders),
            answers: BufReader::new(answers),
            changed: Vec::new(),
        };
        keeper.expect(&[Answer::Ready])?;
        Ok(keeper)
    }

    fn set(
        &mut self,
        tuning: &Tuning,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), String>> {
        if let Err(reason) = is_as_before(&tuning.settings, &self.root) {
            return Ok(Err(reason));
        }
        self.order(&Order::Hold {
            settings: tuning.settings.clone(),
            longest: trial + BESIDES_TRIAL,
        })?;
        self.expect(&[Answer::Held])?;
        let links = self.links(tuning);
        self.changed.clone_from(&tuning.settings);
        let set = tuning.settings.iter().try_for_each(|setting| {
            let written = setting.location.write(&self.root, &setting.tried);
            written.map_err(|error| format!("{}: {error}", setting.location))
        });
        let set = set.and_then(|()| self.wait_for(&links, tuning.name.resets_link(), interrupt));
        if set.is_err() {
            self.restore()?;
            // The next trial reports whatever is wrong with the link then.
            let _ = self.wait_for(&links, tuning.name.resets_link(), interrupt);
        }
        Ok(set)
    }

    fn restore(&mut self) -> anyhow::Result<bool> {
        put_back(&self.changed, &self.root)?;
        self.changed.clear();
        self.order(&Order::Release)?;
        let answer = self.expect(&[Answer::Released, Answer::TooLong])?;
        Ok(answer == Answer::Released)
    }

    /// Puts the setting back and waits until the link is up again. Returns whether the setting stayed changed until
    /// now.
    ///
    /// # Errors
    /// Fails if the setting cannot be put back; the watchdog tries again.
    pub fn put_back(mut self, tuning: &Tuning, interrupt: &Interrupt) -> anyhow::Result<bool> {
        let links = self.links(tuning);
        let lasted = self.restore()?;
        let _ = self.wait_for(&links, tuning.name.resets_link(), interrupt);
        Ok(lasted)
    }

    /// Returns the interfaces whose links are up, and may go down by the change.
    fn links(&self, tuning: &Tuning) -> Vec<String> {
        let interfaces = tuning
            .settings
            .iter()
            .filter_map(|it| it.location.interface());
        let is_up = |interface: &&str| has_carrier(&self.root, interface);
        interfaces.filter(is_up).map(str::to_owned).collect()
    }

    fn wait_for(
        &self,
        links: &[String],
        resets_link: bool,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        if links.is_empty() {
            return Ok(());
        }
        if resets_link && interrupt.sleep(UNTIL_LINK_SHOWS).is_err() {
            return Ok(());
        }
        let end = Instant::now() + LINK;
        while let Some(down) = links.iter().find(|link| !has_carrier(&self.root, link)) {
            if Instant::now() >= end {
                return Err(format!("{down} has no link {} s later", LINK.as_secs()));
            }
            if interrupt.sleep(POLL_INTERVAL).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn order(&mut self, order: &Order) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let orders = self.orders.as_mut().context("the watchdog is ending")?;
        orders.write_all(&line).context("the watchdog has ended")
    }

    fn expect(&mut self, expected: &[Answer]) -> anyhow::Result<Answer> {
        let until = Instant::now() + TIMEOUT;
        if !is_readable(self.answers.get_ref(), Some(until))? {
            anyhow::bail!("the watchdog does not answer");
        }
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer = serde_json::from_str(&line).context("the watchdog has ended")?;
        if !expected.contains(&answer) {
            anyhow::bail!("the watchdog answers {answer:?}");
        }
        Ok(answer)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // If this fails, the watchdog tries again and reports the result.
        let _ = self.restore();
        self.orders = None;
        let end = Instant::now() + TIMEOUT;
        while matches!(self.watchdog.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn has_carrier(root: &Root, interface: &str) -> bool {
    root.number(format!("sys/class/net/{interface}/carrier")) == Some(1)
}

/// Checks that settings have the values that they had when the search began.
///
/// # Errors
/// Returns an error for the first setting that has another value or cannot be read.
pub fn is_as_before(settings: &[Setting], root: &Root) -> Result<(), String> {
    settings.iter().try_for_each(|setting| {
        let now = now(&setting.location, root)?;
        if setting.location.is_same(&now, &setting.before) {
            return Ok(());
        }
        Err(format!(
            "{} is {now}, and was {} when the search began",
            setting.location, setting.before
        ))
    })
}

fn now(location: &Location, root: &Root) -> Result<String, String> {
    location
        .read(root)
        .map_err(|error| format!("{location}: {error}"))
}
