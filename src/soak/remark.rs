//! What a soak notices beside its probes, on both hosts.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::time_text;
use crate::sys::clock_watch::ClockSet;
use crate::sys::files::Root;
use crate::sys::loss_places::{LossPlace, PLACES};
use crate::sys::sensors;
use crate::text::sentences;

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
        let is_it = |place: &&LossPlace| matches!(self, Self::There(name) if *name == place.what);
        PLACES
            .iter()
            .find(is_it)
            .is_some_and(|place| place.is_common)
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
        let others = [
            (self.under_voltage, "under-voltage"),
            (self.cooling, "held down against heat"),
        ];
        let others = others.into_iter().filter(|(is_so, _)| *is_so == Some(true));
        words.extend(others.map(|(_, word)| word));
        words.dedup();
        if words.is_empty() {
            return "the CPU is not throttled any more".to_owned();
        }
        format!("the CPU is throttled: {}", words.join(", "))
    }
}
