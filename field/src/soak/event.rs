//! Events of a soak, and what it notices beside its probes, on both hosts: `next` has their text.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sys::clock_watch::ClockSet;
use crate::sys::files::Root;
use crate::sys::loss_places::PLACES;
use crate::sys::sensors;
use crate::text::sentences;
use crate::time::time_text;

/// Kinds of events. An event of several has the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing returned for a while: an outage.
    Silence,
    /// Probes were lost, with others between them that returned.
    #[default]
    Loss,
    /// Round trips were much longer than before.
    Delay,
    /// This host could not send at the rate. What the path did meanwhile is not known.
    Unsent,
}

/// Place where most of an event's probes were lost or delayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// This host: it refused to send, its socket was full, or the program did not run.
    Here,
    /// The interface of this host: its carrier changed, or it was set down.
    Link,
    /// The path to the other end.
    Forward,
    /// The path back.
    Back,
    /// Both paths, or which of them is not known.
    #[default]
    Path,
    /// The other end: its program did not read in time, or did not run.
    FarEnd,
}

/// An event: faults that are less than a second apart. Times are in nanoseconds since the start of the soak.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time by this host's clock when it began, as in RFC 3339.
    #[serde(default)]
    pub at: String,
    /// Kind.
    pub kind: Kind,
    /// Place.
    pub place: Place,
    /// True if a full receive buffer at that place lost most of it.
    #[serde(default)]
    pub is_full: bool,
    /// Due time of the first probe that it touched.
    pub start_ns: u64,
    /// Time from `start_ns` to the first probe that it did not touch any more.
    pub length_ns: u64,
    /// Probes that were due in it.
    pub due: u64,
    /// Probes lost in it, with refused ones.
    pub lost: u64,
    /// Probes lost before the other end's program received them. `None`: not known.
    pub lost_forward: Option<u64>,
    /// Probes that this host's kernel refused to send.
    pub refused: u64,
    /// Error number of the last refusal. 0: none.
    pub refused_errno: i32,
    /// Probes that this host was too late to send.
    pub unsent: u64,
    /// Silences in it: runs of lost probes that last as long as an outage.
    pub silences: u64,
    /// Longest of these.
    pub longest_silence_ns: u64,
    /// Sum of these.
    pub silent_ns: u64,
    /// Usual round-trip time before.
    pub usual_rtt_ns: u64,
    /// Highest median of the round-trip times in a tenth of a second.
    pub rtt_ns: u64,
    /// What happened from a second before to a second after the event.
    #[serde(default)]
    pub notes: Vec<Remark>,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Self; 4] = [Self::Silence, Self::Loss, Self::Delay, Self::Unsent];

    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Silence => "silence",
            Self::Loss => "loss",
            Self::Delay => "delay",
            Self::Unsent => "unsent",
        }
    }
}

sentences! {
    /// Something that a soak noticed.
    pub enum Remark {
        "counted": Counted { counter: Counter, by: u64 } => "{counter} +{by}";
        "kernel": Kernel { line: String } => "kernel: {line}";
        "set-down": SetDown { interface: String } => "{interface} was set down here";
        "interface-gone": InterfaceGone { interface: String } => "{interface} is gone";
        "heat": Heat { heat: HeatState } => "{}", heat.words();
        "clock-set": ClockSet { set: ClockSet } => "{}", set.text();
        "program-ended": ProgramEnded { host: String } => "{host}: its program has ended";
        "not-started": NotStarted { host: String, why: String } => "{host}: its program cannot be started again: {why}";
        "started-again": StartedAgain { host: String, silence_ns: u64 } =>
            "{host}: its program was started again, {} after the last answer", time_text(*silence_ns);
        "restarted": Restarted { host: String, silence_ns: u64 } =>
            "{host}: it was restarted (another boot id), {} after the last answer", time_text(*silence_ns);
        "more-lines": MoreLines { lines: usize } => "{lines} more lines";
        "not-over": NotOver => "not over at the end of the log: it may have lasted longer";
        "resumed": Resumed => "the soak went on in another process";
        "ended": Ended => "the soak ended";
    }
}

/// Counter of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Changes of the carrier of this host's interface.
    Carrier,
    /// Packets dropped by the qdisc of that interface.
    Qdisc,
    /// Packets that it dropped on the way out.
    InterfaceOut,
    /// Packets that this host lost at a place on the way in, by its name.
    Here(String),
    /// Packets that the other host lost on the way in.
    There(String),
}

impl Counter {
    /// Returns whether it is of a place where packets end every day that are not for the other host's programs.
    pub(super) fn is_common_there(&self) -> bool {
        matches!(self, Self::There(name) if PLACES.iter().any(|it| it.what == *name && it.is_common))
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Carrier => f.write_str("carrier changes"),
            Self::Qdisc => f.write_str("dropped by the qdisc"),
            Self::InterfaceOut => f.write_str("dropped by the interface on the way out"),
            Self::Here(place) => f.write_str(place),
            Self::There(place) => write!(f, "there: {place}"),
        }
    }
}

/// State of the board's protection against heat and low voltage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatState {
    throttle_bits: Option<u32>,
    under_voltage: Option<bool>,
    cooling: Option<bool>,
}

impl HeatState {
    pub(super) fn read(root: &Root) -> Self {
        Self {
            // Those that are set now. The others tell of the time before.
            throttle_bits: sensors::throttle_bits(root).map(|bits| bits & 0xf),
            under_voltage: sensors::under_voltage(root),
            cooling: sensors::cooling(root),
        }
    }

    fn words(self) -> String {
        let mut words = sensors::throttle_words(self.throttle_bits.unwrap_or(0));
        words.extend((self.under_voltage == Some(true)).then_some("under-voltage"));
        words.extend((self.cooling == Some(true)).then_some("held down against heat"));
        words.dedup();
        if words.is_empty() {
            return "the CPU is not throttled any more".to_owned();
        }
        format!("the CPU is throttled: {}", words.join(", "))
    }
}
