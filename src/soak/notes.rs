//! Events on this host during a soak: lines of the kernel's log, changes of the carrier, dropped packets, heat.
//! Each has a time, so that an event finds those of its seconds.

use std::collections::{BTreeMap, VecDeque};

use super::event::{Event, Place, SET_DOWN};
use crate::sys::files::Root;
use crate::sys::kernel_log::KernelLog;
use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::loss_places::LossPlace;
use crate::sys::nic::{PathCounters, PathReader};
use crate::sys::sensors;

/// Notes that are kept, at most: two minutes of counters that all move.
const MAX_NOTES: usize = 2000;
/// Time around an event whose notes belong to it, in nanoseconds.
const AROUND_NS: u64 = 1_000_000_000;
/// Time between two readings of counters and sensors, in nanoseconds.
const READING_NS: u64 = 500_000_000;
/// Lines of the kernel that an event has, at most.
const MAX_LINES: usize = 4;
/// Begins notes of the other host.
pub(super) const THERE: &str = "there: ";
const CARRIER: &str = "carrier changes";
/// Names of the drops on the way out.
pub(super) const OUT_DROPS: [&str; 2] = [
    "dropped by the qdisc",
    "dropped by the interface on the way out",
];

/// A note.
#[derive(Clone, Debug)]
enum What {
    /// A sentence of the kernel or about the host.
    Said(String),
    /// A counter of this host has grown.
    Counted(&'static str, u64),
    /// A counter of the other host has grown.
    CountedThere(&'static str, u64),
}

/// Notes of the last minutes.
#[derive(Debug, Default)]
pub struct Notes(VecDeque<(u64, What)>);

impl Notes {
    fn add(&mut self, at_ns: u64, what: What) {
        if self.0.len() >= MAX_NOTES {
            self.0.pop_front();
        }
        self.0.push_back((at_ns, what));
    }

    /// Adds a sentence.
    pub fn say(&mut self, at_ns: u64, text: String) {
        self.add(at_ns, What::Said(text));
    }

    /// Adds what the other host lost on the way in.
    pub fn count_there(&mut self, at_ns: u64, place: &LossPlace, packets: u64) {
        self.add(at_ns, What::CountedThere(place.what, packets));
    }

    /// Adds the notes of an event's seconds to it.
    pub fn explain(&self, event: &mut Event) {
        let from_ns = event.start_ns.saturating_sub(AROUND_NS);
        let to_ns = event.start_ns + event.length_ns + AROUND_NS;
        let within = self
            .0
            .iter()
            .filter(|(at, _)| (from_ns..=to_ns).contains(at));
        let (mut said, mut counted) = (Vec::new(), BTreeMap::<&str, u64>::new());
        let mut there = BTreeMap::<&str, u64>::new();
        let mut omitted = 0;
        for (_, what) in within {
            match what {
                What::Said(text) if said.len() < MAX_LINES => said.push(text.clone()),
                What::Said(_) => omitted += 1,
                What::Counted(name, by) => *counted.entry(name).or_default() += by,
                What::CountedThere(name, by) => *there.entry(name).or_default() += by,
            }
        }
        if omitted > 0 {
            said.push(format!("{omitted} more lines"));
        }
        let is_set_down = said.iter().any(|text| text.ends_with(SET_DOWN));
        if (is_set_down || counted.contains_key(CARRIER))
            && event.place != Place::FarEnd
            && event.lost > 0
        {
            event.place = Place::Link;
        }
        let counted = counted.iter().map(|(name, by)| format!("{name} +{by}"));
        let there = there
            .iter()
            .map(|(name, by)| format!("{THERE}{name} +{by}"));
        event.notes = counted.chain(there).chain(said).collect();
    }
}

/// Observer of this host and of one of its interfaces.
#[derive(Debug)]
pub struct Watch {
    root: Root,
    kernel_log: Option<KernelLog>,
    interface: String,
    /// `None`: the interface is gone, or netlink is forbidden.
    reader: Option<PathReader>,
    counters: Option<PathCounters>,
    /// Somebody has set the interface up.
    is_up: bool,
    /// Places of this host that lose datagrams on the way in. The kernel's drop reasons are not counted: for hours, they
    /// would cost too much.
    losses: LossReader,
    lost: LossCounters,
    heat: Heat,
    next_ns: u64,
}

/// State of the board's protection against heat and low voltage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Heat {
    throttle_bits: Option<u32>,
    under_voltage: Option<bool>,
    cooling: Option<bool>,
}

impl Heat {
    fn read(root: &Root) -> Self {
        Self {
            // Those that are set now. The others tell of the time before.
            throttle_bits: sensors::throttle_bits(root).map(|bits| bits & 0xf),
            under_voltage: sensors::under_voltage(root),
            cooling: sensors::cooling(root),
        }
    }

    fn words(self) -> String {
        let mut words = sensors::throttle_words(self.throttle_bits.unwrap_or(0));
        words.extend(
            self.under_voltage
                .unwrap_or(false)
                .then_some("under-voltage"),
        );
        words.extend(
            self.cooling
                .unwrap_or(false)
                .then_some("held down against heat"),
        );
        words.dedup();
        if words.is_empty() {
            return "the CPU is not throttled any more".to_owned();
        }
        format!("the CPU is throttled: {}", words.join(", "))
    }
}

impl Watch {
    /// Starts to watch. The second value is why the kernel's log cannot be read, if so.
    pub fn start(root: &Root, interface: &str) -> (Self, Option<String>) {
        let kernel_log = KernelLog::open(root);
        let reason = kernel_log.as_ref().err().map(ToString::to_string);
        let mut losses = LossReader::without_reasons(interface);
        let watch = Self {
            lost: losses.read(),
            losses,
            kernel_log: kernel_log.ok(),
            interface: interface.to_owned(),
            reader: PathReader::open(interface).ok(),
            counters: None,
            is_up: true,
            heat: Heat::read(root),
            next_ns: 0,
            root: root.clone(),
        };
        (watch, reason)
    }

