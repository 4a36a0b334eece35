//! A setting of this machine that is changed for a trial, and put back: by this process, or by its watchdog.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::put_back::put_back;
use super::spawned::THIS_PROGRAM;
use super::watchdog::{Answer, Order, is_readable};
use crate::host::knob::{Knob, Place, Setting};
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// The hidden command that is the watchdog.
pub const WATCHDOG: &str = "put-back";

/// How long the watchdog may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Besides its trial, a change may last so long: processes start, a link comes up, the other host is not heard of.
const BESIDES_TRIAL: Duration = Duration::from_secs(60);
/// How long a link may take to come up again.
const LINK: Duration = Duration::from_secs(10);
/// Without an interrupt of the PHY, the kernel looks once per second whether the link is still there
/// (`PHY_STATE_TIME`, drivers/net/phy/phy.c).
const UNTIL_LINK_SHOWS: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(20);

/// How long the link is waited for at least when that is changed for a trial, and put back.
pub fn waiting(knob: &Knob) -> Duration {
    if knob.name.resets_link() {
        2 * UNTIL_LINK_SHOWS
    } else {
        Duration::ZERO
    }
}

/// A setting that is changed until this is dropped.
pub struct Keeper {
    root: Root,
    watchdog: Child,
    /// `None` while it ends.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    changed: Vec<Setting>,
}

impl Keeper {
    /// Changes what the knob is for, for about so long, on the machine below `root`.
    ///
    /// # Errors
    /// Why it cannot be changed: then all is as before. The outer ones: it could not be put back, or nothing would do so.
    pub fn change(
        knob: &Knob,
        trial: Duration,
        root: &Root,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<Self, String>> {
        let mut keeper = Self::start(root).map_err(|error| {
            // Ctrl-C reaches the watchdog, too, until it is ready.
            let ended = interrupt.signal().map(|_| Interrupted.into());
            ended.unwrap_or(error)
        })?;
        Ok(keeper.set(knob, trial, interrupt)?.map(|()| keeper))
    }

    fn start(root: &Root) -> anyhow::Result<Self> {
        let mut command = Command::new(THIS_PROGRAM);
        command.arg0("udpbench").arg(WATCHDOG);
        command.arg("--root").arg(root.path(""));
        // No group of its own: the leader of one could not have a session of its own (setsid(2)).
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
        knob: &Knob,
        trial: Duration,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Result<(), String>> {
        if let Err(reason) = is_as_before(&knob.settings, &self.root) {
            return Ok(Err(reason));
        }
        self.order(&Order::Hold {
            settings: knob.settings.clone(),
            longest: trial + BESIDES_TRIAL,
        })?;
        self.expect(&[Answer::Held])?;
        let links = self.links(knob);
        self.changed.clone_from(&knob.settings);
        let set = knob.settings.iter().try_for_each(|setting| {
            let written = setting.place.write(&self.root, &setting.tried);
            written.map_err(|error| format!("{}: {error}", setting.place))
        });
        let set = set.and_then(|()| self.wait_for(&links, knob.name.resets_link(), interrupt));
        if set.is_err() {
            self.restore()?;
            // Whatever is wrong with the link then, the next trial says.
            let _ = self.wait_for(&links, knob.name.resets_link(), interrupt);
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

    /// Puts it back, and waits until the link is there again. Whether it was changed until now.
    ///
    /// # Errors
    /// What could not be put back: the watchdog tries again.
    pub fn put_back(mut self, knob: &Knob, interrupt: &Interrupt) -> anyhow::Result<bool> {
        let links = self.links(knob);
        let lasted = self.restore()?;
        let _ = self.wait_for(&links, knob.name.resets_link(), interrupt);
        Ok(lasted)
    }

    /// The interfaces whose links are up, and that the knob may take down.
    fn links(&self, knob: &Knob) -> Vec<String> {
        let interfaces = knob.settings.iter().filter_map(|it| it.place.interface());
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
            if interrupt.sleep(GLANCE).is_err() {
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
        let until = Instant::now() + PATIENCE;
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
        // What fails here, the watchdog tries, and says.
        let _ = self.restore();
        self.orders = None;
        let end = Instant::now() + PATIENCE;
        while matches!(self.watchdog.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn has_carrier(root: &Root, interface: &str) -> bool {
    root.number(format!("sys/class/net/{interface}/carrier")) == Some(1)
}

/// Whether settings are what they were when the search began.
///
/// # Errors
/// One that is not, or cannot be read.
pub fn is_as_before(settings: &[Setting], root: &Root) -> Result<(), String> {
    settings.iter().try_for_each(|setting| {
        let now = now(&setting.place, root)?;
        if setting.place.is_same(&now, &setting.before) {
            return Ok(());
        }
        Err(format!(
            "{} is {now}, and was {} when the search began",
            setting.place, setting.before
        ))
    })
}

fn now(place: &Place, root: &Root) -> Result<String, String> {
    place
        .read(root)
        .map_err(|error| format!("{place}: {error}"))
}
