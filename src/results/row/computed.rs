//! What the columns of a row are computed from. Each is computed once, and columns.rs takes its parts.

use super::column::decimals;
use super::derived::{self, Value};
use super::disturbed::{self, Windows};
use super::input::known;
use super::round_trips::{Latencies, SHARES};
use super::scatter::{next_run_pct, residual_sd_pct};
use super::sensors::Energy;
use super::traffic::{self, Fairness, Gaps};
use super::{Environment, Reason, RowInput, status};
use crate::data::{Case, Places, Sample, Verified, WindowAccounting};
use crate::host::facts::Host;
use crate::stats::{self, Estimate};
use crate::sys::run_queue::CpuTaken;

/// Facts and estimates that columns are computed from.
pub(super) struct Computed<'a> {
    pub(super) input: &'a RowInput<'a>,
    pub(super) environment: &'a Environment,
    pub(super) case: &'a Case,
    pub(super) samples: &'a [Sample],
    pub(super) host: &'a Host,
    pub(super) verified: Option<Verified>,
    pub(super) reason: Reason,
    /// False for a starved or faulty case: it has counts, but no rate.
    pub(super) speaks: bool,
    pub(super) windows: Windows<'a>,
    /// All requests.
    pub(super) requests: Latencies<'a>,
    /// Requests whose times count.
    pub(super) latencies: Latencies<'a>,
    /// Quantiles of the round trips, by [`SHARES`].
    pub(super) rtt: [Option<Estimate>; SHARES.len()],
    pub(super) gaps: Option<Gaps>,
    pub(super) fairness: Option<Fairness>,
    pub(super) energy: Energy,
    pub(super) earlier_pct: Option<f64>,
    /// Where the datagrams ended. `None`: no window.
    pub(super) accounting: Option<WindowAccounting>,
    /// Where they were lost between two hosts.
    pub(super) places: Option<Places>,
}

impl<'a> Computed<'a> {
    pub(super) fn new(input: &'a RowInput, environment: &'a Environment) -> Self {
        let (case, samples) = (input.case, input.samples);
        let reason = status::reason(input);
        let speaks = matches!(reason, Reason::None | Reason::Interrupted(_));
        let is_overloaded = traffic::overload(case, samples).is_some();
        let latencies = Latencies::of(samples.iter().filter(|_| speaks && !is_overloaded));
        let accounting = (!samples.is_empty()).then(|| derived::total_accounting(samples));
        let between_hosts = accounting.filter(|_| case.direction.is_some());
        Self {
            input,
            environment,
            case,
            samples,
            host: &environment.host,
            verified: input.verified,
            reason,
            speaks,
            windows: Windows::new(samples, input.reference, environment),
            requests: Latencies::of(samples),
            rtt: latencies.quantiles_us(),
            latencies,
            gaps: Gaps::of(samples),
            fairness: Fairness::of(samples),
            energy: Energy::of(samples, input.idle_powers)
                .filter(|_| speaks)
                .unwrap_or_default(),
            earlier_pct: next_run_pct(input.earlier_pps).filter(|_| speaks),
            accounting,
            places: between_hosts.map(|accounting| accounting.places),
        }
    }

    /// Estimates a value from all windows.
    pub(super) fn over(&self, value: Value) -> Option<Estimate> {
        stats::estimate(&self.windows.values(value, false)).filter(|_| self.speaks)
    }

    /// Estimates the ratio of a value to that of the reference in the same round.
    pub(super) fn to_reference(&self, value: Value) -> Option<Estimate> {
        stats::estimate(&self.windows.ratios(value, false)).filter(|_| self.speaks)
    }

    /// Returns the scatter of these ratios: standard deviation of their natural logarithms, in percent.
    pub(super) fn ratio_sd_pct(&self, value: Value) -> Option<f64> {
        let deviation = stats::log_deviation(&self.windows.ratios(value, false));
        let deviation = deviation.filter(|_| self.speaks)?;
        Some(decimals::<3>(100.0 * deviation))
    }

    /// Returns the scatter of a value without what the engines of a block have in common.
    pub(super) fn residual_sd_pct(&self, value: Value) -> Option<f64> {
        let found = residual_sd_pct(self.samples, self.input.others, value);
        found.filter(|_| self.speaks).map(decimals::<3>)
    }

    /// Returns the time that something took from the CPUs of the threads.
    pub(super) fn taken_pct(&self, what: fn(CpuTaken) -> u64) -> Option<f64> {
        disturbed::taken_pct(self.samples, what).map(decimals::<2>)
    }

    /// Returns a fact about the other host. Empty: there is none, or it is unknown.
    pub(super) fn of_remote(&self, fact: fn(&Host) -> &Option<String>) -> String {
        let remote = self.input.wire.map(|wire| fact(&wire.host));
        remote.map_or_else(String::new, known)
    }
}
