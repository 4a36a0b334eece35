//! First line of the log of a search: what to search for.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::axis::AxisQuestion;
use super::load_search;
use super::loads::Goal;
use crate::data::{Case, Direction, Ip};
use crate::host::facts::{Interface, InterfaceKind};
use crate::plan::{Plan, Settings, Wire};
use crate::results::log::{Event, Kind, Run};
use crate::results::row::Environment;
use crate::text::duration::ns;

/// Question of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchQuestion {
    /// Highest rate without loss.
    Lossless(LosslessQuestion),
    /// Value of a parameter from which on something changes.
    Axis(AxisQuestion),
    /// Longest train of datagrams that arrives whole.
    Burst(BurstQuestion),
}

/// Question of a search for rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LosslessQuestion {
    /// Share of the datagrams of a trial that may be lost, in percent.
    pub goal_pct: f64,
    /// Share of the trials in which more may be lost, in percent.
    pub exceed_pct: f64,
    /// Length from which on a trial counts in full.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Required sum of the lengths of the trials at a bound.
    #[serde(rename = "sum_ns", with = "ns")]
    pub sum: Duration,
    /// Required distance of the bounds, in percent of the upper one.
    pub width_pct: f64,
    /// Sum of the pauses between the rechecks of both bounds. Zero: there are no rechecks.
    #[serde(rename = "recheck_ns", with = "ns")]
    pub recheck: Duration,
}

/// Question of a search for trains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstQuestion {
    /// Time from the beginning of a train to the beginning of the next one.
    #[serde(rename = "pause_ns", with = "ns")]
    pub pause: Duration,
    /// Length from which on a trial counts in full: several trains.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Required sum of the lengths of the trials at a bound.
    #[serde(rename = "sum_ns", with = "ns")]
    pub sum: Duration,
    /// Required distance of the bounds, in percent of the upper one.
    pub width_pct: f64,
}

/// Longest pause before a recheck. Ten rechecks within a minute see both of two capacities that last for 25 s each in
/// 19 of 20 simulated searches, a single one after half a minute in 12 of 20.
const EVERY: Duration = Duration::from_secs(6);
/// Number of trials in which the length of trains doubles from one datagram to the buffer capacity.
const FEW_TRAINS: u32 = 12;

impl SearchQuestion {
    /// Estimates the time of this many searches. Each trial takes `overhead` in addition to its window.
    pub fn expected_time(&self, searches: u32, overhead: Duration) -> Duration {
        // While one search pauses, others go on.
        let mut pauses = Duration::ZERO;
        let (trials, windows) = match self {
            Self::Lossless(asked) => {
                if searches > 0 {
                    pauses = asked.recheck;
                }
                let (trials, windows) = load_search::expected(asked.trial, asked.sum);
                // At both bounds.
                let again = 2 * asked.rechecks();
                (trials + again, windows + asked.trial * again)
            }
            Self::Axis(asked) => asked.expected(),
            Self::Burst(asked) => {
                let (trials, windows) = load_search::expected(asked.trial, asked.sum);
                (trials + FEW_TRAINS, windows + asked.pause * FEW_TRAINS)
            }
        };
        (windows + overhead.saturating_mul(trials)).saturating_mul(searches) + pauses
    }
}

impl LosslessQuestion {
    /// Returns the number of rechecks of both bounds.
    pub(super) fn rechecks(&self) -> u32 {
        let rechecks = self.recheck.as_millis().div_ceil(EVERY.as_millis());
        u32::try_from(rechecks).unwrap_or(u32::MAX)
    }

    pub(super) fn goal(&self) -> Goal {
        Goal {
            loss: self.goal_pct / 100.0,
            exceed: self.exceed_pct / 100.0,
            trial_s: self.trial.as_secs_f64(),
            sum_s: self.sum.as_secs_f64(),
            width: self.width_pct / 100.0,
        }
    }
}

