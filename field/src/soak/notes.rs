//! Events on this host during a soak: lines of the kernel's log, changes of the carrier, dropped packets, heat.
//! Each has a time, so that an event finds those of its seconds.

use std::collections::{BTreeMap, VecDeque};

use super::event::{Counter, Event, HeatState, Place, Remark};
use crate::sys::files::Root;
use crate::sys::kernel_log::KernelLog;
use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::nic;
use crate::sys::path_counters::PathCounters;

/// Notes that are kept, at most: two minutes of counters that all move.
const MAX_NOTES: usize = 2000;
/// Time around an event whose notes belong to it, in nanoseconds.
const AROUND_NS: u64 = 1_000_000_000;
/// Time between two readings of counters and sensors, in nanoseconds.
const READING_NS: u64 = 500_000_000;
/// Lines of the kernel that an event has, at most.
const MAX_LINES: usize = 4;

/// Remarks of the last minutes, with their times.
#[derive(Debug, Default)]
pub struct Notes(VecDeque<(u64, Remark)>);

impl Notes {
    /// Adds a remark.
    pub fn add(&mut self, at_ns: u64, remark: Remark) {
        if self.0.len() >= MAX_NOTES {
            self.0.pop_front();
        }
        self.0.push_back((at_ns, remark));
    }

    /// Adds the growth of a counter, if it has grown.
    pub fn count(&mut self, at_ns: u64, counter: Counter, by: u64) {
        if by > 0 {
            self.add(at_ns, Remark::Counted { counter, by });
        }
    }

    /// Adds the notes of an event's seconds to it.
    pub fn explain(&self, event: &mut Event) {
        let from_ns = event.start_ns.saturating_sub(AROUND_NS);
        let to_ns = event.start_ns + event.length_ns + AROUND_NS;
        let mut said = Vec::new();
        let mut counted = BTreeMap::<&Counter, u64>::new();
        for (at_ns, remark) in &self.0 {
            match remark {
                _ if !(from_ns..=to_ns).contains(at_ns) => {}
                Remark::Counted { counter, by } => *counted.entry(counter).or_default() += by,
                _ => said.push(remark.clone()),
            }
        }
        let lines = said.len().saturating_sub(MAX_LINES);
        if lines > 0 {
            said.truncate(MAX_LINES);
            said.push(Remark::MoreLines { lines });
        }
        // What ends at a place every day is worth a word if it is as many as were lost.
        let lost = event.lost;
        let counted = counted.into_iter();
        let counted =
            counted.filter(|(counter, by)| !counter.is_common_there() || 2 * by > lost.max(1));
        let counted = counted.map(|(counter, by)| Remark::Counted {
            counter: counter.clone(),
            by,
        });
        event.notes = counted.chain(said).collect();
        let is_of_link = event.had_no_carrier() || event.was_set_down();
        if is_of_link && event.place != Place::FarEnd && event.lost > 0 {
            event.place = Place::Link;
        }
    }
}

/// Observer of this host and of one of its interfaces.
#[derive(Debug)]
pub struct Watch {
    root: Root,
    kernel_log: Option<KernelLog>,
    interface: String,
    /// The kernel's drop reasons are not counted: for hours, they would cost too much. `None`: the interface is gone,
    /// or netlink is forbidden.
    reader: Option<LossReader>,
    counters: Option<LossCounters>,
    /// Somebody has set the interface up.
    is_up: bool,
    heat: HeatState,
    next_ns: u64,
}

impl Watch {
    /// Starts to watch. The second value is why the kernel's log cannot be read, if so.
    pub fn start(root: &Root, interface: &str) -> (Self, Option<String>) {
        let kernel_log = KernelLog::open(root);
        let reason = kernel_log.as_ref().err().map(ToString::to_string);
        let watch = Self {
            kernel_log: kernel_log.ok(),
            interface: interface.to_owned(),
            reader: LossReader::of_interface(interface).ok(),
            counters: None,
            is_up: true,
            heat: HeatState::read(root),
            next_ns: 0,
            root: root.clone(),
        };
        (watch, reason)
    }

