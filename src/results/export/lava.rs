//! Lines that LAVA's test definitions send on (`name result value unit`), one per figure of a case that was measured, and
//! one per case that was not.

use std::fmt::Write as _;

use super::figures::figures;
use crate::results::row::{Row, Status};

/// Returns the lines of all rows.
pub(super) fn encode(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let case = name(&row.case.key());
        let result = match row.status {
            Status::Ok => None,
            Status::Skipped => Some("skip"),
            Status::Failed => Some("fail"),
            Status::Interrupted => Some("unknown"),
        };
        if let Some(result) = result {
            let _ = writeln!(text, "{case} {result}");
        }
        for figure in figures(row) {
            let (name, value, unit) = (figure.name, figure.value, figure.unit);
            let _ = writeln!(text, "{case}-{name} pass {value} {unit}");
        }
    }
    text
}

/// Returns a key with the letters that names of test cases may have.
fn name(key: &str) -> String {
    key.replace(':', "-").replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn each_figure_is_a_line_and_each_case_without_one_too() {
        let failed = Row {
            status: Status::Failed,
            ..ordinary_row()
        };
        let text = encode(&[ordinary_row(), failed]);
        let case = name(&ordinary_row().case.key());
        let mut lines = text.lines();
        let rate = format!("{case}-received-pps pass 200000 1/s");
        assert_eq!(lines.next(), Some(rate.as_str()));
        assert_eq!(lines.next_back(), Some(format!("{case} fail").as_str()));
        assert!(
            text.lines()
                .all(|line| !line.contains([':', '/']) || line.ends_with("1/s"))
        );
    }
}
