//! Formats dates for people.

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Formats a time stamp: `24 November 2026, 03:21 UTC` for `2026-11-24T03:21:07Z`. Returns any other text unchanged.
pub(super) fn shown(text: &str) -> String {
    split(text).map_or_else(
        || text.to_owned(),
        |(day, time)| format!("{day}, {time} UTC"),
    )
}

/// Formats a time span. A common day is written once.
pub(super) fn span(first: &str, last: &str) -> String {
    match (split(first), split(last)) {
        (Some(from), Some(to)) if from == to => shown(first),
        (Some((day, from)), Some((last_day, to))) if day == last_day => {
            format!("{day}, {from} to {to} UTC")
        }
        _ => format!("{} to {}", shown(first), shown(last)),
    }
}

/// Returns the day and the minute of an RFC 3339 time stamp in UTC.
fn split(text: &str) -> Option<(String, &str)> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month: usize = month.parse().ok()?;
    let month = MONTHS.get(month.checked_sub(1)?)?;
    let day: u8 = day.parse().ok()?;
    let year: u16 = year.parse().ok()?;
    Some((format!("{day} {month} {year}"), time.get(..5)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_the_name_of_its_month() {
        let early = "2026-11-04T03:21:07.123Z";
        assert_eq!(shown(early), "4 November 2026, 03:21 UTC");
        let late = "2026-11-04T23:59:59Z";
        assert_eq!(span(early, late), "4 November 2026, 03:21 to 23:59 UTC");
        assert_eq!(span(early, early), shown(early));
        let next = span(early, "2026-11-05T00:00:00Z");
        assert_eq!(
            next,
            "4 November 2026, 03:21 UTC to 5 November 2026, 00:00 UTC"
        );
    }

    #[test]
    fn what_is_no_date_stays_as_it_is() {
        for text in [
            "",
            "yesterday",
            "2026-13-01T00:00:00Z",
            "2026-1-1TZ",
            "éTéZ",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
