//! Warnings about a row: what may mislead about its numbers.

use std::fmt;

use crate::host::check::Problem;
use crate::plan::PlanWarning;
use crate::text::digits::{counted, counted_with_verb};
use crate::text::sentences;

/// Warning about a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Known before the start, from the case.
    Plan(PlanWarning),
    /// Known when its block began, or from its windows.
    Case(CaseWarning),
    /// Known before the start, from the hosts.
    Host(Problem),
}

impl Warning {
    /// Returns the code of the warning, which stays when its words change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan(warning) => warning.code(),
            Self::Case(warning) => warning.code(),
            Self::Host(problem) => problem.unfit.code(),
        }
    }

    /// Returns the problem, if the warning is about a host.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Host(problem) => Some(problem),
            Self::Plan(_) | Self::Case(_) => None,
        }
    }

    /// Returns whether the warning is that other programs use the CPUs of a host.
    pub(crate) fn is_other_programs(&self) -> bool {
        self.problem().is_some_and(Problem::is_other_programs)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(warning) => warning.fmt(f),
            Self::Case(warning) => warning.fmt(f),
            Self::Host(problem) => problem.fmt(f),
        }
    }
}

impl From<CaseWarning> for Warning {
    fn from(warning: CaseWarning) -> Self {
        Self::Case(warning)
    }
}

