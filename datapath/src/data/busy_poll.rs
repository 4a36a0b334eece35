//! Busy polling of sockets that receive: the parameter, and what was found to poll.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::bounded::{choice, text_form};
use super::workload::{ns_of, text_of};

/// Time for which a receive asks the interface itself for packets before it sleeps: `off`, or 1us to 10ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BusyPoll {
    /// Time in microseconds. 0: off.
    pub us: u16,
}

impl BusyPoll {
    /// Default: receives sleep until an interrupt.
    pub const OFF: Self = Self { us: 0 };
    const MOST_US: u16 = 10_000;
    const FIX: &str = "use off, or a time from 1us to 10ms, such as 50us";

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self::OFF);
        }
        let ns = ns_of(text).filter(|ns| ns % 1000 == 0)?;
        let us = u16::try_from(ns / 1000).ok()?;
        (1..=Self::MOST_US).contains(&us).then_some(Self { us })
    }

    fn text(self) -> String {
        match self {
            Self::OFF => "off".to_owned(),
            Self { us } => text_of(u64::from(us) * 1000),
        }
    }
}

text_form!(BusyPoll);

choice! {
    /// Poller of a receiver.
    PolledBy {
        /// The socket, in each call that receives (SO_BUSY_POLL).
        Socket "socket",
        /// The epoll instance that waits for the socket (EPIOCSPARAMS).
        Epoll "epoll",
        /// The io_uring that receives (IORING_REGISTER_NAPI).
        Uring "uring",
    }
}

/// Pollers found after the window of a case with busy polling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyPolled {
    /// Pollers whose time, read back, was the one asked for.
    pub by: BTreeSet<PolledBy>,
    /// Sockets that received.
    pub sockets: u32,
    /// Sockets of these whose last datagram came from a NAPI, so that there was something to poll.
    pub napi_sockets: u32,
}

impl BusyPolled {
    /// Adds what was found at the other end.
    pub fn add(&mut self, other: &Self) {
        self.by.extend(&other.by);
        self.sockets += other.sockets;
        self.napi_sockets += other.napi_sockets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_understood_and_written_as_people_type_them() {
        for text in ["off", "1us", "50us", "1500us", "10ms"] {
            let poll = text.parse::<BusyPoll>().expect(text);
            assert_eq!(poll.to_string(), text);
        }
        for text in [
            "", "0us", "on", "50", "999ns", "1500ns", "11ms", "1s", "-1us",
        ] {
            let fix = text.parse::<BusyPoll>().expect_err(text);
            assert!(fix.contains("1us to 10ms"), "{fix}");
        }
    }
}
