//! Where every datagram between two hosts ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accounting::{MOST_IN_A_PIECE, WindowBooks, signed};
use super::axes::Direction;
use super::places::Places;
use crate::sys::nic::PathCounters;

/// The raw counts of one direction between two hosts, over a whole run: from the start of the threads until the queues
/// were empty. Counters of an interface cannot be read in the same instant as those of a program, so that its edges,
/// where nothing moves, are the only ones at which they agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// Up or down.
    pub direction: Direction,
    /// Datagrams that the sender's kernel took.
    pub sent: u64,
    /// Datagrams that the queueing discipline of its interface had no room for, as each call was told (`ENOBUFS`).
    pub refused: u64,
    /// Datagrams that were refused otherwise, or for a reason that was lost: one of several in a call (sendmmsg(2)), or
    /// one that a library keeps to itself.
    pub failed: u64,
    /// Datagrams that were received.
    pub received: u64,
    /// Found in the receive queues after the receivers had stopped.
    pub unread: u64,
    /// Dropped at a receiving socket.
    pub dropped_socket: u64,
    /// Whether several datagrams may have been in one piece when it was dropped at a socket, which the kernel counts as
    /// one (UDP_GRO).
    pub dropped_in_pieces: bool,
    /// The same of what was dropped on the way (UDP_SEGMENT).
    pub sent_in_pieces: bool,
    /// By how much the counters of the sender's host grew. Other traffic moves them, too.
    pub at_sender: PathCounters,
    /// By how much those of the receiver's host grew.
    pub at_receiver: PathCounters,
    /// What the sender's machine dropped meanwhile, by the kernel's reasons, where it was asked. Other traffic is among it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons_at_sender: BTreeMap<String, u64>,
    /// The same of the receiver's machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons_at_receiver: BTreeMap<String, u64>,
}

/// What is still to be explained.
struct Missing {
    left: u64,
    /// Datagrams in each piece that a counter counts, at most.
    each: u64,
}

impl Missing {
    /// As far as `counted` can explain it. A counter that is not ours alone explains no more than there is to explain.
    fn take(&mut self, counted: u64) -> u64 {
        let taken = counted.saturating_mul(self.each).min(self.left);
        self.left -= taken;
        taken
    }
}

impl Path {
    /// Sends that failed and that the queueing discipline has counted.
    fn refused_without_a_word(&self) -> u64 {
        let unsaid = self.at_sender.qdisc_drops.saturating_sub(self.refused);
        self.failed.min(unsaid)
    }

    /// Datagrams that were refused for another reason than want of room.
    pub fn failed_otherwise(&self) -> u64 {
        self.failed - self.refused_without_a_word()
    }

