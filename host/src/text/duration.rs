//! Durations as people write them, such as `200ms` or `1s`: parsing and text.

use std::time::Duration;

/// Longest duration that is accepted.
const MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Parses a duration of at most one day. It needs a unit.
///
/// # Errors
/// Returns the problem and the fix if the text is not such a duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    if text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok() {
        return Err(format!("{text:?} has no unit: write {text}ms or {text}s"));
    }
    match humantime::parse_duration(text) {
        Ok(duration) if duration <= MAX => Ok(duration),
        Ok(_) => Err(format!("{text:?} is more than a day: write less")),
        Err(_) => Err(format!("{text:?} is not a duration: write 200ms or 1s")),
    }
}

/// Returns a duration as people write it, without blanks.
pub fn text(duration: Duration) -> String {
    humantime::format_duration(duration)
        .to_string()
        .replace(' ', "")
}

/// Rounds a duration to whole milliseconds: a window is a part of what was typed.
pub fn in_ms(duration: Duration) -> Duration {
    let ms = (duration + Duration::from_micros(500)).as_millis();
    Duration::from_millis(ms.try_into().unwrap_or(u64::MAX))
}

/// Returns a time as in `about 1m 20s`, rounded down to whole seconds and at least 1 s.
pub fn about(time: Duration) -> String {
    let seconds = Duration::from_secs(time.as_secs().max(1));
    format!("about {}", humantime::format_duration(seconds))
}

/// Serialization of a duration as whole nanoseconds, for files.
pub mod ns {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Serializes whole nanoseconds.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Reads whole nanoseconds.
    ///
    /// # Errors
    /// Fails if there is no whole number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit_and_an_end() {
        assert_eq!(parse("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse("24h"), Ok(MAX));
        let fix = |text: &str| parse(text).expect_err("refused");
        assert_eq!(fix("200"), "\"200\" has no unit: write 200ms or 200s");
        assert_eq!(fix("25h"), "\"25h\" is more than a day: write less");
        assert_eq!(fix("soon"), "\"soon\" is not a duration: write 200ms or 1s");
        assert_eq!(fix(""), "\"\" is not a duration: write 200ms or 1s");
    }
}
