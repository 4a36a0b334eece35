//! What could not keep up in a trial at a rate.

use crate::data::{LaneSample, Sample, Side};
use crate::results::row::lost;

/// A thread that ran, or could have run had its CPU been free, for that share of the window could do no more.
const BUSY: f64 = 0.9;
/// What falls behind by less than that share of what was due in a window was held up, and would have caught up.
const BEHIND: f64 = 0.005;

/// Whose CPU others have for more than that share of a window falls behind by as much, whatever it could do.
const DISTURBED: f64 = 0.01;

/// The CPUs that can give way: of the threads that begin, and of those that receive what those send. Of datagrams, and of
/// requests.
const CPUS: [[&str; 2]; 2] = [
    ["sender's CPU", "receiver's CPU"],
    ["client's CPU", "server's CPU"],
];

/// How a trial went.
#[derive(Clone, Debug, PartialEq)]
pub struct Went {
    /// The share of what was to be sent that did not arrive, or not in time: 0 to 1.
    pub loss: f64,
    /// Datagrams that did not arrive, or were not even sent, by the place that was the reason.
    pub places: Vec<(&'static str, u64)>,
    /// CPU time for each datagram or request, in nanoseconds: of the threads that begin, and of those that receive what those
    /// send. `None`: nobody knows.
    pub cpu_ns: [Option<f64>; 2],
    /// Whether something that is not of the case took the CPU of a thread for as long as makes it fall behind.
    pub is_disturbed: bool,
}

impl Went {
    /// Of a trial in which so many datagrams or requests were due, and that number may be off by so many by chance.
    ///
    /// A queue that grows while a window is open overflows in a longer one: by how much it has grown is lost, too.
    pub fn of(sample: &Sample, due: f64, by_chance: f64) -> Self {
        let account = sample.account();
        let mut loss = match &sample.round_trips {
            // What is late is no answer.
            Some(trips) => share(trips.unanswered, trips.unanswered + trips.times.count()),
            // What came twice may hide any number that was lost.
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
        // As many more may be under way just when a window closes.
        let behind = |of: f64, got: f64| (of - got > by_chance + BEHIND * of).then_some(of - got);
        let (sent, received) = (sent(sample) as f64, received(sample) as f64);
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
            is_disturbed: lost::share_of_one(sample).is_some_and(|share| share > DISTURBED),
        }
    }

    /// The CPU time of those whose CPU that place is.
    pub(super) fn cpu_ns_at(&self, place: &str) -> Option<f64> {
        let mut sides = self.cpu_ns.iter().enumerate();
        sides.find_map(|(side, ns)| {
            let is_its_cpu = CPUS.iter().any(|cpus| cpus[side] == place);
            ns.filter(|_| is_its_cpu)
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
fn whole(packets: f64) -> u64 {
    packets as u64
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Datagrams that were sent while the window was open, but for answers.
fn sent(sample: &Sample) -> u64 {
    let senders = sample.lanes.iter().filter(|lane| lane.side.initiates());
    senders.map(|lane| lane.sent_packets).sum()
}

/// Datagrams that were received while the window was open, but for requests.
fn received(sample: &Sample) -> u64 {
    let receivers = sample.lanes.iter().filter(|lane| lane.side.concludes());
    receivers.map(|lane| lane.received_packets).sum()
}

/// CPU time of a side for each of so many datagrams, in nanoseconds.
fn cpu_ns(sample: &Sample, side: impl Fn(Side) -> bool, packets: f64) -> Option<f64> {
    let times: Option<Vec<u64>> = threads(sample, side).map(|lane| lane.cpu_ns).collect();
    let ns = times?.into_iter().sum::<u64>() as f64;
    (packets > 0.0).then(|| ns / packets)
}

/// The threads of that side, or the workers that run it.
fn threads(sample: &Sample, side: impl Fn(Side) -> bool) -> impl Iterator<Item = &LaneSample> {
    let lanes = sample.lanes.iter();
    lanes.filter(move |lane| side(lane.side) || lane.side == Side::Worker)
}

/// Whether a thread of that side did nothing else. `false`, too, where nobody knows.
fn is_busy(sample: &Sample, side: impl Fn(Side) -> bool) -> bool {
    threads(sample, side).any(|lane| {
        // Where the kernel does not count interrupts apart, they are in the thread's own time, too.
        let taken = lane
            .taken
            .map_or(0, |taken| taken.steal_ns + taken.irq_ns + taken.softirq_ns);
        let busy = lane
            .cpu_ns
            .map(|cpu| cpu + lane.waited_ns.unwrap_or(0) + taken);
        busy.is_some_and(|busy| busy as f64 >= BUSY * sample.window_ns as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::{path, window};

    #[test]
    fn no_trial_in_which_more_came_than_was_sent_is_without_loss() {
        let went = |received| {
            let sample = Sample {
                paths: vec![path(received)],
                ..window(1)
            };
            Went::of(&sample, 30_000.0, 30_000.0)
        };
        assert_eq!((went(30_000).loss, went(30_000).places), (0.0, Vec::new()));
        let surplus = went(30_100);
        assert_eq!(
            (surplus.loss, surplus.places),
            (1.0, vec![("surplus", 100)])
        );
    }
}