    /// Closes the books. What was refused counts as sent, for whatever reason: the program had handed it over.
    pub fn books(&self) -> WindowBooks {
        // Of all counters, that of a socket is ours alone.
        let whole = if self.dropped_in_pieces {
            0
        } else {
            self.dropped_socket
        };
        let known = self.received + self.unread + whole;
        let mut missing = Missing {
            left: self.sent.saturating_sub(known),
            each: if self.sent_in_pieces {
                MOST_IN_A_PIECE
            } else {
                1
            },
        };
        let (out, into) = (&self.at_sender, &self.at_receiver);
        // The discipline counts what it refused, too.
        let refused = self.refused + self.refused_without_a_word();
        let silent = out.qdisc_drops.saturating_sub(refused);
        // The surest first: a veth counts as dropped on the way out what the backlog at its other end refused.
        let mut places = Places {
            qdisc: refused + missing.take(silent),
            backlog: missing.take(into.backlog_drops),
            protocol: missing.take(into.ip_in_discards + into.udp_no_ports + into.udp_in_errors),
            nic_in: missing.take(into.filter_drops + into.nic_in_drops),
            nic_out: missing.take(out.nic_out_drops),
            surplus: known.saturating_sub(self.sent),
            path: 0,
        };
        missing.each = MOST_IN_A_PIECE;
        let dropped_socket = whole + missing.take(self.dropped_socket - whole);
        places.path = missing.left;
        let failed = self.failed_otherwise();
        let sent = self.sent + refused + failed;
        let lost: u64 = places.lost().iter().map(|(_, packets)| packets).sum();
        let explained = self.received + self.unread + failed + dropped_socket + lost;
        WindowBooks {
            sent,
            refused: failed,
            received: self.received,
            unread: self.unread,
            dropped_socket,
            dropped_kernel: 0,
            unaccounted: signed(sent + places.surplus) - signed(explained),
            places,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path() -> Path {
        Path {
            direction: Direction::Up,
            sent: 1000,
            refused: 0,
            failed: 0,
            received: 1000,
            unread: 0,
            dropped_socket: 0,
            dropped_in_pieces: false,
            sent_in_pieces: false,
            at_sender: PathCounters::default(),
            at_receiver: PathCounters::default(),
            reasons_at_sender: BTreeMap::new(),
            reasons_at_receiver: BTreeMap::new(),
        }
    }

    #[test]
    fn each_loss_is_in_the_place_that_counted_it_and_the_rest_is_the_paths() {
        let books = Path {
            refused: 50,
            failed: 4,
            received: 900,
            dropped_socket: 20,
            at_sender: PathCounters {
                // Those that were refused among them.
                qdisc_drops: 59,
                nic_out_drops: 6,
                ..PathCounters::default()
            },
            at_receiver: PathCounters {
                nic_in_drops: 7,
                backlog_drops: 8,
                udp_no_ports: 9,
                ..PathCounters::default()
            },
            ..path()
        }
        .books();
        let places = Places {
            qdisc: 59,
            nic_out: 6,
            path: 45,
            nic_in: 7,
            backlog: 8,
            protocol: 9,
            surplus: 0,
        };
        assert_eq!((books.sent, books.dropped_socket), (1054, 20));
        assert_eq!((books.places, books.unaccounted), (places, 0));
    }

    #[test]
    fn what_other_traffic_counted_explains_no_more_than_is_missing() {
        let at_receiver = PathCounters {
            nic_in_drops: 100,
            udp_no_ports: 100,
            ..PathCounters::default()
        };
        let books = Path {
            received: 997,
            at_receiver,
            ..path()
        }
        .books();
        assert_eq!((books.places.protocol, books.places.nic_in), (3, 0));
        assert_eq!((books.places.path, books.unaccounted), (0, 0));
    }

    #[test]
    fn what_came_twice_is_a_surplus() {
        let books = Path {
            received: 1004,
            dropped_socket: 3,
            ..path()
        }
        .books();
        assert_eq!((books.places.surplus, books.dropped_socket), (7, 3));
        assert_eq!(books.unaccounted, 0);
    }

    #[test]
    fn pieces_that_were_dropped_at_a_socket_may_have_been_of_any_size() {
        let books = Path {
            received: 900,
            dropped_socket: 3,
            dropped_in_pieces: true,
            sent_in_pieces: true,
            ..path()
        }
        .books();
        assert_eq!((books.dropped_socket, books.places.path), (100, 0));
    }

    proptest! {
        #[test]
        fn books_always_close(
            counts in [0_u64..1000, 0..1000, 0..1000, 0..1000, 0..1000, 0..1000],
            counters in [0_u64..100, 0..100, 0..100, 0..100, 0..100],
            pieces in [any::<bool>(), any::<bool>()],
        ) {
            let [sent, refused, failed, received, unread, dropped_socket] = counts;
            let [qdisc_drops, nic_out_drops, nic_in_drops, backlog_drops, udp_no_ports] = counters;
            let [dropped_in_pieces, sent_in_pieces] = pieces;
            let at = PathCounters {
                qdisc_drops,
                nic_out_drops,
                nic_in_drops,
                backlog_drops,
                udp_no_ports,
                ..PathCounters::default()
            };
            let path = Path {
                sent,
                refused,
                failed,
                received,
                unread,
                dropped_socket,
                dropped_in_pieces,
                sent_in_pieces,
                at_sender: at,
                at_receiver: at,
                ..path()
            };
            prop_assert_eq!(path.books().unaccounted, 0);
        }
    }
}
