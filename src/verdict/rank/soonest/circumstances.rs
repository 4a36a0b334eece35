//! Facts that decide round trips besides the engine: CPUs, wake-ups and idle states.

use std::collections::{BTreeMap, BTreeSet};

use super::super::shared_cpus::{SharedCpus, pin_to_one};
use crate::results::row::{Load, Row};

/// Facts about the rows of one machine with round trips.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Circumstances {
    /// The column `pin` of the rows.
    pins: BTreeSet<String>,
    /// Median round trip of clients that wait, and the time of it that waking the client took, by engine, in
    /// microseconds. Only engines with one such row.
    wakeups_us: BTreeMap<String, Vec<(f64, f64)>>,
    /// The column `idle_states` of an engine whose clients wait.
    idle_states: BTreeMap<String, String>,
    /// Highest number of rounds.
    rounds: u32,
    /// Measured time of a case, in milliseconds: the longest.
    measured_ms: f64,
}

impl Circumstances {
    /// Collects the facts. `None`: no row has round trips to rank.
    pub(in super::super) fn of(rows: &[(&Row, Option<Load>)]) -> Option<Self> {
        let mut facts = Self::default();
        let mut is_any = false;
        for (row, load) in rows {
            let Some(load) = load else { continue };
            is_any = true;
            let Some(p50_us) = row.rtt_p50_us else {
                continue;
            };
            facts.pins.insert(row.pin.clone());
            facts.rounds = facts.rounds.max(row.rounds);
            let measured_ms = row.window_ms.unwrap_or(0.0) * f64::from(row.rounds);
            facts.measured_ms = facts.measured_ms.max(measured_ms);
            if *load == Load::Alone {
                let wakeup = row.wakeup_p50_us.map(|wakeup| (p50_us, wakeup));
                let of_engine = facts.wakeups_us.entry(row.label()).or_default();
                of_engine.extend(wakeup);
                facts
                    .idle_states
                    .insert(row.label(), row.idle_states.clone());
            }
        }
        is_any.then_some(facts)
    }

    /// Returns the options that halve the intervals: four times as many windows. `None`: a row does not say how many
    /// there were.
    pub(super) fn more(&self) -> Option<String> {
        let rounds = self.rounds.checked_mul(4).filter(|rounds| *rounds > 0)?;
        let seconds = (4.0 * self.measured_ms / 1000.0).ceil();
        let options = if seconds >= 1.0 && seconds < 1e6 {
            format!("--rounds {rounds} --duration {seconds:.0}s")
        } else {
            format!("--rounds {rounds}")
        };
        Some(format!(
            "To tell more apart, stop other programs (udpbench check); four times as many windows halve the intervals: \
             {options}"
        ))
    }

    /// Says in a line what the round trips depend on besides the engine. `cpus`: the placements that were measured.
    /// `best`: the soonest engine of clients that wait.
    pub(super) fn in_words(
        &self,
        cpus: &BTreeSet<SharedCpus>,
        best: Option<&str>,
    ) -> Option<String> {
        let of_best = |best: &str| {
            let [(p50_us, wakeup_us)] = &self.wakeups_us.get(best)?[..] else {
                return None;
            };
            // Below 10 us, tenths count.
            let digits = usize::from(*p50_us < 10.0);
            Some(format!(
                "waking the client took {wakeup_us:.digits$} of {p50_us:.digits$} us ({best} alone)"
            ))
        };
        let idle = best.and_then(|best| self.idle_states.get(best));
        let idle = idle.filter(|states| !states.is_empty());
        let said = [
            self.placement(cpus),
            best.and_then(of_best),
            idle.map(|states| format!("idle states: {states}")),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| format!("Measured {}", said.join("; ")))
    }

    fn placement(&self, cpus: &BTreeSet<SharedCpus>) -> Option<String> {
        let pins: Vec<&str> = self.pins.iter().map(String::as_str).collect();
        let pin = pins.first().copied().unwrap_or_default();
        let several = if pins.len() > 1 { " and others" } else { "" };
        let [only] = &cpus.iter().copied().collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(match only {
            SharedCpus::Apart => {
                let one = pin_to_one(pin);
                let one = one.map_or_else(|| "--pin".to_owned(), |pin| format!("--pin {pin}"));
                format!(
                    "with client and server on different CPUs ({pin}{several}); on one CPU ({one}) all may differ more \
                     than engines do"
                )
            }
            SharedCpus::One => format!(
                "with client and server on one CPU ({pin}{several}); on two (--pin 0:1) all may differ more than \
                 engines do"
            ),
            SharedCpus::Mixed => {
                format!("with clients and servers that shared CPUs ({pin}{several})")
            }
            SharedCpus::Free => {
                "without pinned threads; on one CPU (--pin 0:0) or two (--pin 0:1) all may differ more than engines do"
                    .to_owned()
            }
            SharedCpus::TwoHosts => return None,
        })
    }
}
