//! Runs one case for one window and returns its raw sample.
//!
//! [`Trial`] is the script: it goes through the verbs of one [`site::Site`], or of two, and reads from top to
//! bottom as a trial goes. A site is this process ([`Local`]), or another one ([`remote`], and [`agent`] at
//! its end). The order of events is the heart of the method; `docs/METHODOLOGY.md` says why it is so.

pub mod agent;
mod bind;
mod connections;
mod ends;
pub mod facts;
pub mod far;
mod flows;
pub mod idle_counters;
pub mod keeper;
mod lane;
mod local;
pub mod message;
mod noise;
pub mod path_mtu;
mod path_watch;
pub mod process;
mod programs;
mod pulse;
mod put_back;
pub mod readings;
mod reason_watch;
mod relay;
pub mod remote;
mod running;
mod sample;
mod scope;
pub mod site;
mod snapshot;
mod sockets;
pub(crate) mod sound;
pub mod spawned;
mod taps;
mod threads;
mod timetable;
mod token;
mod wait;
pub mod watchdog;
mod workers;

use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, ensure};

pub use self::local::Local;
use self::sample::Half;
use self::site::{Across, Edge, Edges, Part, SiteBrief, Sites};
use self::token::Token;
use self::wait::{drain, pass};
use crate::data::{Case, Sample};
use crate::engines::{self, Engines, Entry};
use crate::plan::{Between, Settings};
use crate::platform::placement::Placement;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// Why there is no sample.
#[derive(Debug)]
pub enum NoSample {
    /// The program was asked to end.
    Interrupted,
    /// The case could not be run, or broke.
    Failed(anyhow::Error),
}

impl From<Interrupted> for NoSample {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for NoSample {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Interrupted>() {
            return Self::Interrupted;
        }
        Self::Failed(error)
    }
}

/// How often the coordinator looks while it waits for lanes to drain or to stop.
const GLANCE: Duration = Duration::from_micros(100);

/// How long datagrams are verified: enough for every buffer of a batch and every turn of a ring.
const VERIFYING: Duration = Duration::from_millis(20);
/// The same where nothing came in less.
const VERIFYING_LONGEST: Duration = Duration::from_millis(64 * 20);

/// One run of a case, wherever its halves run.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// What is run.
    pub case: &'a Case,
    /// The CPUs of its threads.
    pub placement: &'a Placement,
    /// How long.
    pub settings: &'a Settings,
    /// The addresses of its sites, if they are on two hosts.
    pub between: Option<Between>,
}

/// How long the datagrams of a case are verified at first: enough for jitter to settle, where they go at a rate.
fn verifying(case: &Case) -> Duration {
    const DATAGRAMS: f64 = 100.0;
    let gap_ns = case.gap_ns().unwrap_or_default() * case.flows_each() as f64;
    let most_s = VERIFYING_LONGEST.as_secs_f64();
    let settled = Duration::from_secs_f64((DATAGRAMS * gap_ns / 1e9).min(most_s));
    VERIFYING.max(settled)
}

/// What the site of a part is told of the other one.
fn across(between: Between, part: Part, token: Token) -> Across {
    let (own, other) = match part {
        Part::Senders => (between.senders, between.receivers),
        Part::Receivers | Part::Both => (between.receivers, between.senders),
    };
    Across {
        own,
        other: other.ip,
        token,
        probe_bytes: None,
    }
}

/// What datagrams hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    /// Whatever lies in the sender's buffer.
    Any,
    /// Their numbers.
    Numbered,
}

