//! Parsing of percentages as people write them, such as `2%`.

/// Parses a percentage above 0 and up to 100.
///
/// # Errors
/// Returns the problem and the fix if the text is not such a percentage.
pub fn parse(text: &str) -> Result<f64, String> {
    let Some(number) = text.strip_suffix('%') else {
        return Err(format!("{text:?} has no unit: write {text}%"));
    };
    match number.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err(format!("{text:?} is not above 0% and up to 100%: write 2%")),
    }
}

/// Parses a percentage from 0 to below 100.
///
/// # Errors
/// Returns the problem and the fix if the text is not such a percentage.
pub fn parse_from_zero(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').map(|number| number.trim().parse()) {
        Some(Ok(0.0)) => Ok(0.0),
        _ => parse_within(text),
    }
}

/// Parses a percentage above 0 and below 100.
///
/// # Errors
/// Returns the problem and the fix if the text is not such a percentage.
pub fn parse_within(text: &str) -> Result<f64, String> {
    match parse(text)? {
        percent if percent < 100.0 => Ok(percent),
        _ => Err(format!("{text:?} is not below 100%: write 2%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_a_unit_and_limits() {
        assert_eq!(parse("2%"), Ok(2.0));
        assert_eq!(parse("0.5%"), Ok(0.5));
        assert_eq!(parse("2"), Err("\"2\" has no unit: write 2%".to_owned()));
        for wrong in ["0%", "-1%", "101%", "NaN%", "inf%", "%"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_from_zero("0%"), Ok(0.0));
        assert_eq!(parse_from_zero("0.1%"), Ok(0.1));
        for wrong in ["0", "-1%", "100%"] {
            assert!(parse_from_zero(wrong).is_err(), "{wrong}");
            assert!(parse_within(wrong).is_err(), "{wrong}");
        }
    }
}
