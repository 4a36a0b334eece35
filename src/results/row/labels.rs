//! Properties of a row that follow from its columns: label, block, loss place.

use super::derived::move_estimates;
use super::{Interval, Row, Throttled, Warning};
use crate::data::BlockKey;
use crate::is_debug;
use crate::plan::PlanWarning;

impl Row {
    /// Returns the label that distinguishes the row within its block, without the connection: see
    /// [`Case::label`](crate::data::Case::label).
    pub fn label(&self) -> String {
        self.case.label()
    }

    /// Returns the block of the row, whose rows are compared with each other.
    pub fn block(&self) -> BlockKey {
        self.case.block()
    }

    /// Returns the CPUs of the threads, as in the column `pin`. Empty: the case was skipped.
    pub fn cpus(&self) -> String {
        self.pin
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// Returns the number of windows in the estimates.
    pub fn counted_windows(&self) -> usize {
        usize::try_from(self.rounds).unwrap_or(usize::MAX)
    }

    /// Returns whether benchmark threads lost CPU time in so many windows that the estimates are in doubt.
    pub fn lost_cpu_time(&self) -> bool {
        let disturbed = self.disturbed_windows;
        disturbed.is_some_and(|windows| move_estimates(windows, self.counted_windows()))
    }

    /// Returns whether both ends of a wire had the same CPU.
    pub fn shares_cpu(&self) -> bool {
        let mut warnings = self.warnings.iter();
        warnings.any(|it| matches!(it, Warning::Plan(PlanWarning::BothEndsShareCpu { .. })))
    }

    /// Returns why trains stay whole over loopback, and what to do. `None`: they are cut, or are to stay whole.
    pub fn why_trains_stay_whole(&self) -> Option<&str> {
        self.warnings.iter().find_map(|warning| match warning {
            Warning::Plan(PlanWarning::WholeTrains { reason }) => Some(reason.as_str()),
            _ => None,
        })
    }

    /// Returns whether the program was a debug build, which is slower.
    pub fn is_debug(&self) -> bool {
        is_debug(&self.version)
    }

    /// Returns whether the half-width of each interval is at most `half_width_pct` percent of its estimate. An
    /// estimate without an interval counts as narrow, and an interval around 0 as wide.
    pub fn is_narrow(&self, half_width_pct: f64) -> bool {
        let is_wide = |[middle, low, high]: Interval| {
            let half = 50.0 * (high? - low?);
            Some(half > half_width_pct * middle?)
        };
        let estimates = [self.pps(), self.to_std(), self.p50_us()];
        !estimates.into_iter().filter_map(is_wide).any(|it| it)
    }

    /// Returns the place between two hosts where most datagrams were lost, and its share of all losses in percent.
    /// `None`: one host, or no loss.
    pub fn lost_at(&self) -> Option<(&'static str, f64)> {
        self.direction?;
        let places = [
            ("kernel out", self.dropped_kernel_out_packets),
            ("qdisc", self.dropped_qdisc_packets),
            ("NIC out", self.dropped_nic_out_packets),
            ("path", self.lost_on_path_packets),
            ("NIC in", self.dropped_nic_in_packets),
            ("backlog", self.dropped_backlog_packets),
            ("kernel in", self.dropped_kernel_in_packets),
            ("protocol", self.dropped_protocol_packets),
            ("socket", self.dropped_socket_packets),
        ];
        let all: u64 = places.iter().filter_map(|(_, lost)| *lost).sum();
        let (place, lost) = places.into_iter().max_by_key(|(_, lost)| *lost)?;
        let lost = lost.filter(|&lost| lost > 0)?;
        Some((place, 100.0 * lost as f64 / all as f64))
    }

    /// Returns whether the row is the reference of its block.
    pub fn is_reference(&self) -> bool {
        self.case.is_reference()
    }

    /// Returns whether the board was throttled. False if it is unknown.
    pub fn was_throttled(&self) -> bool {
        matches!(self.throttled, Throttled::Yes(_))
    }
}