    /// Reads what is new. Costs little if called ten times a second: counters are read twice a second.
    pub fn look(&mut self, now_ns: u64, notes: &mut Notes) {
        for line in self.kernel_log.iter_mut().flat_map(KernelLog::read) {
            notes.add(now_ns, Remark::Kernel { line });
        }
        if now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns + READING_NS;
        self.look_at_counters(now_ns, notes);
        let heat = HeatState::read(&self.root);
        if heat != self.heat {
            self.heat = heat;
            notes.add(now_ns, Remark::Heat { heat });
        }
    }

    fn look_at_counters(&mut self, now_ns: u64, notes: &mut Notes) {
        if self.reader.is_none() {
            self.reader = LossReader::of_interface(&self.interface).ok();
        }
        let now = self.reader.as_mut().map(LossReader::read);
        let is_there = |now: &LossCounters| now.received.contains_key(&self.interface);
        let Some(now) = now.filter(is_there) else {
            if self.counters.take().is_some() {
                let interface = self.interface.clone();
                notes.add(now_ns, Remark::InterfaceGone { interface });
            }
            self.reader = None;
            return;
        };
        let mut links = nic::links().unwrap_or_default().into_iter();
        let link = links.find(|link| link.name == self.interface);
        let was_up = std::mem::replace(&mut self.is_up, link.is_none_or(|link| link.is_up));
        if was_up && !self.is_up {
            // A pulled cable takes the carrier only.
            let interface = self.interface.clone();
            notes.add(now_ns, Remark::SetDown { interface });
        }
        if let Some(before) = &self.counters {
            let moved = PathCounters::between(before, &now, &self.interface).unwrap_or_default();
            notes.count(now_ns, Counter::Carrier, moved.carrier_changes);
            notes.count(now_ns, Counter::Qdisc, moved.qdisc_drops);
            notes.count(now_ns, Counter::InterfaceOut, moved.nic_out_drops);
            for loss in now.since(before).losses() {
                let place = loss.place.what.clone();
                notes.count(now_ns, Counter::Here(place), loss.packets);
            }
        }
        self.counters = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_notes_of_its_seconds() {
        let mut notes = Notes::default();
        let second = 1_000_000_000;
        let kernel = |line: &str| Remark::Kernel {
            line: line.to_owned(),
        };
        let there = Counter::There("no free buffer".to_owned());
        notes.add(7 * second, kernel("before"));
        notes.add(9 * second, kernel("eth0: Link is Down"));
        notes.count(10 * second, Counter::Carrier, 1);
        notes.count(11 * second, Counter::Carrier, 1);
        notes.count(11 * second, Counter::Qdisc, 0);
        notes.count(11 * second, there, 5);
        notes.add(13 * second, kernel("after"));
        let event = r#"{"kind":"silence","place":"path","start_ns":10000000000,"length_ns":1000000000,"due":9,"lost":9,
            "refused":0,"refused_errno":0,"unsent":0,"silences":1,"longest_silence_ns":1,"silent_ns":1,
            "usual_rtt_ns":1,"rtt_ns":0}"#;
        let mut event: Event = serde_json::from_str(event).expect("an event");
        notes.explain(&mut event);
        let expected = "carrier changes +2; there: no free buffer +5; kernel: eth0: Link is Down";
        assert_eq!(event.notes_text(), expected);
        assert_eq!(event.place, Place::Link);
        assert_eq!(event.place_text("board"), "at this host's link");
    }

    #[test]
    fn an_interface_that_was_set_down_is_no_pulled_cable() {
        let mut notes = Notes::default();
        let interface = "eth0".to_owned();
        notes.count(1, Counter::Carrier, 1);
        notes.add(1, Remark::SetDown { interface });
        let event = r#"{"kind":"silence","place":"here","start_ns":10,"length_ns":1000000000,"due":9,"lost":9,
            "refused":9,"refused_errno":101,"unsent":0,"silences":1,"longest_silence_ns":1000000000,"silent_ns":1,
            "usual_rtt_ns":1,"rtt_ns":0}"#;
        let mut event: Event = serde_json::from_str(event).expect("an event");
        notes.explain(&mut event);
        let line = "silence 1.0 s, 9 of 9 lost, at this host's link; carrier changes +1; eth0 was set down here";
        assert_eq!(event.line("board"), line);
    }
}
