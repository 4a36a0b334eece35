//! Traffic as it was: at the rate that was set or not, shared by flows, answered, busy-polled.

use super::column::decimals;
use super::{CaseWarning, derived};
use crate::data::{
    Arrivals, BusyPolled, Case, EngineProperties, Group, Histogram, MOST_PER_TRAIN, Sample,
};

/// Returns the datagrams sent late in all windows. `None`: no datagram had a send time.
pub(super) fn late(samples: &[Sample]) -> Option<u64> {
    let late = samples.iter().filter_map(|sample| sample.pacing.as_ref());
    late.map(|pacing| pacing.late).reduce(|all, one| all + one)
}

/// Times from one datagram to the next, in all windows.
pub(super) struct Gaps {
    times: Histogram,
    /// `kernel` or `calls`.
    pub(super) source: &'static str,
}

impl Gaps {
    /// Collects the gaps by the kernel's transmit timestamps if every window has some, else by the ends of the send
    /// calls. `None`: no gaps.
    pub(super) fn of(samples: &[Sample]) -> Option<Self> {
        let pacings = || samples.iter().filter_map(|sample| sample.pacing.as_ref());
        let are_stamped = pacings().all(|pacing| pacing.transmit_gaps.count() > 0);
        let mut times = Histogram::default();
        for pacing in pacings() {
            times.add(if are_stamped {
                &pacing.transmit_gaps
            } else {
                &pacing.call_end_gaps
            });
        }
        let source = if are_stamped { "kernel" } else { "calls" };
        (times.count() > 0).then_some(Self { times, source })
    }

    /// Returns a quantile of the gaps, in microseconds. `None`: too few gaps.
    pub(super) fn quantile_us(&self, share: f64) -> Option<f64> {
        let are_enough = self.times.count() as f64 * (1.0 - share).min(share) >= 1.0;
        let ns = self.times.quantile(share).filter(|_| are_enough)?;
        Some(decimals::<3>(ns / 1e3))
    }

    pub(super) fn longest_us(&self) -> Option<f64> {
        Some(decimals::<3>(self.times.quantile(1.0)? / 1e3))
    }
}

/// Returns a warning with the rate that was sent if it is not the rate that was set.
pub(super) fn not_kept(
    case: &Case,
    sender: &EngineProperties,
    samples: &[Sample],
) -> Option<CaseWarning> {
    let rate = case.rate.filter(|_| case.is_paced())?;
    // The rate is per direction.
    let directions = if case.is_full_duplex() { 2.0 } else { 1.0 };
    let asked_pps = directions * rate.per_second(case.payload);
    let seconds: f64 = samples.iter().map(derived::window_seconds).sum();
    let sent: u64 = samples.iter().map(derived::sent).sum();
    let asked = asked_pps * seconds;
    let by_chance = by_chance(case, sender, samples.len(), asked) / asked;
    let sent_pps = sent as f64 / seconds;
    let off = (sent as f64 - asked).abs();
    (asked > 0.0 && off > asked * by_chance.max(0.02)).then_some(CaseWarning::RateNotKept {
        asked_pps,
        sent_pps,
    })
}

/// Returns by how many datagrams the number sent in these windows may differ from the number set while no thread is
/// late.
pub(crate) fn by_chance(case: &Case, sender: &EngineProperties, windows: usize, asked: f64) -> f64 {
    let train = match case.arrivals.unwrap_or_default() {
        Arrivals::Even => 0,
        Arrivals::Train(length) => length,
        // Four standard deviations.
        Arrivals::Poisson => return 4.0 * asked.sqrt(),
    };
    // One batch and one train of each thread, at both edges of each window.
    let at_once = burst(case, sender) + f64::from(train);
    let directions = if case.is_full_duplex() { 2.0 } else { 1.0 };
    let threads = directions * case.threads.senders() as f64;
    2.0 * at_once * threads * windows as f64
}

/// Returns the number of datagrams that a thread with this engine hands over at once.
pub(crate) fn burst(case: &Case, sender: &EngineProperties) -> f64 {
    match case.batch {
        _ if sender.group == Group::Offload => MOST_PER_TRAIN as f64,
        batch => batch.map_or(1.0, |batch| batch.count() as f64),
    }
}

/// Returns why the round trips of a case are invalid, if they are. Above capacity, round trips become longer the
/// longer the overload lasts.
pub(super) fn overload(case: &Case, samples: &[Sample]) -> Option<CaseWarning> {
    let rate = case.rate.filter(|_| case.is_open_loop())?;
    let seconds: f64 = samples.iter().map(derived::window_seconds).sum();
    let answered: u64 = samples.iter().map(derived::received).sum();
    let asked_rps = rate.per_second(case.payload);
    let asked = asked_rps * seconds;
    let edges = 2.0 * samples.len() as f64 * case.threads.senders() as f64;
    let by_chance = match case.arrivals.unwrap_or_default() {
        // Requests in flight at the edges of a window.
        Arrivals::Even => edges / asked,
        Arrivals::Train(length) => edges * f64::from(length) / asked,
        // Four standard deviations.
        Arrivals::Poisson => 4.0 / asked.sqrt(),
    };
    let slack = by_chance.max(0.02);
    let unanswered = 1.0 - answered as f64 / asked;
    if asked <= 0.0 || unanswered <= slack {
        return None;
    }
    let answered_rps = answered as f64 / seconds;
    Some(if unanswered - lost_on_the_way(samples) <= slack {
        CaseWarning::RequestsLost {
            asked_rps,
            answered_rps,
            most: where_most_were_lost(samples),
        }
    } else {
        CaseWarning::AboveCapacity {
            asked_rps,
            answered_rps,
        }
    })
}

