//! Times as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Formats a time since 1970 as UTC, with milliseconds.
pub fn utc(ns: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_nanos(ns);
    humantime::format_rfc3339_millis(time).to_string()
}

/// Formats a time since 1970 as the time of day: `12:34:56.789 UTC`.
pub fn utc_time(ns: u64) -> String {
    format!("{} UTC", time_of_day(&utc(ns)))
}

/// Returns the time of day, `12:34:56.789`, of a time in RFC 3339.
pub fn time_of_day(utc: &str) -> &str {
    utc.get(11..23).unwrap_or(utc)
}

/// Returns the seconds from one time in RFC 3339 to a later one. 0: a time is not valid, or earlier.
pub fn seconds_between(earlier: &str, later: &str) -> f64 {
    let parse = |text: &str| humantime::parse_rfc3339(text).ok();
    let between = |(earlier, later): (SystemTime, SystemTime)| later.duration_since(earlier).ok();
    let length = parse(earlier).zip(parse(later)).and_then(between);
    length.unwrap_or_default().as_secs_f64()
}

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