impl BurstQuestion {
    /// Returns the goal: at most half of the trials lose anything.
    pub(super) fn goal(&self) -> Goal {
        Goal {
            loss: 0.0,
            exceed: 0.5,
            trial_s: self.trial.as_secs_f64(),
            sum_s: self.sum.as_secs_f64(),
            width: self.width_pct / 100.0,
        }
    }
}

/// First line of the log: what to search for, and on which machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FindHeader {
    /// Circumstances of the run.
    #[serde(flatten)]
    pub run: Run,
    /// Question of the searches.
    pub question: SearchQuestion,
    /// Time limit for each case.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
    /// Settings of the trials. Each trial has its own window instead.
    pub settings: Settings,
    /// Cases to search.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// Memory of a datagram in the receive buffer of a socket on loopback, in bytes, by its payload in bytes. Filled
    /// by a search for trains, else empty.
    pub truesizes: BTreeMap<u32, u32>,
    /// Remote host and its links. Absent: all threads are on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

impl FindHeader {
    /// Returns a CPU that both ends of a case share. `None`: they share none, or are on two machines.
    pub(super) fn shared_cpu(&self, case: &Case) -> Option<usize> {
        let mut planned = self.plan.cases();
        let planned = planned.find(|planned| planned.case == *case)?;
        planned.shared_cpu(self.wire.as_ref())
    }

    /// Returns a time limit of a case that should do if that of the header did not: twice the expected time or more,
    /// in whole minutes or steps of 10 s.
    pub fn enough_time(&self) -> Duration {
        let expected = self.question.expected_time(1, self.trial_overhead());
        let seconds = 2 * expected.max(self.max_time).as_secs().max(1);
        let step = if seconds > 60 { 60 } else { 10 };
        Duration::from_secs(seconds.next_multiple_of(step))
    }

    /// Estimates the time of a trial outside its window. Each one has new processes.
    pub(super) fn trial_overhead(&self) -> Duration {
        let settings = &self.settings;
        let first = self.plan.cases().next();
        let around = first.map(|it| settings.time_around(&it.case));
        settings.warmup + settings.time_of_restart() + around.unwrap_or_default()
    }

    /// Returns how many datagrams of a case fit if nobody takes any out: into a token bucket at the sender's interface,
    /// and into a receive buffer. `rcvbuf_bytes` counts the buffer in the kernel's way. The smaller known capacity
    /// counts. `None`: neither is known.
    pub(super) fn buffer_capacity(&self, case: &Case, rcvbuf_bytes: Option<u64>) -> Option<u64> {
        let link = self.wire.as_ref().and_then(|wire| wire.link(case));
        let ends = link.map(|link| [&link.local.interface, &link.remote.interface]);
        let ends = ends.map(|[local, remote]| match case.direction {
            Some(Direction::Down) => [remote, local],
            _ => [local, remote],
        });
        let headers = match case.ip {
            Ip::V4 => 14 + 20 + 8,
            Ip::V6 => 14 + 40 + 8,
        };
        let payload = u32::from(case.payload);
        let bucket = ends.and_then(|[sends, _]| sends.token_bucket);
        let in_bucket = bucket.map(|bucket| bucket.frames(payload + headers));
        // Other drivers may take more memory for a datagram than loopback does.
        let is_plain = |[_, receives]: [&Interface; 2]| receives.kind == InterfaceKind::Veth;
        let is_known = self.wire.is_none() || ends.is_some_and(is_plain);
        let truesize = self.truesizes.get(&payload).filter(|_| is_known);
        // Some kernels accept one more datagram while the buffer is not full (`__udp_enqueue_schedule_skb`).
        let in_socket = truesize.zip(rcvbuf_bytes);
        let in_socket = in_socket.map(|(truesize, bytes)| bytes / u64::from(*truesize).max(1));
        in_bucket.into_iter().chain(in_socket).min()
    }
}

impl Kind for FindHeader {
    type Event = Event;
    const NAME: &'static str = "find";
    const WHAT: &'static str = "a log of udpbench find";

    fn impossible(event: &Event) -> Option<String> {
        event.impossible()
    }
}