/// Returns the fraction of the requests that have no response because one of their two datagrams was lost before it
/// reached a socket.
fn lost_on_the_way(samples: &[Sample]) -> f64 {
    let accounting = derived::total_accounting(samples);
    let came = accounting.received + accounting.unread + accounting.dropped_socket;
    let lost = accounting.sent.saturating_sub(came);
    // The accounting counts requests and responses together; the counts of the threads tell how many were requests.
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    let all: u64 = threads.map(|thread| thread.sent_packets).sum();
    let requests: u64 = samples.iter().map(derived::sent).sum();
    lost as f64 * all as f64 / (accounting.sent as f64 * requests as f64).max(1.0)
}

/// Returns the place on the way where most datagrams were lost, if any was.
fn where_most_were_lost(samples: &[Sample]) -> Option<String> {
    let accounting = derived::total_accounting(samples);
    let places = accounting.places.lost();
    let (place, most) = places.into_iter().max_by_key(|(_, lost)| *lost)?;
    if accounting.refused > most {
        return Some("refused at the sender".to_owned());
    }
    (most > 0).then(|| format!("at {place}"))
}

/// How the flows of a case shared what was received in all its windows.
pub(super) struct Fairness {
    /// Jain's fairness index: 1 if all flows got the same, 1/n if one of n flows got everything (Jain, Chiu & Hawe,
    /// DEC-TR-301, 1984). `None`: nothing was received.
    pub(super) jains_index: Option<f64>,
    /// Datagrams per second over the slowest flow, or responses.
    pub(super) slowest_pps: Option<f64>,
    /// The same over the fastest flow.
    pub(super) fastest_pps: Option<f64>,
    /// Flows over which nothing was received.
    pub(super) starved: usize,
}

impl Fairness {
    /// Adds up the flows of the windows. `None`: each thread has a single flow, which the row covers.
    pub(super) fn of(samples: &[Sample]) -> Option<Self> {
        let flows = 0..samples.first()?.flow_packets.len();
        let packets = |flow| {
            samples
                .iter()
                .filter_map(move |it| it.flow_packets.get(flow))
        };
        let packets: Vec<u64> = flows.map(|flow| packets(flow).sum()).collect();
        let (fewest, most) = (*packets.iter().min()?, *packets.iter().max()?);
        let seconds: f64 = samples.iter().map(derived::window_seconds).sum();
        let pps = |packets: u64| Some(packets as f64 / seconds).filter(|pps| pps.is_finite());
        let sum: f64 = packets.iter().map(|&packets| packets as f64).sum();
        let squares = packets.iter().map(|&packets| (packets as f64).powi(2));
        let index = sum * sum / (squares.sum::<f64>() * packets.len() as f64);
        Some(Self {
            jains_index: (sum > 0.0).then(|| decimals::<4>(index)),
            slowest_pps: pps(fewest).map(decimals::<1>),
            fastest_pps: pps(most).map(decimals::<1>),
            starved: packets.iter().filter(|&&packets| packets == 0).count(),
        })
    }
}

/// Returns what was found in all windows together. `None`: nothing was to poll.
fn busy_polled(samples: &[Sample]) -> Option<BusyPolled> {
    let found = samples
        .iter()
        .filter_map(|sample| sample.busy_polled.clone());
    found.reduce(|mut all, one| {
        all.add(&one);
        all
    })
}

/// Returns the names of what polled, `+`-joined.
pub(super) fn busy_polled_by(samples: &[Sample]) -> String {
    let by = busy_polled(samples).unwrap_or_default().by;
    let names: Vec<String> = by.iter().map(ToString::to_string).collect();
    names.join("+")
}

/// Returns the share of the receiving sockets that had a NAPI, in percent.
pub(super) fn napi_pct(samples: &[Sample]) -> Option<f64> {
    let found = busy_polled(samples).filter(|found| found.sockets > 0)?;
    Some(100.0 * f64::from(found.napi_sockets) / f64::from(found.sockets))
}

/// Returns a warning if busy polling had no effect.
pub(super) fn busy_poll_without_effect(samples: &[Sample]) -> Option<CaseWarning> {
    let found = busy_polled(samples)?;
    if found.by.is_empty() {
        return Some(CaseWarning::BusyPollUndone);
    }
    (found.napi_sockets == 0).then_some(CaseWarning::NothingToPoll)
}

#[cfg(test)]
mod tests;
