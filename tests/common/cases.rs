//! Cases of every registered engine.

use std::net::UdpSocket;

use udpbench::data::{Batch, Case, Connection, Ip, Payload, Sharing, Threads, Workers};
use udpbench::engines::{self, Entry};

/// The engines that this kernel can run.
pub fn built_and_runnable() -> impl Iterator<Item = &'static Entry> {
    engines::ALL.iter().filter(|entry| entry.probe().is_ok())
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
                        let case = Case {
                            connection,
                            ip,
                            ..case(sender, receiver, threads, payload)
                        };
                        cases.push(case);
                        cases.extend(on_workers(&case));
                    }
                }
            }
        }
    }
    cases
}

/// A case on connected IPv4 sockets that are made as always.
pub fn case(sender: &'static Entry, receiver: &'static Entry, threads: u16, payload: u32) -> Case {
    let threads: Threads = threads.try_into().expect("in range");
    let batches = sender.about.sends_batches || receiver.about.receives_batches;
    Case {
        sender: sender.name(),
        receiver: receiver.name(),
        threads,
        payload: payload.try_into().expect("in range"),
        connection: Connection::Connected,
        ip: Ip::V4,
        batch: batches.then_some(Batch::DEFAULT),
        tokio_workers: None,
        rcvbuf: (1 << 20).try_into().expect("in range"),
        sndbuf: None,
        sharing: (threads.receivers() > 1).then_some(Sharing::DEFAULT),
    }
}

/// The senders' engine and the receivers'.
pub fn engines_of(case: &Case) -> (&'static Entry, &'static Entry) {
    engines::of(case).expect("of this build")
}

/// The same case on shared workers, if its engines can: one for each lane, as some give way to no other.
pub fn on_workers(case: &Case) -> Option<Case> {
    let workers = Workers::try_from(u16::from(case.threads).max(2)).ok();
    let (sender, receiver) = engines_of(case);
    let shares = sender.about.shares_workers || receiver.about.shares_workers;
    shares.then_some(Case {
        tokio_workers: workers,
        ..*case
    })
}
