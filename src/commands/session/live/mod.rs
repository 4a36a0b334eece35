//! The live table: the cases of the current block after each window. This module makes the lines. [`Screen`] shows them.

mod screen;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) use self::screen::{Screen, text_line};
use crate::data::{BlockKey, Case, Sample};
use crate::stats::{self, Estimate};
use crate::text::digits::{interval_text, signed};

/// Speeds measured so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// Cases of each block that has begun.
    blocks: BTreeMap<BlockKey, Vec<Rival>>,
    in_hand: Option<BlockKey>,
}

/// A case and its windows so far.
#[derive(Clone, Debug)]
struct Rival {
    case: Case,
    /// Datagrams received per second in each window so far.
    windows_pps: Vec<f64>,
    /// Estimate of the speed, with its 95 % interval.
    estimate: Option<Estimate>,
}

impl Live {
    /// Begins a round of a block with these cases.
    pub(crate) fn block<'a>(
        &mut self,
        block: &BlockKey,
        cases: impl IntoIterator<Item = &'a Case>,
    ) {
        let rival = |case: &Case| Rival {
            case: *case,
            windows_pps: Vec::new(),
            estimate: None,
        };
        let rivals = self.blocks.entry(*block).or_default();
        if rivals.is_empty() {
            rivals.extend(cases.into_iter().map(rival));
        }
        self.in_hand = Some(*block);
    }

    /// Adds a window of a case of the current block.
    pub(crate) fn window(&mut self, sample: &Sample) {
        let block = self.in_hand.and_then(|block| self.blocks.get_mut(&block));
        let mut rivals = block.into_iter().flatten();
        if let Some(rival) = rivals.find(|rival| rival.case.key() == sample.case) {
            rival.windows_pps.extend(received_pps(sample));
            rival.estimate = stats::estimate(&rival.windows_pps);
        }
    }

    /// Draws the table: at most `height` lines of at most `width` columns. The last one counts the lines left out.
    pub(crate) fn draw(&self, width: u16, height: u16) -> Vec<String> {
        let (width, height) = (usize::from(width), usize::from(height));
        let in_hand = self.in_hand.as_ref();
        let Some((block, rivals)) = in_hand.and_then(|it| self.blocks.get_key_value(it)) else {
            return Vec::new();
        };
        let speeds = rivals.iter().filter_map(|rival| rival.estimate);
        let fastest = speeds.map(|speed| speed.middle).fold(0.0, f64::max);
        let rivals = rivals.iter().map(|rival| line(rival, fastest, width));
        let mut lines: Vec<String> = std::iter::once(format!("-- {block}"))
            .chain(rivals)
            .collect();
        if lines.len() > height {
            let more = lines.split_off(height.saturating_sub(1)).len();
            lines.push(format!("... {more} more"));
            lines.truncate(height);
        }
        let cut = |line: String| line.trim_end().chars().take(width).collect();
        lines.into_iter().map(cut).collect()
    }
}

fn line(rival: &Rival, fastest: f64, width: usize) -> String {
    let connection = rival.case.connection.short();
    let label_width = MAX_LABEL.min(width.saturating_sub(FIGURES));
    let label: String = rival.case.label().chars().take(label_width).collect();
    let mut line = format!("{label:label_width$} {connection:6}");
    let Some(estimate) = rival.estimate else {
        return line;
    };
    let kpps = estimate.middle / 1000.0;
    let decimals = usize::from(kpps < 1e4);
    let speed = format!("{kpps:.decimals$} kpps");
    let interval = estimate.low.zip(estimate.high);
    let interval = interval.filter(|_| is_interval(rival.windows_pps.len()));
    let reach = interval.and_then(|(low, high)| interval_text(estimate.middle, low, high));
    let reach = reach.map(|reach| signed(&reach) + "%");
    let _ = write!(line, " {speed:>11} {:>10}", reach.unwrap_or_default());
    let room = width.saturating_sub(line.chars().count() + 1);
    let share = estimate.middle / fastest;
    let is_filled = |cell: &usize| *cell as f64 - 0.5 <= share * room as f64;
    let length = (1..=room).take_while(is_filled).count();
    line + " " + &"#".repeat(length)
}

/// Longest label that is shown in full, in columns.
const MAX_LABEL: usize = 18;

/// Columns of the connection, the speed and the interval.
const FIGURES: usize = 30;

/// Returns whether the interval of this many windows covers the middle as often as it says. Of fewer windows, it is
/// their range.
fn is_interval(windows: usize) -> bool {
    stats::coverage(windows) >= stats::CONFIDENCE
}

/// Returns the received datagrams per second. `None` for a window of no length.
fn received_pps(sample: &Sample) -> Option<f64> {
    let received: u64 = sample.threads.iter().map(|thread| thread.result().0).sum();
    (sample.window_ns > 0).then(|| received as f64 * 1e9 / sample.window_ns as f64)
}

#[cfg(test)]
mod tests;
