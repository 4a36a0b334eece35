//! A constant rate of probes for hours: outcomes become events, and events become a summary.
//!
//! Probes have outcomes in the order in which they were due ([`crate::workload::probe`]). [`finder`] makes events of
//! them, [`minute`] counts them, [`log`] keeps both, and [`summary`] follows from the log alone. [`notes`] collects what
//! the kernel says meanwhile, and [`far_end`] keeps the echo at the other end running. Only [`notes`] and [`far_end`]
//! touch the system.

pub mod event;
pub mod far_end;
pub mod finder;
pub mod log;
pub mod minute;
mod next;
pub mod notes;
pub mod one_way;
pub mod summary;

use std::time::Duration;

/// Formats a time in the unit that suits it: `81 us`, `312 ms`, `4.2 s`, `4m 55s`.
pub fn time_text(ns: u64) -> String {
    let value = ns as f64;
    let with = |value: f64, unit: &str| {
        let decimals = usize::from(value < 9.95);
        format!("{value:.decimals$} {unit}")
    };
    match ns {
        0 => "0 s".to_owned(),
        1..1_000_000 => with(value / 1e3, "us"),
        1_000_000..1_000_000_000 => with(value / 1e6, "ms"),
        1_000_000_000..60_000_000_000 => format!("{:.1} s", value / 1e9),
        _ => {
            let seconds = Duration::from_secs(ns / 1_000_000_000);
            humantime::format_duration(seconds).to_string()
        }
    }
}

/// Returns a time in nanoseconds.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::time_text;

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let times = [0, 81_400, 312_400_000, 4_210_000_000, 295_900_000_000];
        let shown = ["0 s", "81 us", "312 ms", "4.2 s", "4m 55s"];
        assert_eq!(times.map(time_text), shown);
    }
}
