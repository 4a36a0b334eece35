//! The live table: the block in hand, window by window, and the engines over the blocks that are done. It
//! only makes lines; [`Screen`] shows them.

mod glyphs;
mod screen;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) use self::glyphs::Glyphs;
pub(crate) use self::screen::Screen;
use crate::data::{BlockKey, Case, Connection, Sample};
use crate::row::{Row, Status};
use crate::stats::{self, Estimate};

/// What is known so far.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    glyphs: Glyphs,
    heading: String,
    rivals: Vec<Rival>,
    /// Of each engine, the logarithms of its ratios to std in the blocks that are done.
    done: BTreeMap<String, Vec<f64>>,
}

/// A case of the block in hand.
#[derive(Clone, Debug)]
struct Rival {
    key: String,
    label: String,
    connection: Connection,
    /// Datagrams received per second, of each window so far.
    windows_pps: Vec<f64>,
}

impl Live {
    /// Nothing is known yet.
    pub(crate) fn new(glyphs: Glyphs) -> Self {
        Self {
            glyphs,
            heading: String::new(),
            rivals: Vec::new(),
            done: BTreeMap::new(),
        }
    }

    /// A block begins, with these cases.
    pub(crate) fn block<'a>(
        &mut self,
        block: &BlockKey,
        cases: impl IntoIterator<Item = &'a Case>,
    ) {
        let rival = |case: &Case| Rival {
            key: case.key(),
            label: case.label(),
            connection: case.connection,
            windows_pps: Vec::new(),
        };
        self.heading = block.to_string();
        self.rivals = cases.into_iter().map(rival).collect();
    }

    /// A window of a case of this block is over.
    pub(crate) fn window(&mut self, sample: &Sample) {
        let mut rivals = self.rivals.iter_mut();
        if let Some(rival) = rivals.find(|rival| rival.key == sample.case) {
            rival.windows_pps.extend(received_pps(sample));
        }
    }

    /// These rows are final.
    pub(crate) fn rows(&mut self, rows: &[Row]) {
        for row in rows.iter().filter(|row| row.status == Status::Ok) {
            if let Some(ratio) = row.ratio_to_std.filter(|&ratio| ratio > 0.0) {
                self.done.entry(row.label()).or_default().push(ratio.ln());
            }
        }
    }

    /// The lines: at most `height` of them, none longer than `width`. The block in hand has two thirds of
    /// them or more.
    pub(crate) fn draw(&self, width: u16, height: u16) -> Vec<String> {
        let (width, height) = (usize::from(width), usize::from(height));
        let (in_hand, done) = (self.in_hand(width), self.done());
        let for_done = done
            .len()
            .min((height / 3).max(height.saturating_sub(in_hand.len())));
        let mut lines = at_most(height - for_done, in_hand);
        lines.extend(at_most(for_done, done));
        let cut = |line: String| line.trim_end().chars().take(width).collect();
        lines.into_iter().map(cut).collect()
    }

    fn in_hand(&self, width: usize) -> Vec<String> {
        if self.heading.is_empty() {
            return Vec::new();
        }
        let estimates: Vec<Option<Estimate>> = self
            .rivals
            .iter()
            .map(|rival| stats::estimate(&rival.windows_pps))
            .collect();
        let medians = estimates.iter().flatten().map(|estimate| estimate.median);
        let fastest = medians.fold(0.0, f64::max);
        let rivals = self.rivals.iter().zip(estimates);
        let lines = rivals.map(|(rival, estimate)| self.line(rival, estimate, fastest, width));
        std::iter::once(format!("-- {}", self.heading))
            .chain(lines)
            .collect()
    }

    fn line(
        &self,
        rival: &Rival,
        estimate: Option<Estimate>,
        fastest: f64,
        width: usize,
    ) -> String {
        let connection = match rival.connection {
            Connection::Connected => "conn",
            Connection::Unconnected => "unconn",
        };
        let label_width = MAX_LABEL.min(width.saturating_sub(FIGURES));
        let label: String = rival.label.chars().take(label_width).collect();
        let mut line = format!("{label:label_width$} {connection:6}");
        let Some(estimate) = estimate else {
            return line;
        };
        let speed = format!("{:.1}k/s", estimate.median / 1000.0);
        let half = half_width_pct(estimate);
        let half = half.map(|half| format!("{}{half:.1}%", self.glyphs.plus_minus()));
        let _ = write!(line, " {speed:>9} {:>7}", half.unwrap_or_default());
        if width >= ROOMY {
            let shown = rival.windows_pps.len().saturating_sub(SPARKS);
            let sparks = self.glyphs.sparkline(&rival.windows_pps[shown..]);
            let _ = write!(line, " {sparks:SPARKS$}");
        }
        let room = width.saturating_sub(line.chars().count() + 1);
        line + " " + &self.glyphs.bar(estimate.median / fastest, room)
    }

    /// The engines of the blocks that are done, the fastest first.
    fn done(&self) -> Vec<String> {
        let mean = |logarithms: &Vec<f64>| {
            (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
        };
        let engines = self.done.iter();
        let mut engines: Vec<(f64, &str, usize)> = engines
            .map(|(label, logarithms)| (mean(logarithms), label.as_str(), logarithms.len()))
            .collect();
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

/// The longest label that is shown whole.
const MAX_LABEL: usize = 18;

/// What the connection, the speed and the interval take.
const FIGURES: usize = 25;

/// From this width on there is room for sparks.
const ROOMY: usize = 72;

/// How many windows are shown as sparks.
const SPARKS: usize = 16;

/// `None`: a window that never was.
fn received_pps(sample: &Sample) -> Option<f64> {
    let received: u64 = sample.lanes.iter().map(|lane| lane.received_packets).sum();
    (sample.window_ns > 0).then(|| received as f64 * 1e9 / sample.window_ns as f64)
}

/// Half of the interval, in percent of the median.
fn half_width_pct(estimate: Estimate) -> Option<f64> {
    let width = estimate.high? - estimate.low?;
    (estimate.median > 0.0).then(|| 50.0 * width / estimate.median)
}

/// The first `most` lines; where that is not all of them, the last one says so.
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
