//! Evaluates a trial at a given rate: its loss, and the places that it was lost at.

use crate::data::{Sample, Side, ThreadSample};
use crate::results::row::share_of_one;
use crate::text::digits::whole;

/// Share of a window from which on a thread that ran or was runnable counts as busy. A busy thread could do no more.
const BUSY: f64 = 0.9;
/// Share of the datagrams due in a window that may be missing at its end. A thread that is less behind was only
/// delayed, and would have caught up.
const BEHIND: f64 = 0.005;

/// Share of a window that other programs may take from a thread's CPU. Beyond it, the thread falls behind by the same
/// share at any speed.
const DISTURBED: f64 = 0.01;

/// CPUs that can be the limiting place: of the initiating threads, and of the threads that receive from them. The
/// first row is for datagrams, the second for requests.
const CPUS: [[&str; 2]; 2] = [
    ["sender's CPU", "receiver's CPU"],
    ["client's CPU", "server's CPU"],
];

/// Outcome of a trial at a given rate.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// Share of the datagrams due that did not arrive, or not in time: 0 to 1.
    pub loss: f64,
    /// Datagrams that did not arrive or were never sent, by the place that was the reason.
    pub places: Vec<(&'static str, u64)>,
    /// CPU time per datagram or request, in nanoseconds: of the initiating threads, and of the threads that receive
    /// from them. `None`: unknown.
    pub cpu_ns: [Option<f64>; 2],
    /// True if another program took the CPU of a thread for long enough to make the thread fall behind.
    pub is_disturbed: bool,
}

impl TrialOutcome {
    /// Evaluates a trial in which `due` datagrams or requests were due. That number may be off by `by_chance`.
    ///
    /// A queue that grows during a window overflows in a longer window. So the growth counts as loss.
    pub fn of(sample: &Sample, due: f64, by_chance: f64) -> Self {
        let account = sample.account();
        let mut loss = match &sample.round_trips {
            // A late response counts as no response.
            Some(trips) => share(trips.unanswered, trips.unanswered + trips.times.count()),
            // Duplicates may hide any number of lost datagrams.
            None if account.places.surplus > 0 => 1.0,
            None => share(account.lost(), account.sent),
        };
        let cpus = CPUS[usize::from(sample.round_trips.is_some())];
        let mut places: Vec<(&'static str, u64)> = account.places.lost().to_vec();
        let receives = |side: Side| side.receives() && !side.initiates();
        let is_behind = is_busy(sample, receives);
        let receiver = if is_behind { cpus[1] } else { "receive buffer" };
        places.extend([
            ("surplus", account.places.surplus),
            ("refused at the sender", account.refused),
            ("kernel", account.dropped_kernel),
            ("unread", account.unread),
            (receiver, account.dropped_socket),
        ]);
        // Up to `by_chance` more datagrams may be under way when a window closes.
        let behind = |of: f64, got: f64| (of - got > by_chance + BEHIND * of).then_some(of - got);
        let senders = sample.threads.iter().filter(|it| it.side.initiates());
        let sent = senders.map(|thread| thread.sent_packets).sum::<u64>() as f64;
        let received = received(sample) as f64;
        if let Some(unsent) = behind(due, sent) {
            let sender = if is_busy(sample, Side::initiates) {
                cpus[0]
            } else {
                "send buffer"
            };
            places.push((sender, whole(unsent)));
            loss = 1.0 - (1.0 - loss) * (sent / due);
        } else if let Some(late) = behind(sent * (1.0 - loss), received) {
            let queue = if sample.paths.is_empty() || is_behind {
                receiver
            } else {
                "queue on the way"
            };
            places.push((queue, whole(late)));
            loss += late / sent;
        }
        places.retain(|(_, packets)| *packets > 0);
        let cpu_ns = [
            cpu_ns(sample, Side::initiates, sent),
            cpu_ns(sample, receives, received),
        ];
        Self {
            loss,
            places,
            cpu_ns,
            is_disturbed: share_of_one(sample).is_some_and(|share| share > DISTURBED),
        }
    }

    /// Returns the CPU time of the threads whose CPU is `place`.
    pub(super) fn cpu_ns_at(&self, place: &str) -> Option<f64> {
        let mut sides = self.cpu_ns.iter().enumerate();
        sides.find_map(|(side, ns)| {
            let is_its_cpu = CPUS.iter().any(|cpus| cpus[side] == place);
            ns.filter(|_| is_its_cpu)
        })
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Returns the datagrams received while the window was open, without requests.
pub(super) fn received(sample: &Sample) -> u64 {
    let threads = sample.threads.iter();
    let receivers = threads.filter(|thread| thread.side.counts_as_result());
    receivers.map(|thread| thread.received_packets).sum()
}

/// Returns the CPU time of a side per datagram, in nanoseconds.
fn cpu_ns(sample: &Sample, side: impl Fn(Side) -> bool, packets: f64) -> Option<f64> {
    let times: Option<Vec<u64>> = threads(sample, side).map(|thread| thread.cpu_ns).collect();
    let ns = times?.into_iter().sum::<u64>() as f64;
    (packets > 0.0).then(|| ns / packets)
}

/// Returns the threads of a side, and the workers that run them.
fn threads(sample: &Sample, side: impl Fn(Side) -> bool) -> impl Iterator<Item = &ThreadSample> {
    let threads = sample.threads.iter();
    threads.filter(move |thread| side(thread.side) || thread.side == Side::Worker)
}

/// Returns whether a thread of a side was busy for the whole window. `false` also if that is unknown.
fn is_busy(sample: &Sample, side: impl Fn(Side) -> bool) -> bool {
    threads(sample, side).any(|thread| {
        // Kernels that do not count interrupts apart include them in the thread's own time.
        let taken = thread.taken;
        let taken = taken.map_or(0, |it| it.steal_ns + it.irq_ns + it.softirq_ns);
        let others = thread.waited_ns.unwrap_or(0) + taken;
        let least = BUSY * sample.window_ns as f64;
        let cpu = thread.cpu_ns;
        cpu.is_some_and(|cpu| (cpu + others) as f64 >= least)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::{path, window};

    #[test]
    fn no_trial_in_which_more_came_than_was_sent_is_without_loss() {
        let outcome = |received| {
            let sample = Sample {
                paths: vec![path(received)],
                ..window(1)
            };
            TrialOutcome::of(&sample, 30_000.0, 30_000.0)
        };
        let whole = outcome(30_000);
        assert_eq!((whole.loss, whole.places), (0.0, Vec::new()));
        let surplus = outcome(30_100);
        assert_eq!(
            (surplus.loss, surplus.places),
            (1.0, vec![("surplus", 100)])
        );
    }
}
