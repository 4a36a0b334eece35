//! Keeps an echo running at the other end: starts it again after its host restarted or its program ended.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::event::Remark;
use crate::data::HostAddress;
use crate::sys::clock;
use crate::sys::host_id::HostId;
use crate::sys::loss_places::{self, LossPlace};
use crate::time::nanoseconds;
use crate::workload::probe::{ProbeToken, Target};

/// Interval at which the other end is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Silence after which another echo is tried, while the connection to the first one stays open: its host may have
/// restarted without a word.
const SILENCE: Duration = Duration::from_secs(10);
/// Time between two questions what the other end's host has lost, and the silence in which none is asked.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(500);
const SILENCE_OF_QUESTIONS: Duration = Duration::from_millis(1500);
/// Time that the thread has to end.
const ENDING: Duration = Duration::from_secs(4);
/// First pause after a start. It doubles with each one until an echo has answered for the longest pause: so there are
/// at most some 360 starts an hour, however often an echo ends.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A program at the other end that can echo, without a heartbeat: that would end it in the first long outage.
pub trait EchoProgram: Send {
    /// Returns whether it is gone: its process, its host or the connection to it.
    fn has_ended(&self) -> bool;

    /// Starts its echo.
    ///
    /// # Errors
    /// Fails if the program is gone, or if the address is not of its host.
    fn echo(&mut self, address: EchoAddress) -> anyhow::Result<RunningEcho>;

    /// Asks what its host has lost on the way to the echo and back, without waiting for the answer.
    ///
    /// # Errors
    /// Fails if the program is gone.
    fn ask_for_losses(&mut self) -> anyhow::Result<()>;

    /// Returns the answer, if it has come: packets lost since the start of the echo, by place.
    ///
    /// # Errors
    /// Fails if the program is gone.
    fn losses(&mut self) -> anyhow::Result<Option<BTreeMap<String, u64>>>;
}

/// Starts a program at the other end.
pub type Start = Box<dyn FnMut() -> anyhow::Result<Box<dyn EchoProgram>> + Send>;

/// An echo that answers.
#[derive(Debug)]
pub struct RunningEcho {
    /// Address for probes from this host.
    pub address: SocketAddr,
    /// Token of its probes.
    pub token: ProbeToken,
    /// Host that it runs on, with the id of its boot.
    pub host: HostId,
}

/// Addresses of an echo: the one that it binds on its host, and the same as seen from this host.
#[derive(Clone, Copy, Debug)]
pub struct EchoAddress {
    /// On its host.
    pub there: HostAddress,
    /// From this host.
    pub from_here: HostAddress,
}