sentences! {
    /// Warning about a case: first those about the begin of its block, then those from its windows.
    pub enum CaseWarning {
        "still-hot": StillHot { below_c: u16 } =>
            "still not below {below_c} C at the end of the cool-down (temp_c_start)";
        "in-one-process": InOneProcess { why: String } =>
            "some rounds were measured in one process, the program itself: {why}";
        "in-two-parts": InTwoParts => "interrupted and resumed within a round: its windows may lie far apart";
        "resumed-elsewhere": ResumedWithDifference { what: String } => "resumed with a difference: {what}";
        "delayed": Delayed => "senders were slowed down on purpose (--delay)";
        "not-verified": NotVerified { reason: String } => "not verified: {reason}";
        "not-pinned": NotPinned => "a thread could not be pinned";
        "no-partner": NoPartner => "some windows have no partner in the reference (ratio_pairs)";
        "short-warm-up": ShortWarmUp { settles_ms: f64 } =>
            "traffic takes {settles_ms} ms to settle here (settles_ms), longer than the warm-up: use --warmup \
             {settles_ms}ms";
        "few-rounds": FewRounds { rounds: usize, coverage_pct: f64 } =>
            "intervals of {rounds} rounds cover {coverage_pct:.1} %, not 95 %: use 6 rounds or more";
        "buffers-changed": BuffersChanged => "the granted buffer sizes changed between windows";
        "empty-window": EmptyWindow =>
            "nothing was received in a window: it was too short, or the machine too busy";
        "lost-window": LostWindow { sent: u64, received: u64 } =>
            "nothing was received in a window: of {sent} datagrams that were sent for it, {received} came";
        "queues-moved": QueuesMoved =>
            "queues were filling or emptying (queue_growth_packets): use a longer --duration or --warmup, or a \
             smaller --rcvbuf";
        "above-capacity": AboveCapacity { asked_rps: f64, answered_rps: f64 } =>
            "above capacity: of {asked_rps:.0} requests per second {answered_rps:.0} were answered, so no round trips";
        "requests-lost": RequestsLost { asked_rps: f64, answered_rps: f64, most: Option<String> } =>
            "of {asked_rps:.0} requests per second {answered_rps:.0} were answered, as datagrams were lost on the \
             way{}, so no round trips",
            most.as_ref().map_or_else(String::new, |place| format!(", most {place}"));
        "link-changed": LinkChanged { fault: String, changed: usize, windows: usize } =>
            "{fault} in {changed} of {} (carrier_changes): what was lost meanwhile says nothing of the engines",
            counted(*windows, "window");
        "surplus": Surplus { packets: u64, loss_pct: f64, can_be_told_apart: bool } =>
            "{packets} datagrams more were received than sent (unexpected_packets): the path repeats some, or another \
             host sends here, and each may hide one that was lost, so that at least {loss_pct} % were{}",
            if *can_be_told_apart { ": --verify tells them apart" } else { "" };
        "closed-ports": ClosedPorts { taken: u64 } =>
            "{taken} missing datagrams are taken for those that closed ports counted (NoPorts): ours were open, so \
             that the path changed their ports, or other traffic was counted and they were lost elsewhere";
        "other-traffic": OtherTraffic { place: String, counted: u64, taken: u64 } =>
            "more was dropped at {place} than is missing: its counters moved by {counted}, and {taken} missing \
             datagrams are taken for that (the rest were other traffic, copies or fragments), of which some may have \
             been lost elsewhere";
        "damaged-frames": DamagedFrames { end: String, counter: String, frames: u64 } =>
            "the {end}'s interface received {frames} damaged frames ({counter}): look at the cable, the plugs and the \
             switch";
        "lost-in-driver": LostInDriver { end: String, counter: String, packets: u64, means: String } =>
            "the {end}'s driver lost {} ({counter}): {means}; what helps: udpbench check --interface NIC there",
            counted(*packets, "packet");
        "dropped-before-sockets": DroppedBeforeSockets { places: Vec<String> } =>
            "the receiver's host dropped packets before its sockets, for any program: {}", places.join(", ");
        "radio-saves-power": RadioSavesPower { end: String } =>
            "the {end}'s radio saves power: it sleeps between beacons, for up to 102 ms each; off with iw dev NIC set \
             power_save off there";
        "radio-changed": RadioChanged {
            end: String,
            kbps: (u32, u32),
            signal_dbm: Option<(i8, i8)>,
            channel_mhz: Option<(u32, u32)>,
        } =>
            "the {end}'s radio changed between windows: its bit rate went from {:.1} to {:.1} Mb/s{}{}",
            f64::from(kbps.0) / 1e3,
            f64::from(kbps.1) / 1e3,
            from_to("signal", *signal_dbm, "dBm"),
            from_to("channel", *channel_mhz, "MHz");
        "path-reorders": PathReorders { how: String } => "{how}";
        "busy-poll-undone": BusyPollUndone => "--busy-poll had no effect: a library set its sockets otherwise";
        "nothing-to-poll": NothingToPoll =>
            "--busy-poll had no effect: no NAPI delivered the datagrams (SO_INCOMING_NAPI_ID is 0), as over loopback";
        "rate-not-kept": RateNotKept { asked_pps: f64, sent_pps: f64 } =>
            "the rate was not kept: {sent_pps:.0} datagrams per second were sent instead of {asked_pps:.0}{}",
            if sent_pps > asked_pps { ", as what was late before the window was sent in it" } else { " (late_packets)" };
        "few-slow-windows": FewSlowWindows { column: String, windows: usize } =>
            "{column} is empty, as the slower requests are of fewer than {windows} windows: use more --rounds and a \
             longer --duration";
        "idle-senders": IdleSenders { idle: usize, all: usize } =>
            "{idle} of {all} senders sent nothing in any window";
        "idle-receivers": IdleReceivers { idle: usize, all: usize } =>
            "{idle} of {all} receivers received nothing in any window (receiver_share_min_pct)";
        "lost-cpu-time": LostCpuTime =>
            "benchmark threads lost CPU time in 3 of 10 windows or more (preempted_pct)";
        "disturbed-windows-differ": DisturbedWindowsDiffer =>
            "without disturbed windows, results would differ by more than half of their interval (disturbed_windows)";
        "remark": Remark { text: String } => "{text}";
        "left-unread": LeftUnread { datagrams: u64 } =>
            "{} left unread (unread_packets): too late, or their receivers had no CPU",
            counted_with_verb(*datagrams, "datagram");
        "refused": Refused { how: String } => "{how}";
        "calls-failed": CallsFailed { calls: u64 } => "{}", calls_failed(*calls);
        "measured-again": MeasuredAgain { why: String } =>
            "bad windows were measured again (repeated_windows), the first as {why}";
        "other-cpu-time": OtherCpuTime { pct: f64 } =>
            "other threads of the program used {pct:.0} % more CPU time (other_cpu_ns_per_packet)";
        "power-unknown": PowerUnknown { meter: String, without: usize, windows: usize } =>
            "the power is unknown: {meter} gave none in {without} of {}", counted(*windows, "window");
        "throttled": Throttled { how: String } => "the board was throttled: {how}";
        "hot": Hot { throttles_from_c: u16 } =>
            "the temperature reached {throttles_from_c} C, where this board throttles (temp_c_max)";
        "slower-cpu": SlowerCpu => "a CPU ran more than 10 % slower than at the start (clock_min_pct)";
    }
}

/// Returns the number of failed system calls in words.
pub(super) fn calls_failed(calls: u64) -> String {
    format!("{} failed", counted(calls, "system call"))
}

fn from_to<T: fmt::Display>(what: &str, range: Option<(T, T)>, unit: &str) -> String {
    range.map_or_else(String::new, |(from, to)| {
        format!(", its {what} from {from} to {to} {unit}")
    })
}
