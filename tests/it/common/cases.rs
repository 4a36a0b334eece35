//! Cases of every registered engine, and functions that run them in this process.

use std::net::UdpSocket;

use udpbench::data::{Batch, Case, Connection, Ip, Payload, Sample, Wait, Workers};
use udpbench::engines::{self, Entry};
use udpbench::host::placement::Placement;
use udpbench::plan::Settings;
use udpbench::trial::local::LocalTrials;
use udpbench::trial::spec::TrialSpec;

/// Runs a window of a case in this process, without pinning.
pub fn window(case: &Case, settings: &Settings) -> Sample {
    let (key, mut trials) = (case.key(), LocalTrials::new(&settings.root, None));
    trials.run(&spec(case, settings)).expect(&key)
}

/// Runs a window of a case in this process and verifies every datagram.
pub fn verify(case: &Case, settings: &Settings) -> Sample {
    let (key, mut trials) = (case.key(), LocalTrials::new(&settings.root, None));
    let verified = spec(case, settings).verify(|spec| trials.run(spec));
    verified.expect(&key)
}

fn spec(case: &Case, settings: &Settings) -> TrialSpec {
    TrialSpec::new(case, &Placement::unpinned(case.threads), settings)
}

/// Returns the engines under test that this kernel can run.
pub fn built_and_runnable() -> impl Iterator<Item = &'static Entry> {
    crate::engines_under_test().filter(|entry| entry.probe().is_ok())
}

/// Returns cases of every engine under test with itself or its partner, over every connection, IP version and 1 to 4
/// threads. One thread only if the engine can use one.
pub fn matrix(payload: u32) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in built_and_runnable() {
        let (sender, receiver) = entry.pair();
        for connection in [Connection::Connected, Connection::Unconnected] {
            for ip in [Ip::V4, Ip::V6] {
                for threads in 1..=4 {
                    let possible = threads > 1 || entry.about.one_thread.is_ok();
                    let has_loopback = UdpSocket::bind((ip.loopback(), 0)).is_ok();
                    let fits = !sender.about.never_fragments
                        || ip == Ip::V4
                        || payload <= Payload::MAX_UNFRAGMENTED_V6;
                    if possible && has_loopback && fits {
                        let case = Case {
                            connection,
                            ip,
                            ..case(sender, receiver, threads, payload)
                        };
                        cases.push(case);
                        cases.extend(on_workers(&case));
                        cases.extend(spinning(&case));
                    }
                }
            }
        }
    }
    cases
}

/// Returns a case on connected IPv4 sockets with default values.
pub fn case(sender: &'static Entry, receiver: &'static Entry, threads: u16, payload: u32) -> Case {
    let key = format!("{sender}:{receiver}/{threads}t/{payload}B/connected/v4/rcvbuf1048576");
    let case = Case::of_key(&key).expect("the key of a case");
    let batches = sender.about.sends_batches || receiver.about.receives_batches;
    Case {
        batch: batches.then_some(Batch::DEFAULT),
        ..case
    }
}

/// Returns the engines of the senders and of the receivers.
pub fn engines_of(case: &Case) -> (&'static Entry, &'static Entry) {
    engines::of(case).expect("of this build")
}

/// Returns the case with receivers that spin, if its receiving engine can.
pub fn spinning(case: &Case) -> Option<Case> {
    let (_, receiver) = engines_of(case);
    receiver.about.can_spin.then_some(Case {
        wait: Some(Wait::Spin),
        ..*case
    })
}

/// Returns the case on shared workers, if its engines can use them. Each thread has a worker, since some engines never
/// yield.
pub fn on_workers(case: &Case) -> Option<Case> {
    let workers = Workers::try_from(u16::from(case.threads).max(2)).ok();
    let (sender, receiver) = engines_of(case);
    let shares = sender.about.shares_workers || receiver.about.shares_workers;
    shares.then_some(Case {
        tokio_workers: workers,
        ..*case
    })
}
