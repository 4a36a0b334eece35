//! What is to be run: plain data, that means the same to another process.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::data::{Case, HostAddress, Sample};
use crate::host::placement::Placement;
use crate::plan::{Between, Settings};

/// How long datagrams are verified: enough for every buffer of a batch and every turn of a ring.
const VERIFYING: Duration = Duration::from_millis(20);
/// The same where nothing came in less.
const VERIFYING_LONGEST: Duration = Duration::from_millis(64 * 20);

/// One run of a case: warm-up, window, drain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// What is measured.
    pub case: Case,
    /// The CPUs of all threads, wherever they run.
    pub placement: Placement,
    /// How long, and what is looked at meanwhile.
    pub settings: Settings,
    /// The addresses of its two halves, if they are on two hosts.
    pub between: Option<Between>,
    /// Whether each datagram is told apart from the others and looked at: see [`Sample::verified`].
    pub verifies: bool,
}

impl TrialSpec {
    /// Of a case whose datagrams are not looked at, on one host.
    pub fn new(case: &Case, placement: &Placement, settings: &Settings) -> Self {
        Self {
            case: *case,
            placement: placement.clone(),
            settings: settings.clone(),
            between: None,
            verifies: false,
        }
    }

    /// The same with its halves at these addresses, if there are any.
    pub fn between(self, between: Option<Between>) -> Self {
        Self { between, ..self }
    }

    /// Has it run for a short while with datagrams that can be told apart: see [`Sample::verified`]. Where nothing came, for
    /// longer.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn verify<E>(&self, mut run: impl FnMut(&Self) -> Result<Sample, E>) -> Result<Sample, E> {
        const DATAGRAMS: f64 = 100.0;
        // Where they go at a rate, jitter is to settle.
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
            // On a busy machine, a thread may have had no turn.
            spec.settings.window *= 4;
        }
    }

    /// From the start of the threads until the window closes.
    pub(super) fn runs_for(&self) -> Duration {
        self.settings.warmup.saturating_add(self.settings.window)
    }

    /// The address of the end that has this part, and the other one's; `None`: both are on one host.
    pub(super) fn across(&self, part: Part) -> Option<(HostAddress, HostAddress)> {
        let between = self.between?;
        Some(match part {
            Part::Senders => (between.senders, between.receivers),
            Part::Receivers | Part::Both => (between.receivers, between.senders),
        })
    }
}

/// Which threads of a case an end runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them.
    Both,
    /// Those that receive.
    Receivers,
    /// Those that send.
    Senders,
}

impl Part {
    /// Whether it has senders.
    pub(super) fn sends(self) -> bool {
        self != Self::Receivers
    }

    /// Whether it has receivers.
    pub(super) fn receives(self) -> bool {
        self != Self::Senders
    }
}

/// A sender's datagrams, and where they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The sender's address.
    pub source: SocketAddr,
    /// The address that it sends to.
    pub peer: SocketAddr,
    /// The receiving socket that gets them, from 0.
    pub receiver: usize,
}
