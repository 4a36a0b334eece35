//! The live table: the cases of the current block after each window, and the engines over all windows. This module
//! makes the lines. [`Screen`] shows them.

mod screen;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) use self::screen::Screen;
use crate::data::{BlockKey, Case, Sample};
use crate::stats::{self, Estimate};
use crate::term::digits::{interval_text, signed};

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

    /// Draws the table: at most `height` lines of at most `width` columns. The current block gets at least two thirds
    /// of them.
    pub(crate) fn draw(&self, width: u16, height: u16) -> Vec<String> {
        let (width, height) = (usize::from(width), usize::from(height));
        let (in_hand, engines) = (self.in_hand(width), self.engines());
        let for_engines = engines
            .len()
            .min((height / 3).max(height.saturating_sub(in_hand.len())));
        let mut lines = at_most(height - for_engines, in_hand);
        lines.extend(at_most(for_engines, engines));
        let cut = |line: String| line.trim_end().chars().take(width).collect();
        lines.into_iter().map(cut).collect()
    }

    fn in_hand(&self, width: usize) -> Vec<String> {
        let in_hand = self
            .in_hand
            .and_then(|block| self.blocks.get_key_value(&block));
        let Some((block, rivals)) = in_hand else {
            return Vec::new();
        };
        let speeds = rivals.iter().filter_map(|rival| rival.estimate);
        let fastest = speeds.map(|speed| speed.middle).fold(0.0, f64::max);
        let lines = rivals.iter().map(|rival| line(rival, fastest, width));
        std::iter::once(format!("-- {block}"))
            .chain(lines)
            .collect()
    }

    /// Returns the lines of the engines, the fastest first.
    fn engines(&self) -> Vec<String> {
        let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for rivals in self.blocks.values() {
            let reference = rivals.iter().find(|rival| rival.case.is_reference());
            let Some(reference) = reference.and_then(Rival::ln) else {
                continue;
            };
            for rival in rivals {
                if let Some(ln) = rival.ln() {
                    let of_engine = ratios.entry(rival.case.label()).or_default();
                    of_engine.push(ln - reference);
                }
            }
        }
        let mean = |logarithms: &[f64]| logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        let engines = ratios
            .iter()
            .map(|(label, logarithms)| (mean(logarithms).exp(), label.as_str(), logarithms.len()));
        let mut engines: Vec<(f64, &str, usize)> = engines.collect();
        if engines.is_empty() {
            return Vec::new();
        }
        engines.sort_by(|a, b| b.0.total_cmp(&a.0));
        let lines = engines.iter().map(|(ratio, label, cases)| {
            let plural = if *cases == 1 { "" } else { "s" };
            let label: String = label.chars().take(MAX_LABEL).collect();
            format!("{label:MAX_LABEL$} {ratio:>7.3} in {cases} case{plural}")
        });
        let heading = "-- so far, times std (geometric mean)".to_owned();
        std::iter::once(heading).chain(lines).collect()
    }
}

impl Rival {
    /// Returns the natural logarithm of the speed.
    fn ln(&self) -> Option<f64> {
        let pps = self.estimate?.middle;
        (pps > 0.0).then(|| pps.ln())
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
    // 0 of 0 is no length, either.
    let length = (estimate.middle / fastest * room as f64).round() as usize;
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

/// Returns the first `most` lines. The last one counts the lines left out.
fn at_most(most: usize, mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > most {
        let more = lines.split_off(most.saturating_sub(1)).len();
        lines.push(format!("... {more} more"));
        lines.truncate(most);
    }
    lines
}

#[cfg(test)]
mod tests;
