//! What the threads of a case do, and the parameters that only some workloads have.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounded::{bounded, choice, stored_as_text};

choice! {
    /// What the threads of a case do.
    #[derive(Default)]
    Workload {
        /// Senders send as fast as they can, receivers take what comes.
        #[default]
        Flood,
        /// Clients ask, servers answer: how soon?
        Ask,
        /// Flood in both directions at once, and beside it in one.
        Duplex,
    }
}

choice! {
    /// In how many directions a pair of sockets is flooded.
    #[derive(Default)]
    Duplex {
        /// In both at once: each socket has a thread that sends and one that receives.
        #[default]
        Full,
        /// In one.
        Half,
    }
}

/// What a request must hold at least, in bytes: the numbers of its client and its own.
pub const LEAST_REQUEST_BYTES: usize = 8;

bounded! {
    /// Requests that a client has outstanding at a time: 1 to [`Outstanding::MAX`].
    Outstanding(u16, "u16"), 1, Self::MAX, "use a number of requests from {} to {}"
}

impl Outstanding {
    /// Four times what a receive buffer of the kernel's default size holds: 212,992 B, of which a small datagram takes
    /// 832.
    pub const MAX: u16 = 1024;
    /// Each request waits for the answer to the one before.
    pub const DEFAULT: Self = Self(1);

    /// How many.
    pub fn count(self) -> usize {
        usize::from(self.0)
    }
}

bounded! {
    /// Flows of each thread that sends: 1 to [`Flows::MAX`].
    Flows(u16, "u16"), 1, Self::MAX, "use a number of flows from {} to {}"
}

impl Flows {
    /// Two sockets for each of them, at a port each: as many as one sender finds on loopback's first two addresses.
    pub const MAX: u16 = 30_000;
    /// One socket for each thread.
    pub const DEFAULT: Self = Self(1);

    /// How many.
    pub fn count(self) -> usize {
        usize::from(self.0)
    }
}

choice! {
    /// How requests, or datagrams, that are sent at a rate are spread over time.
    #[derive(Default)]
    Arrivals {
        /// Each thread sends one after the other at equal distances.
        #[default]
        Even,
        /// At random: distances are exponentially distributed.
        Poisson,
    }
}

choice! {
    /// Who does what a server has to do before it answers.
    #[derive(Default)]
    ServerModel {
        /// The loop that receives, one request after the other: what is behind waits.
        #[default]
        Inline,
        /// A pool of 64 threads, which answer themselves.
        Pool,
        /// The threads that tokio has for what blocks (`spawn_blocking`), up to 512, which answer themselves.
        SpawnBlocking,
    }
}

impl ServerModel {
    /// How many requests are worked on at a time.
    pub fn at_a_time(self) -> usize {
        match self {
            Self::Inline => 1,
            Self::Pool => 64,
            Self::SpawnBlocking => 512,
        }
    }
}

/// What a server does before it answers, for each request: `50us` of computing, or `sleep:1ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub struct ServiceTime {
    /// How long, in nanoseconds.
    pub ns: u64,
    /// Whether it sleeps, as one that waits for a disk or a database, and does not compute.
    pub sleeps: bool,
}

impl ServiceTime {
    const UNITS: [(&'static str, u64); 3] = [("ns", 1), ("us", 1000), ("ms", 1_000_000)];
    /// A request that takes longer is given up: [`crate::workload::TIMEOUT_NS`].
    const MOST_NS: u64 = 200_000_000;
}

impl FromStr for ServiceTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (sleeps, time) = match text.strip_prefix("sleep:") {
            Some(time) => (true, time),
            None => (false, text),
        };
        let ns = Self::UNITS.iter().find_map(|(unit, times)| {
            let digits = time.strip_suffix(unit)?;
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.parse::<u64>().ok().filter(|_| is_plain)?;
            number.checked_mul(*times)
        });
        let ns = ns.filter(|ns| (1..=Self::MOST_NS).contains(ns));
        let fix =
            "use a time from 1ns to 200ms, such as 50us, or sleep:1ms for one without computing";
        Ok(Self {
            ns: ns.ok_or(fix)?,
            sleeps,
        })
    }
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = Self::UNITS.iter().rev();
        let (unit, times) = units
            .find(|(_, times)| self.ns % times == 0)
            .expect("any time is a number of nanoseconds");
        let sleep = if self.sleeps { "sleep:" } else { "" };
        write!(f, "{sleep}{}{unit}", self.ns / times)
    }
}

stored_as_text!(ServiceTime);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_times_are_understood_and_written_as_people_type_them() {
        for text in ["1ns", "1500ns", "50us", "sleep:1ms", "200ms", "sleep:1us"] {
            let time = text.parse::<ServiceTime>().expect(text);
            assert_eq!(time.to_string(), text);
        }
        let same = |one: &str, other: &str| one.parse::<ServiceTime>() == other.parse();
        assert!(same("1000us", "1ms") && !same("sleep:1ms", "1ms"));
        for text in [
            "",
            "0us",
            "5",
            "us",
            "11s",
            "-1us",
            "1.5us",
            "sleep:",
            "+1us",
            "sleep 1ms",
        ] {
            text.parse::<ServiceTime>().expect_err(text);
        }
    }
}
