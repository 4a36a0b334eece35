//! Results of a trial that are compared.

use crate::data::Sample;
use crate::results::row::cpu_ns_per_packet;
use crate::sys::idle_states::IdleTimes;
use crate::verdict::judge::By;

/// Results of a trial.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment::find) struct Trial {
    /// Median round trip, or time per datagram received, in nanoseconds. `None`: nothing arrived, or it is unknown.
    pub(in crate::experiment::find) ns: Option<f64>,
    /// Requests without a response, or datagrams that did not arrive.
    pub(in crate::experiment::find) lost: u64,
    /// Requests, or datagrams sent.
    pub(in crate::experiment::find) sent: u64,
    /// Time of the CPUs in their idle states. Empty: no requests were sent.
    pub(in crate::experiment::find) idle: IdleTimes,
    /// Length of the window.
    pub(in crate::experiment::find) window_ns: u64,
}

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Logarithm of the nanoseconds.
    Time,
    /// Share of the requests that was lost.
    Loss,
}

impl Trial {
    pub(super) fn new(sample: &Sample, by: By) -> Self {
        let ns = match by {
            By::Speed => nanoseconds(sample),
            By::Cpu => cpu_ns_per_packet(sample),
        };
        let Some(trips) = &sample.round_trips else {
            let account = sample.account();
            return Self {
                ns,
                lost: account.lost(),
                sent: account.sent,
                ..Self::default()
            };
        };
        let answered = trips.times.count();
        // A client that got no response at all was blocked on one request: count it as lost.
        let blocked = u64::from(answered == 0);
        let lost = trips.unanswered.max(blocked);
        Self {
            ns,
            lost,
            sent: answered + lost,
            idle: sample.idle_times.clone(),
            window_ns: sample.window_ns,
        }
    }

    /// Returns a quantity of the trial. `None`: it is unknown.
    pub(super) fn value(&self, of: Quantity) -> Option<f64> {
        match of {
            Quantity::Time => self.ns.map(f64::ln).filter(|it| it.is_finite()),
            Quantity::Loss => (self.sent > 0).then(|| self.lost as f64 / self.sent as f64),
        }
    }
}

/// Returns the median round trip, or the time per datagram received, in nanoseconds. `None`: nothing arrived.
fn nanoseconds(sample: &Sample) -> Option<f64> {
    if let Some(trips) = &sample.round_trips {
        return trips.times.quantile(0.5);
    }
    let threads = sample.threads.iter();
    let concluded = threads.filter(|thread| thread.side.counts_as_result());
    let packets: u64 = concluded.map(|thread| thread.received_packets).sum();
    (packets > 0).then(|| sample.window_ns as f64 / packets as f64)
}
