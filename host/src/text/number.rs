//! Whole numbers with limits, in words that are not Rust's.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Understands a number within `range`.
pub fn within<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + ToString + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = (range.start().to_string(), range.end().to_string());
            format!("use a number from {least} to {most}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_lies_within_its_limits() {
        let parse = within(5_u32..=10_000);
        assert_eq!((parse("5"), parse("10000")), (Ok(5), Ok(10_000)));
        for wrong in ["4", "10001", "-1", "", "x", "5.0"] {
            assert_eq!(
                parse(wrong),
                Err("use a number from 5 to 10000".to_owned()),
                "{wrong}"
            );
        }
    }
}
