//! Names of cases, colours of engines, and numbers for people.

use std::fmt::Write as _;

use crate::data::{BlockKey, Destination, Group, Payload, Transport};
use crate::engines;
use crate::results::row::Row;
use crate::text::digits::counted;

/// Returns the parameters that the cases of a chart share: payload, threads, and unusual values.
pub(super) fn name(block: &BlockKey, payload: Payload) -> String {
    let threads = counted(block.threads.count(), "thread");
    let unusual = block.unusual().map(|value| format!(", {value}"));
    format!("{payload} B, {threads}{}", unusual.collect::<String>())
}

/// Returns the label of a row, with transport and address if these are not UDP over loopback.
pub(super) fn line_label(row: &Row) -> String {
    let mut label = row.label();
    if row.transport != Transport::default() {
        let _ = write!(label, ", {}", row.transport);
    }
    if row.address != Destination::default() {
        let _ = write!(label, ", {}", row.address);
    }
    label
}

/// Returns the value if it can be drawn on an axis: 0 to 10^15. A file may contain any value.
pub(super) fn drawable(value: f64) -> Option<f64> {
    (0.0..=1e15).contains(&value).then_some(value)
}

/// Returns the group of the receiver, which determines the received rate. `None`: unknown engine.
pub(super) fn group(row: &Row) -> Option<Group> {
    let name = row.receiver.parse().ok()?;
    engines::properties(name).map(|engine| engine.group)
}

/// Returns the colour of a group. All readers can distinguish it from the colours of the other groups; see `page.css`.
pub(super) fn colour(group: Option<Group>) -> u8 {
    match group {
        Some(Group::Blocking) => 1,
        Some(Group::Readiness) => 2,
        Some(Group::Batch) => 3,
        Some(Group::Async) => 4,
        Some(Group::Offload) => 5,
        Some(Group::Program | Group::Harness) | None => 7,
    }
}

/// Formats a number with two or three digits, or all digits of a whole number: `1234`, `22.8`, `0.05`. Below 0.001:
/// `5.0e-4`.
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
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    fn row(engine: &str) -> Row {
        Row {
            sender: engine.to_owned(),
            receiver: engine.to_owned(),
            ..ordinary_row()
        }
    }

    #[test]
    fn every_engine_of_the_registry_has_a_group() {
        for entry in engines::all() {
            assert!(
                group(&row(entry.name().as_str())).is_some(),
                "{}",
                entry.name()
            );
        }
        assert_eq!(group(&row("another")), None);
    }

    #[test]
    fn plain_numbers_have_no_letters() {
        let all = [0.0, 0.25, 7.0, 12.34, 999.6, 1_234_567.0, -2500.0];
        let texts = all.map(plain).join(" ");
        assert_eq!(texts, "0 0.25 7 12.3 1000 1234567 -2500");
        let small = [0.0996, 0.099, 0.05, -0.0125, 0.001, 0.0005].map(plain);
        assert_eq!(small.join(" "), "0.1 0.099 0.05 -0.013 0.001 5.0e-4");
    }
}