/// News of the other end's program.
#[derive(Clone, Debug)]
pub enum News {
    /// It is gone, cannot be started again, or another one answers.
    Program(Remark),
    /// What its host has lost on the way in since the news before.
    Lost {
        /// When this was asked. The answer may have come later, over a path that was broken.
        asked: Instant,
        /// Packets by place. Empty: none.
        places: Vec<(&'static LossPlace, u64)>,
    },
}

/// The echo, and a thread that looks after it. Dropping it ends both.
#[derive(Debug)]
pub struct FarEnd {
    ends: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
    /// Events of the other end's program.
    pub news: Receiver<News>,
}

impl FarEnd {
    /// Starts an echo, sets the target of probes, and looks after it from then on. `name` is the host in messages.
    ///
    /// # Errors
    /// Fails if the echo cannot be started.
    pub fn start(
        name: &str,
        mut start: Start,
        address: EchoAddress,
        target: Arc<Target>,
    ) -> anyhow::Result<Self> {
        let (program, echo) = start_echo(&mut start, address)?;
        target.set(echo.address, echo.token);
        let (say, news) = mpsc::channel();
        let ends = Arc::<AtomicBool>::default();
        let keeper = Keeper {
            name: name.to_owned(),
            start,
            address,
            target,
            program: Some(program),
            host: echo.host,
            since: Instant::now(),
            losses: Losses::default(),
            refused: String::new(),
            say,
            ends: Arc::clone(&ends),
        };
        let thread = thread::Builder::new().name("far end".to_owned());
        let keeper = thread.spawn(move || keeper.keep());
        let keeper = keeper.context("cannot start a thread")?;
        Ok(Self {
            ends,
            keeper: Some(keeper),
            news,
        })
    }
}

impl Drop for FarEnd {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let Some(keeper) = self.keeper.take() else {
            return;
        };
        // It may wait for a host that does not answer. The end of this process ends that.
        let end = Instant::now() + ENDING;
        while !keeper.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Losses of the other end's host, by its last answer.
#[derive(Default)]
struct Losses {
    known: BTreeMap<String, u64>,
    /// When a question was asked that has not been answered yet.
    asked: Option<Instant>,
    /// Time of the next question.
    next: Option<Instant>,
}

struct Keeper {
    name: String,
    start: Start,
    address: EchoAddress,
    target: Arc<Target>,
    /// `None`: it has ended.
    program: Option<Box<dyn EchoProgram>>,
    host: HostId,
    /// Time of the last start.
    since: Instant,
    losses: Losses,
    /// Why it could not be started again, by the last try.
    refused: String,
    say: Sender<News>,
    ends: Arc<AtomicBool>,
}

impl Keeper {
    fn keep(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut next_start = Instant::now();
        while self.sleeps() {
            if self.program.as_ref().is_some_and(|it| it.has_ended()) {
                self.program = None;
                let host = self.name.clone();
                self.tell(Remark::ProgramEnded { host });
            }
            self.look_at_losses();
            let answers = self.program.is_some() && self.silence() < SILENCE;
            if answers && self.since.elapsed() > LONGEST_PAUSE {
                pause = FIRST_PAUSE;
            }
            if !answers && Instant::now() >= next_start {
                self.replace();
                next_start = Instant::now() + pause;
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
    }

    /// Asks what the other end's host has lost, twice a second, but not while the path is silent.
    fn look_at_losses(&mut self) {
        let is_silent = self.silence() > SILENCE_OF_QUESTIONS;
        let Some(program) = &mut self.program else {
            return;
        };
        let losses = &mut self.losses;
        let Some(asked) = losses.asked else {
            if !is_silent && losses.next.is_none_or(|next| Instant::now() >= next) {
                losses.next = Some(Instant::now() + BETWEEN_QUESTIONS);
                let asked = program.ask_for_losses();
                losses.asked = asked.is_ok().then(Instant::now);
            }
            return;
        };
        let Ok(Some(now)) = program.losses() else {
            return;
        };
        losses.asked = None;
        let grown = now.into_iter().map(|(place, packets)| {
            let known = losses.known.entry(place.clone()).or_default();
            // What may be one place's or another's can move between them.
            let before = std::mem::replace(known, packets.max(*known));
            (place, packets.saturating_sub(before))
        });
        let grown = grown.filter(|(_, by)| *by > 0).collect();
        let places = loss_places::by_name(&grown);
        // Nobody listens any more at the end.
        let _ = self.say.send(News::Lost { asked, places });
    }

    /// Sleeps until the next look, and returns whether the soak goes on.
    fn sleeps(&self) -> bool {
        thread::sleep(LOOK);
        !self.ends.load(Ordering::Relaxed)
    }

    /// Returns the time since something was heard of the echo, or since it was started.
    fn silence(&self) -> Duration {
        let heard = Duration::from_nanos(self.target.heard_ns());
        let now = Duration::from_nanos(clock::monotonic_ns());
        now.saturating_sub(heard).min(self.since.elapsed())
    }

    /// Starts another echo, if that can be done and is needed. One that is not needed ends here.
    fn replace(&mut self) {
        let (program, echo) = match start_echo(&mut self.start, self.address) {
            Ok(started) => started,
            Err(error) => return self.tell_why(&format!("{error:#}")),
        };
        // The first one answers again, or it still runs there: only the path is broken.
        let is_needed = self.program.is_none()
            || self.silence() >= SILENCE && !echo.host.is_same_machine(&self.host);
        if !is_needed {
            return;
        }
        self.target.set(echo.address, echo.token);
        let silence_ns = nanoseconds(self.silence());
        let host = self.name.clone();
        self.tell(if echo.host.is_same_machine(&self.host) {
            Remark::StartedAgain { host, silence_ns }
        } else {
            Remark::Restarted { host, silence_ns }
        });
        (self.host, self.program, self.since) = (echo.host, Some(program), Instant::now());
        self.losses = Losses::default();
        self.refused.clear();
    }

    /// Tells why a program that has ended cannot be started again, once for each reason. In an outage, the reason is
    /// the path.
    fn tell_why(&mut self, why: &str) {
        if self.program.is_none() && self.refused != why && !self.ends.load(Ordering::Relaxed) {
            why.clone_into(&mut self.refused);
            let (host, why) = (self.name.clone(), why.to_owned());
            self.tell(Remark::NotStarted { host, why });
        }
    }

    fn tell(&self, remark: Remark) {
        // Nobody listens any more at the end.
        let _ = self.say.send(News::Program(remark));
    }
}

fn start_echo(
    start: &mut Start,
    address: EchoAddress,
) -> anyhow::Result<(Box<dyn EchoProgram>, RunningEcho)> {
    let mut program = start()?;
    let echo = program.echo(address)?;
    Ok((program, echo))
}