    /// Reads what is new. Costs little if called ten times a second: counters are read twice a second.
    pub fn look(&mut self, now_ns: u64, notes: &mut Notes) {
        for text in self.kernel_log.iter_mut().flat_map(KernelLog::read) {
            notes.say(now_ns, format!("kernel: {text}"));
        }
        if now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns + READING_NS;
        self.look_at_counters(now_ns, notes);
        let heat = Heat::read(&self.root);
        if heat != self.heat {
            self.heat = heat;
            notes.say(now_ns, heat.words());
        }
    }

    fn look_at_counters(&mut self, now_ns: u64, notes: &mut Notes) {
        if self.reader.is_none() {
            self.reader = PathReader::open(&self.interface).ok();
            self.losses = LossReader::without_reasons(&self.interface);
        }
        let Some(now) = self.reader.as_mut().and_then(|reader| reader.read().ok()) else {
            if self.counters.take().is_some() {
                notes.say(now_ns, format!("{} is gone", self.interface));
            }
            self.reader = None;
            return;
        };
        let link = self.reader.as_mut().and_then(|reader| reader.link().ok());
        let was_up = std::mem::replace(&mut self.is_up, link.is_none_or(|link| link.is_up));
        if was_up && !self.is_up {
            // A pulled cable takes the carrier only.
            notes.say(now_ns, format!("{}{SET_DOWN}", self.interface));
        }
        let lost = self.losses.read();
        if let Some(before) = self.counters.replace(now) {
            let moved = on_the_way_out(&now.since(&before)).into_iter();
            let moved = moved.filter(|(_, by)| *by > 0);
            for (name, by) in moved.chain(on_the_way_in(&lost.since(&self.lost))) {
                notes.add(now_ns, What::Counted(name, by));
            }
        }
        self.lost = lost;
    }
}

/// Returns the changes of the carrier and the packets lost on the way out, with names for people.
fn on_the_way_out(moved: &PathCounters) -> [(&'static str, u64); 3] {
    [
        (CARRIER, moved.carrier_changes),
        (OUT_DROPS[0], moved.qdisc_drops),
        (OUT_DROPS[1], moved.nic_out_drops),
    ]
}

/// Returns the packets lost on the way in, by place.
fn on_the_way_in(growth: &LossCounters) -> Vec<(&'static str, u64)> {
    let losses = growth.losses().into_iter();
    losses.map(|loss| (loss.place.what, loss.packets)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::loss_places::PLACES;

    #[test]
    fn an_event_has_the_notes_of_its_seconds() {
        let mut notes = Notes::default();
        let second = 1_000_000_000;
        notes.say(7 * second, "before".to_owned());
        notes.say(9 * second, "kernel: eth0: Link is Down".to_owned());
        notes.add(10 * second, What::Counted(CARRIER, 1));
        notes.add(11 * second, What::Counted(CARRIER, 1));
        notes.count_there(11 * second, &PLACES[0], 5);
        notes.say(13 * second, "after".to_owned());
        let event = r#"{"kind":"silence","place":"path","start_ns":10000000000,"length_ns":1000000000,"due":9,"lost":9,
            "refused":0,"refused_errno":0,"unsent":0,"silences":1,"longest_silence_ns":1,"silent_ns":1,
            "usual_rtt_ns":1,"rtt_ns":0}"#;
        let mut event: Event = serde_json::from_str(event).expect("an event");
        notes.explain(&mut event);
        assert_eq!(
            event.notes,
            [
                "carrier changes +2",
                "there: interface without a free buffer +5",
                "kernel: eth0: Link is Down"
            ]
        );
        assert_eq!(event.place, Place::Link);
        assert_eq!(event.place_text("board"), "at this host's link");
    }

    #[test]
    fn an_interface_that_was_set_down_is_no_pulled_cable() {
        let mut notes = Notes::default();
        notes.add(1, What::Counted(CARRIER, 1));
        notes.say(1, format!("eth0{SET_DOWN}"));
        let event = r#"{"kind":"silence","place":"here","start_ns":10,"length_ns":1000000000,"due":9,"lost":9,
            "refused":9,"refused_errno":101,"unsent":0,"silences":1,"longest_silence_ns":1000000000,"silent_ns":1,
            "usual_rtt_ns":1,"rtt_ns":0}"#;
        let mut event: Event = serde_json::from_str(event).expect("an event");
        notes.explain(&mut event);
        assert_eq!(event.place_text("board"), "eth0 was set down here");
        let line = "silence 1.0 s, 9 of 9 lost, eth0 was set down here; carrier changes +1";
        assert_eq!(event.line("board"), line, "it is said once");
    }

    #[test]
    fn what_this_host_loses_has_the_name_of_its_place() {
        let growth = LossCounters {
            counters: BTreeMap::from([("TcpExtIPReversePathFilter".to_owned(), 7)]),
            ..LossCounters::default()
        };
        assert_eq!(on_the_way_in(&growth), [("reverse path filter", 7)]);
    }
}
