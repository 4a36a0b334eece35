//! Workloads, and the parameters that only some of them have.

use std::ops::RangeInclusive;

use super::bounded::{bounded, choice, text_form};

choice! {
    /// Task of the threads of a case.
    #[derive(Default)]
    Workload {
        /// Senders send as fast as they can, receivers take what comes.
        #[default]
        Flood "flood",
        /// Clients send requests, servers respond.
        Rr "rr",
        /// Flood in both directions at once, and beside it in one.
        Bidir "bidir",
    }
}

choice! {
    /// In how many directions a pair of sockets is flooded.
    #[derive(Default)]
    Duplex {
        /// In both at once: each socket has a thread that sends and one that receives.
        #[default]
        Full "full",
        /// In one.
        Half "half",
    }
}

/// Minimum size of a request, in bytes: the client's number and the request's number.
pub const LEAST_REQUEST_BYTES: usize = 8;

bounded! {
    /// Number of requests that a client keeps outstanding: 1 to [`Outstanding::MAX`].
    Outstanding(u16, "u16"), 1, Self::MAX, "use a number of requests from {} to {}"
}

impl Outstanding {
    /// Maximum: about four times the capacity of a receive buffer of the kernel's default size (212,992 B; a small
    /// datagram takes 832 B).
    pub const MAX: u16 = 1024;
    /// Default: each request waits for the response to the previous one.
    pub const DEFAULT: Self = Self(1);
}

bounded! {
    /// Number of flows of each thread that sends: 1 to [`Flows::MAX`].
    Flows(u16, "u16"), 1, Self::MAX, "use a number of flows from {} to {}"
}

impl Flows {
    /// Maximum. Each flow needs two sockets, each with a port: one sender finds this number of ports on loopback's
    /// first two addresses.
    pub const MAX: u16 = 30_000;
    /// Default: one flow per thread.
    pub const DEFAULT: Self = Self(1);
}

/// Distribution over time of requests, or datagrams, that are sent at a fixed rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arrivals {
    /// Each thread sends one at a time, at equal intervals.
    #[default]
    Even,
    /// Random: intervals are exponentially distributed.
    Poisson,
    /// Trains: each thread sends this number back to back, 2 to [`Arrivals::LONGEST_TRAIN`]. Trains begin at equal
    /// intervals.
    Train(u32),
}

impl Arrivals {
    /// Maximum length of a train, in datagrams. At the highest rates it lasts some seconds.
    pub const LONGEST_TRAIN: u32 = 10_000_000;
    const FIX: &str = "use even, poisson, or train2 to train10000000: so many at once";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "even" => Some(Self::Even),
            "poisson" => Some(Self::Poisson),
            _ => {
                let length = text.strip_prefix("train")?.parse().ok()?;
                let is_train = (2..=Self::LONGEST_TRAIN).contains(&length);
                is_train.then_some(Self::Train(length))
            }
        }
    }

    fn text(self) -> String {
        match self {
            Self::Even => "even".to_owned(),
            Self::Poisson => "poisson".to_owned(),
            Self::Train(length) => format!("train{length}"),
        }
    }
}

text_form!(Arrivals);

choice! {
    /// Who does what a server has to do before it answers.
    #[derive(Default)]
    ServerModel {
        /// The loop that receives, one request after the other: what is behind waits.
        #[default]
        Inline "inline",
        /// A pool of 64 threads, which answer themselves.
        Pool "pool",
        /// The threads that tokio has for what blocks (`spawn_blocking`), up to 512, which answer themselves.
        SpawnBlocking "spawn-blocking",
    }
}

impl ServerModel {
    /// Returns the maximum number of requests that are processed in parallel.
    pub fn at_a_time(self) -> usize {
        match self {
            Self::Inline => 1,
            Self::Pool => 64,
            Self::SpawnBlocking => 512,
        }
    }
}

/// Work of a server for each request before it responds: computing, such as `50us`, or sleeping, such as `sleep:1ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceTime {
    /// Duration, in nanoseconds.
    pub ns: u64,
    /// True if the server sleeps, like one that waits for a disk or a database. False: it computes.
    pub sleeps: bool,
}

impl ServiceTime {
    /// Maximum. A request that takes longer is given up: [`crate::workload::TIMEOUT_NS`].
    const MOST_NS: u64 = 200_000_000;
    const FIX: &str =
        "use a time from 1ns to 200ms, such as 50us, or sleep:1ms for one without computing";

    fn parse(text: &str) -> Option<Self> {
        let (sleeps, time) = match text.strip_prefix("sleep:") {
            Some(time) => (true, time),
            None => (false, text),
        };
        let ns = ns_of(time).filter(|ns| (1..=Self::MOST_NS).contains(ns))?;
        Some(Self { ns, sleeps })
    }

    fn text(self) -> String {
        let sleep = if self.sleeps { "sleep:" } else { "" };
        format!("{sleep}{}", text_of(self.ns))
    }
}

text_form!(ServiceTime);

/// Pause of a client between a response and its next request: 1us to 10s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThinkTime {
    /// Duration, in nanoseconds.
    pub ns: u64,
}

impl ThinkTime {
    const RANGE_NS: RangeInclusive<u64> = 1000..=10_000_000_000;
    const FIX: &str = "use a time from 1us to 10s, such as 500us or 20ms";

    fn parse(text: &str) -> Option<Self> {
        let ns = ns_of(text).filter(|ns| Self::RANGE_NS.contains(ns))?;
        Some(Self { ns })
    }

    fn text(self) -> String {
        text_of(self.ns)
    }
}

text_form!(ThinkTime);

const UNITS: [(&str, u64); 4] = [
    ("ns", 1),
    ("us", 1000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// Parses a whole number with a unit, such as `50us`, to nanoseconds.
pub(super) fn ns_of(text: &str) -> Option<u64> {
    UNITS.iter().find_map(|(unit, times)| {
        let digits = text.strip_suffix(unit)?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse::<u64>().ok().filter(|_| is_plain)?;
        number.checked_mul(*times)
    })
}

/// Formats a time in the largest unit that gives a whole number.
pub(super) fn text_of(ns: u64) -> String {
    let mut units = UNITS.iter().rev();
    let (unit, times) = units
        .find(|(_, times)| ns % times == 0)
        .expect("any time is a number of nanoseconds");
    format!("{}{unit}", ns / times)
}

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

    #[test]
    fn think_times_and_trains_are_understood_and_written_as_people_type_them() {
        for text in ["1us", "1500us", "20ms", "10s"] {
            let time = text.parse::<ThinkTime>().expect(text);
            assert_eq!(time.to_string(), text);
        }
        for text in ["999ns", "0s", "11s", "1", "s", "1.5ms"] {
            text.parse::<ThinkTime>().expect_err(text);
        }
        for text in ["even", "poisson", "train2", "train10000000"] {
            let arrivals = text.parse::<Arrivals>().expect(text);
            assert_eq!(arrivals.to_string(), text);
        }
        for text in ["", "train", "train1", "train10000001", "train-2", "trains"] {
            text.parse::<Arrivals>().expect_err(text);
        }
    }
}
