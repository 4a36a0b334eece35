//! Start time of a run: for its files' names and its rows.

use std::time::SystemTime;

/// Returns the current UTC time in RFC 3339 format, in whole seconds.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Returns a warning if the clock has not been set since the host was switched on.
pub(super) fn clock_remark(started_at: &str) -> Option<String> {
    // This program did not exist before 2024.
    const FIRST_YEAR: &str = "2024";
    (started_at < FIRST_YEAR).then(|| {
        format!(
            "the clock is not set: it says {started_at}, and so do the names of files and the log; measuring needs no more \
             than that it runs. To set it: timedatectl set-ntp true, or date -s"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_1970_is_told() {
        let remark = clock_remark("1970-01-01T00:00:07Z").expect("a remark");
        assert!(remark.contains("it says 1970-01-01T00:00:07Z"), "{remark}");
        assert_eq!(clock_remark("2026-11-26T23:00:00Z"), None);
    }
}
