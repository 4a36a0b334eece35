//! The style of the progress bar.

use std::fmt;
use std::time::Duration;

use indicatif::{FormattedDuration, ProgressState, ProgressStyle};

/// Returns the style of a bar that counts windows. The time left is computed, not estimated: all windows take the same
/// time.
pub(super) fn style(time_per_window: Duration) -> ProgressStyle {
    let left = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let windows = state.len().unwrap_or_default().saturating_sub(state.pos());
        let left = time_per_window.saturating_mul(u32::try_from(windows).unwrap_or(u32::MAX));
        let _ = write!(out, "{} left", FormattedDuration(left));
    };
    ProgressStyle::with_template("{wide_bar} {percent:>3} % {left:>13}  {msg:36!}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
}
