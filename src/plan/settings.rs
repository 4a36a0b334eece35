//! Settings of a window, and the model of the time that its trial takes: warm-up, window, and the waits around them.
//! During a run, the time left is also estimated from what trials have taken.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::data::Case;
use crate::sys::files::Root;
use crate::text::duration::ns;
#[cfg(feature = "calibration")]
use crate::workload::delay::Delay;

/// Time after which nothing will move any more between two hosts, also with empty queues here: datagrams that the path
/// lost look like datagrams in flight. Longer than the queues of interfaces and switches hold datagrams. Every trial
/// between two hosts waits for it.
pub const QUIET_ON_A_PATH: Duration = Duration::from_millis(200);
/// Window of a verification: long enough for every buffer of a batch and every turn of a ring.
pub const VERIFYING: Duration = Duration::from_millis(20);
/// Round trips one after the other in a trial between two hosts: the requests in the table of
/// `trial/messages/message.rs`, and two probes of each flow.
const ROUND_TRIPS_ON_A_PATH: u32 = 9;
/// Time of a trial for sockets, threads, queues that are soon empty, and the final accounting.
const SOCKETS_AND_THREADS: Duration = Duration::from_millis(5);
/// Time until a new process has replaced an agent.
const NEW_PROCESS: Duration = Duration::from_millis(10);

/// Settings that every window of a sweep shares.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Settings {
    /// Time between the start of the threads and the opening of the window.
    #[serde(rename = "warmup_ns", with = "ns")]
    pub warmup: Duration,
    /// Length of a window.
    #[serde(rename = "window_ns", with = "ns")]
    pub window: Duration,
    /// True if the kernels are asked why they drop packets.
    pub drop_reasons: bool,
    /// Meter of the machine's power. `None`: it is not metered.
    pub meter: Option<Meter>,
    /// Root of the file system that sensors are read from.
    #[serde(skip, default)]
    pub root: Root,
    /// Time of a request to the other host, with its answer. Zero on one host, and if it is unknown.
    #[serde(skip, default)]
    pub request_time: Duration,
    /// Artificial delay of the senders, to check that comparisons find it.
    #[cfg(feature = "calibration")]
    pub delay: Option<Delay>,
}

/// Meter of the power of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// A sensor of the machine, by its name.
    Sensor(String),
    /// A command for a shell, which prints watts.
    Command(String),
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sensor(name) => f.write_str(name),
            Self::Command(_) => f.write_str("--power-command"),
        }
    }
}

impl Settings {
    /// Estimates how long one trial on one host takes, with everything that belongs to it.
    pub fn time_per_window(&self) -> Duration {
        self.traffic().saturating_add(self.time_on_one_host())
    }

    /// Estimates how long one trial of a case takes, with everything that belongs to it.
    pub fn time_of(&self, case: &Case) -> Duration {
        self.traffic().saturating_add(self.time_around(case))
    }

    /// Estimates the time of a trial of a case outside its warm-up and window.
    pub fn time_around(&self, case: &Case) -> Duration {
        if case.direction.is_none() {
            return self.time_on_one_host();
        }
        SOCKETS_AND_THREADS + QUIET_ON_A_PATH + self.request_time * ROUND_TRIPS_ON_A_PATH
    }

    /// Estimates the time until new processes have replaced the agents.
    pub fn time_of_restart(&self) -> Duration {
        NEW_PROCESS + self.request_time
    }

    fn time_on_one_host(&self) -> Duration {
        SOCKETS_AND_THREADS + self.request_time
    }

    fn traffic(&self) -> Duration {
        self.warmup.saturating_add(self.window)
    }
}
