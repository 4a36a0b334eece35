//! Description of a trial: plain data that means the same to another process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::data::{Case, EngineName, HostAddress, Sample};
use crate::engines::{self, Engines};
use crate::host::placement::Placement;
use crate::plan::{Between, Settings, VERIFYING, Wire};

/// Longest window of a verification, if nothing arrived in shorter ones.
const VERIFYING_LONGEST: Duration = Duration::from_millis(64 * 20);

/// One run of a case: warm-up, window, drain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// Case to measure.
    pub case: Case,
    /// CPUs of all threads, on whichever host they run.
    pub placement: Placement,
    /// Durations of the trial, and readings during it.
    pub settings: Settings,
    /// Addresses of the two ends, if they are on two hosts.
    pub between: Option<Between>,
    /// Programs of the case, each with the name of its engine.
    pub programs: Vec<(EngineName, PathBuf)>,
    /// True if the datagrams are distinguishable and each one is checked: see [`Sample::verified`].
    pub verifies: bool,
}

impl TrialSpec {
    /// Describes a trial on one host, without verification.
    pub fn new(case: &Case, placement: &Placement, settings: &Settings) -> Self {
        Self {
            case: *case,
            placement: placement.clone(),
            settings: settings.clone(),
            between: None,
            programs: programs_of(case),
            verifies: false,
        }
    }

    /// Returns the engines of the case, which may be programs that this process did not know before.
    ///
    /// # Errors
    /// Fails if this build lacks one of the engines, or knows another one by the name of a program.
    pub(crate) fn engines(&self) -> anyhow::Result<Engines> {
        engines::exec::add_all(&self.programs).map_err(anyhow::Error::msg)?;
        engines::of(&self.case).map_err(anyhow::Error::msg)
    }

    /// Sets the addresses of the two ends, if they are on two hosts.
    pub fn over(self, wire: Option<&Wire>) -> Self {
        let link = wire.and_then(|wire| wire.link(&self.case));
        let between = link.map(|link| link.between(&self.case));
        Self { between, ..self }
    }

    /// Runs the trial for a short while with distinguishable datagrams: see [`Sample::verified`]. Repeats it with
    /// longer windows while nothing arrives.
    ///
    /// # Errors
    /// Returns the errors of `run`.
    pub fn verify<E>(&self, mut run: impl FnMut(&Self) -> Result<Sample, E>) -> Result<Sample, E> {
        const DATAGRAMS: f64 = 100.0;
        // Datagrams at a rate need some time until jitter settles.
        let gap_ns = self.case.gap_ns().unwrap_or_default() * self.case.flows_each() as f64;
        let most_s = VERIFYING_LONGEST.as_secs_f64();
        let settled = Duration::from_secs_f64((DATAGRAMS * gap_ns / 1e9).min(most_s));
        let mut spec = self.clone();
        spec.verifies = true;
        spec.settings.warmup = Duration::ZERO;
        spec.settings.window = VERIFYING.max(settled);
        loop {
            let sample = run(&spec)?;
            let is_empty = sample.verified.is_some_and(|found| found.packets == 0);
            if !is_empty || spec.settings.window >= VERIFYING_LONGEST {
                return Ok(sample);
            }
            // On a busy machine, a thread may not have had a turn yet.
            spec.settings.window *= 4;
        }
    }

    /// Returns the time from the start of the threads until the window closes.
    pub(crate) fn runs_for(&self) -> Duration {
        self.settings.warmup.saturating_add(self.settings.window)
    }

    /// Returns the address of the end with this part, then that of the other end. `None`: both are on one host.
    pub(crate) fn across(&self, part: EndRole) -> Option<(HostAddress, HostAddress)> {
        let between = self.between?;
        Some(match part {
            EndRole::Senders => (between.senders, between.receivers),
            EndRole::Receivers | EndRole::Both => (between.receivers, between.senders),
        })
    }
}

/// Returns the programs that this process knows by the names of the case's engines.
fn programs_of(case: &Case) -> Vec<(EngineName, PathBuf)> {
    let mut names = vec![case.sender, case.receiver];
    names.dedup();
    let path_of = |name: EngineName| engines::exec::find(name.as_str())?.executable;
    let programs = names.into_iter();
    let programs = programs.filter_map(|name| Some((name, path_of(name)?.to_owned())));
    programs.collect()
}

/// The bench threads of a case that run at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndRole {
    /// Senders and receivers.
    Both,
    /// The threads that receive.
    Receivers,
    /// The threads that send.
    Senders,
}

impl EndRole {
    /// Returns whether this part has senders.
    pub(crate) fn sends(self) -> bool {
        self != Self::Receivers
    }

    /// Returns whether this part has receivers.
    pub(crate) fn receives(self) -> bool {
        self != Self::Senders
    }
}

/// The datagrams of one sender, and the socket that receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Address of the sender.
    pub source: SocketAddr,
    /// Address that the sender sends to.
    pub peer: SocketAddr,
    /// Index of the receiving socket, from 0.
    pub receiver: usize,
}
