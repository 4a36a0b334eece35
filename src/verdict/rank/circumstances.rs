//! Facts that decide round trips besides the engine: CPUs, wake-ups and idle states.

use std::collections::{BTreeMap, BTreeSet};

use super::shared_cpus::SharedCpus;
use crate::host::placement::Placement;
use crate::results::row::{Load, Row};

/// Facts about the rows of one machine with round trips.
#[derive(Clone, Debug, Default)]
pub(super) struct Circumstances {
    /// CPUs of the threads of the rows.
    pins: BTreeSet<Option<Placement>>,
    /// Median round trip of clients that wait, and the time of it that waking the client took, by engine, in
    /// microseconds. Only engines with one such row.
    wakeups_us: BTreeMap<String, Vec<(f64, f64)>>,
    /// The column `idle_states` of an engine whose clients wait.
    idle_states: BTreeMap<String, String>,
}

impl Circumstances {
    /// Collects the facts. `None`: no row has round trips to rank.
    pub(super) fn of(rows: &[(&Row, Option<Load>)]) -> Option<Self> {
        let mut facts = Self::default();
        let mut is_any = false;
        for (row, load) in rows {
            let Some(load) = load else { continue };
            is_any = true;
            let Some(p50_us) = row.rtt_p50_us else {
                continue;
            };
            facts.pins.insert(row.pin.clone());
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

    /// Says what the round trips depend on besides the engine. `cpus`: the placements that were measured. `best`: the
    /// soonest engine of clients that wait.
    pub(super) fn in_words(
        &self,
        cpus: &BTreeSet<SharedCpus>,
        best: Option<&str>,
    ) -> Option<String> {
        let waking = best.and_then(|best| {
            let [(p50_us, wakeup_us)] = &self.wakeups_us.get(best)?[..] else {
                return None;
            };
            // Below 10 us, tenths count.
            let digits = usize::from(*p50_us < 10.0);
            Some(format!(
                "Of {p50_us:.digits$} us of {best} alone, waking the client took {wakeup_us:.digits$}"
            ))
        });
        let idle = best.and_then(|best| self.idle_states.get(best));
        let idle = idle.filter(|states| !["", "no"].contains(&states.as_str()));
        let idle = idle.map(|states| format!("Idle states of its CPUs: {states}"));
        let said = [self.placement(cpus), waking, idle];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(". "))
    }

    /// Names the CPUs, and the option for others. `None` if several placements were measured, or two hosts.
    fn placement(&self, cpus: &BTreeSet<SharedCpus>) -> Option<String> {
        let first = self.pins.first().and_then(Option::as_ref);
        let pin = first.map(ToString::to_string).unwrap_or_default();
        let several = if self.pins.len() > 1 { ", ..." } else { "" };
        let mut cpus = cpus.iter();
        let only = cpus.next().filter(|_| cpus.next().is_none())?;
        let more = "may change more than the engine does";
        Some(match only {
            SharedCpus::Apart => {
                let one = first.and_then(Placement::on_one_cpu);
                let one = one.map_or_else(String::new, |pin| format!(" {pin}"));
                format!(
                    "Client and server had different CPUs ({pin}{several}); one CPU (--pin{one}) {more}"
                )
            }
            SharedCpus::One => {
                format!("Client and server had one CPU ({pin}{several}); two (--pin 0:1) {more}")
            }
            SharedCpus::Mixed => format!("Clients and servers shared CPUs ({pin}{several})"),
            SharedCpus::Free => {
                format!("Threads were not pinned; one CPU (--pin 0:0) or two (--pin 0:1) {more}")
            }
            SharedCpus::TwoHosts => return None,
        })
    }
}
