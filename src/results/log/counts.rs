//! Limits of the counts of a window, so that no sum and no difference of them overflows, whatever a program counted.

use serde_json::Value;

use crate::data::{Counts, Histogram, Sample};

/// Limit that no counter of a window reaches. 2^53 datagrams are a year at 100 Mpps, and spreadsheets and JSON
/// readers count no further.
const MOST: u64 = 1 << 53;
/// Limit that the sum of all counters of all windows of a case does not reach, so that no sum or difference of them
/// overflows. The largest counters are nanoseconds: 2^60 ns are a year of CPU time on 36 CPUs.
const MOST_IN_ALL: u64 = 1 << 60;
/// Last millisecond of the year 9999, where RFC 3339 ends, as Unix time.
const LAST_MS: u64 = 253_402_300_799_999;
const MOST_THREADS: usize = 4096;

/// Returns the first impossible count of a window, for any case.
pub(super) fn impossible(sample: &Sample) -> Option<&'static str> {
    let accounting = &sample.accounting;
    if Counted::of(sample).most >= MOST {
        return Some("a count of 2^53 or more");
    }
    if sample.window_ns == 0 {
        return Some("a window that was never open");
    }
    if sample.opened_unix_ms > LAST_MS {
        return Some("a window after the year 9999");
    }
    if sample.threads.is_empty() || sample.threads.len() > MOST_THREADS {
        return Some("a window with no threads, or too many");
    }
    if !(follows(accounting.at_opening, accounting.at_closing)
        && follows(accounting.at_closing, accounting.at_end))
    {
        return Some("counts that decrease");
    }
    if accounting.at_end.refused > accounting.at_end.sent {
        return Some("more datagrams refused than sent");
    }
    if !histograms(sample).all(Histogram::is_valid) {
        return Some("times in buckets that cannot be");
    }
    let mut paces = sample.threads.iter().filter_map(|thread| thread.pace);
    paces
        .any(|pace| pace.chain_ns == 0)
        .then_some("a pace of 0 ns")
}

/// Adds the counters of a window to the total of its case. `None`: the total exceeds its limit.
pub(crate) fn added(total: u64, sample: &Sample) -> Option<u64> {
    let total = total.saturating_add(Counted::of(sample).sum);
    (total < MOST_IN_ALL).then_some(total)
}

/// Numbers in a window.
#[derive(Default)]
struct Counted {
    most: u64,
    sum: u64,
}

impl Counted {
    fn of(sample: &Sample) -> Self {
        let mut window = serde_json::to_value(sample).unwrap_or_default();
        // No counts of the case: a date, and counters that other traffic moves and drivers invent.
        for field in ["opened_unix_ms", "paths"] {
            window[field].take();
        }
        let mut counted = Self::default();
        counted.add(&window);
        counted
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Number(number) => {
                let count = number.as_u64().unwrap_or(0);
                self.most = self.most.max(count);
                self.sum = self.sum.saturating_add(count);
            }
            Value::Array(values) => values.iter().for_each(|value| self.add(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.add(value)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

fn histograms(sample: &Sample) -> impl Iterator<Item = &Histogram> {
    let round_trips = sample.round_trips.iter();
    let round_trips = round_trips.flat_map(|found| [&found.times, &found.wakeups]);
    let pacing = sample.pacing.iter();
    round_trips.chain(pacing.flat_map(|found| [&found.transmit_gaps, &found.call_end_gaps]))
}

fn follows(before: Counts, after: Counts) -> bool {
    before.sent <= after.sent
        && before.refused <= after.refused
        && before.received <= after.received
        && before.dropped_socket <= after.dropped_socket
}
