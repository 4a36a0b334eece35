//! Formats numbers for people.

/// Formats a number with two or three digits, or all digits of a whole number in groups: `1,234`, `22.8`, `0.05`. Below
/// 0.001: `5.0e-4`.
pub(super) fn plain(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0995 || size == 0.0 => 2,
        size if size >= 0.00995 => 3,
        size if size >= 0.000_995 => 4,
        _ => return format!("{value:.1e}"),
    };
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text.parse().map_or(text, grouped),
    }
}

/// Formats a whole number in groups of three digits: `1,234,567`.
pub(super) fn grouped(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::from(if value < 0 { "-" } else { "" });
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_have_no_letters() {
        let all = [0.0, 0.25, 7.0, 12.34, 999.6, 1_234_567.0, -2500.0];
        let texts = all.map(plain).join(" ");
        assert_eq!(texts, "0 0.25 7 12.3 1,000 1,234,567 -2,500");
        let small = [0.0996, 0.099, 0.05, -0.0125, 0.001, 0.0005].map(plain);
        assert_eq!(small.join(" "), "0.1 0.099 0.05 -0.013 0.001 5.0e-4");
    }

    #[test]
    fn digits_come_in_groups_of_three() {
        assert_eq!(
            [0, 999, 1000, -1_234_567].map(grouped).join(" "),
            "0 999 1,000 -1,234,567"
        );
    }
}