impl Trial<'_> {
    /// Runs it for one window: sockets, threads, start, warm-up, window, drain, closed books.
    ///
    /// # Errors
    /// [`NoSample::Interrupted`] as soon as `interrupt` says so, else what could not be built or broke, and when a
    /// site is gone.
    pub fn window(&self, sites: &mut Sites, interrupt: &Interrupt) -> Result<Sample, NoSample> {
        guarded(sites, interrupt, |sites| {
            self.script(Payload::Any, sites, interrupt)
        })
    }

    /// How fast datagrams were received in each of so many slices of time since the threads started, per second.
    ///
    /// # Errors
    /// As for [`Trial::window`].
    pub fn course(
        &self,
        slices: usize,
        slice: Duration,
        sites: &mut Sites,
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, NoSample> {
        guarded(sites, interrupt, |sites| {
            self.begin(Payload::Any, sites, interrupt)?;
            sites.start()?;
            let look = |sites: &mut Sites| -> anyhow::Result<(Instant, u64)> {
                let counts = sites.each(|site| site.counts())?;
                let received = counts.iter().map(|counts| counts.received).sum();
                Ok((Instant::now(), received))
            };
            let mut rates = Vec::with_capacity(slices);
            let (start, received) = look(sites)?;
            let (mut end, mut since, mut before) = (start, start, received);
            for _ in 0..slices {
                end += slice;
                let left = end.saturating_duration_since(Instant::now());
                pass(left, self.case, sites, interrupt)?;
                let (now, received) = look(sites)?;
                let seconds = now.duration_since(since).as_secs_f64();
                rates.push(received.saturating_sub(before) as f64 / seconds);
                (since, before) = (now, received);
            }
            sites.stop()?;
            sites.each(|site| site.finish())?;
            Ok(rates)
        })
    }

    /// Runs it for a short while with datagrams that can be told apart: see [`Sample::verified`].
    ///
    /// # Errors
    /// As for [`Trial::window`].
    pub fn verify(&self, sites: &mut Sites, interrupt: &Interrupt) -> Result<Sample, NoSample> {
        let mut settings = Settings {
            warmup: Duration::ZERO,
            window: verifying(self.case),
            ..self.settings.clone()
        };
        loop {
            let trial = Trial {
                settings: &settings,
                ..*self
            };
            let sample = guarded(sites, interrupt, |sites| {
                trial.script(Payload::Numbered, sites, interrupt)
            })?;
            let is_empty = sample.verified.is_some_and(|found| found.packets == 0);
            if !is_empty || settings.window >= VERIFYING_LONGEST {
                return Ok(sample);
            }
            // On a busy machine, a thread may have had no turn.
            settings.window *= 4;
        }
    }

    fn script(
        &self,
        payload: Payload,
        sites: &mut Sites,
        interrupt: &Interrupt,
    ) -> Result<Sample, NoSample> {
        let (case, settings) = (self.case, self.settings);
        let edges = Edges {
            warmup: settings.warmup,
            window: settings.window,
        };
        let (sender, receiver) = self.begin(payload, sites, interrupt)?;
        sites.each(|site| site.keep_time(edges))?;
        let started = sites.start()?;
        let warmup = settings.warmup.saturating_sub(started.elapsed());
        pass(warmup, case, sites, interrupt)?;
        let opened_at = SystemTime::now();
        let opening = sites.read(Edge::Opening)?;
        pass(settings.window, case, sites, interrupt)?;
        let closing = sites.read(Edge::Closing)?;

        sites.stop()?;
        let opening = sites.read_on(Edge::Opening, opening)?;
        let closing = sites.read_on(Edge::Closing, closing)?;
        drain(case, receiver, sites, interrupt)?;
        let finished = sites.each(|site| site.finish())?;

        let hosts = sites.parts().map(|(_, site)| site.host());
        let edges = opening.into_iter().zip(closing);
        let halves = hosts.zip(edges).zip(finished);
        let halves = halves.map(|((host, (opening, closing)), finished)| Half {
            host,
            opening,
            closing,
            finished,
        });
        let halves: Vec<Half> = halves.collect();
        Ok(sample::of(case, (sender, receiver), opened_at, &halves))
    }

    /// Up to the start of the threads, which wait for it.
    fn begin(
        &self,
        payload: Payload,
        sites: &mut Sites,
        interrupt: &Interrupt,
    ) -> Result<Engines, NoSample> {
        let case = self.case;
        let (sender, receiver) = engines::of(case).map_err(anyhow::Error::msg)?;
        if sites.parts().count() > 1 {
            may_be_split(case, sender)?;
        }
        let token = Token::random().context("cannot read /dev/urandom")?;
        interrupt.sleep(Duration::ZERO)?;

        for (part, site) in sites.parts() {
            site.open(&SiteBrief {
                case: *case,
                part,
                placement: self.placement.clone(),
                verifies: payload == Payload::Numbered,
                drop_reasons: self.settings.drop_reasons,
                across: self.between.map(|between| across(between, part, token)),
                #[cfg(feature = "calibration")]
                delay: self.settings.delay.clone(),
            })?;
        }
        let flows = flows::make(case, sites, interrupt)?;
        interrupt.sleep(Duration::ZERO)?;
        sites.each(|site| site.assemble(&flows))?;
        Ok((sender, receiver))
    }
}

/// Does it, and leaves nothing going on that nobody waits for if it fails.
fn guarded<T>(
    sites: &mut Sites,
    interrupt: &Interrupt,
    what: impl FnOnce(&mut Sites) -> Result<T, NoSample>,
) -> Result<T, NoSample> {
    let done = what(sites);
    if done.is_err() {
        sites.abandon();
        // What was called off is no failure of the case.
        interrupt.sleep(Duration::ZERO)?;
    }
    done
}

/// Whether senders and receivers of a case can run in two processes.
fn may_be_split(case: &Case, sender: &Entry) -> anyhow::Result<()> {
    ensure!(
        !case.threads.is_alone(),
        "one thread that sends and receives cannot run at two sites; use --threads 2"
    );
    ensure!(
        case.transport.is_none(),
        "both ends of a {} connection are at one site so far",
        case.transport()
    );
    ensure!(
        sender.about.moves_datagrams,
        "the engine {sender} moves no datagrams from one process to another"
    );
    Ok(())
}

#[cfg(test)]
mod tests;
