//! Cases of every registered engine.

use std::net::UdpSocket;

use udpbench::case::{Batch, Case, Connection, Ip, Payload};
use udpbench::engine::Entry;
use udpbench::engines;

/// The engines that this kernel can run.
pub fn built_and_runnable() -> impl Iterator<Item = &'static Entry> {
    engines::ALL.iter().filter(|entry| (entry.probe)().is_ok())
}

/// Every engine with itself or its partner, over every connection, ip and 1 to 4 threads, where one thread can do it.
pub fn matrix(payload: u32) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in built_and_runnable() {
        let (sender, receiver) = entry.pair();
        for connection in [Connection::Connected, Connection::Unconnected] {
            for ip in [Ip::V4, Ip::V6] {
                for threads in 1..=4 {
                    let possible = threads > 1 || entry.about.one_thread.is_ok();
                    let there = UdpSocket::bind((ip.loopback(), 0)).is_ok();
                    let fits = !sender.about.never_fragments
                        || ip == Ip::V4
                        || payload <= Payload::MAX_UNFRAGMENTED_V6;
                    if possible && there && fits {
                        cases.push(Case {
                            sender,
                            receiver,
                            threads: threads.try_into().expect("in range"),
                            payload: payload.try_into().expect("in range"),
                            connection,
                            ip,
                            batch: batch(sender, receiver),
                        });
                    }
                }
            }
        }
    }
    cases
}

/// What a pair of engines batches, if it does.
pub fn batch(sender: &Entry, receiver: &Entry) -> Option<Batch> {
    (sender.about.batches || receiver.about.batches).then_some(Batch::DEFAULT)
}
