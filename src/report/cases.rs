//! Names of cases in charts, and the values that can be drawn.

use std::fmt::Write as _;

use crate::data::{BlockKey, Destination, Payload, Transport};
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
