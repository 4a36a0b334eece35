//! Values over payload, a line for each engine: for few engines and several payloads.

use maud::Markup;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::frame::{Edges, Frame};
use super::scale::Scale;
use super::svg::{Canvas, Failure, Ink, picture};
use super::{Mark, WIDTH, shortened};
use crate::report::number;

/// A picture of values over payload.
#[derive(Clone, Debug)]
pub(in crate::report) struct Lines<'a> {
    /// What the values are, with their unit.
    pub(in crate::report) axis: &'a str,
    /// The payloads, in bytes: equal steps, whatever lies between them.
    pub(in crate::report) payloads: &'a [usize],
    /// Where the values are shown.
    pub(in crate::report) caption: &'a str,
}

/// An engine and its values, each with the index of its payload.
#[derive(Clone, Debug)]
pub(in crate::report) struct Line {
    pub(in crate::report) label: String,
    pub(in crate::report) marks: Vec<(usize, Mark)>,
}

/// In characters: as many as half of the picture holds beside the sign.
const LONGEST_LABEL: usize = 23;
/// Where the name of the values has room.
const TOP: u32 = 26;

impl Lines<'_> {
    /// Draws the lines.
    pub(in crate::report) fn draw(&self, lines: &[Line]) -> Markup {
        let size = (WIDTH, TOP + 190 + Frame::LABELS + legend_height(lines));
        picture(size, &self.about(lines), |canvas| {
            self.draw_on(canvas, lines)
        })
    }

    fn draw_on(&self, canvas: &Canvas, lines: &[Line]) -> Result<(), Failure> {
        let marks = lines.iter().flat_map(|line| &line.marks);
        let values = marks.flat_map(|(_, mark)| [Some(mark.value), mark.high]);
        let scale = Scale::linear(values.flatten());
        let edges = Edges {
            top: TOP,
            right: 10,
            bottom: legend_height(lines),
            left: 48,
        };
        let frame = Frame::draw(canvas, edges, self.steps(), scale.axis())?;
        frame.write(self.axis, (4, 10), HPos::Left)?;
        frame.name_below("payload in bytes")?;
        for (n, line) in lines.iter().enumerate() {
            // Side by side, or intervals would hide each other.
            let aside = (n as f64 - (lines.len() as f64 - 1.0) / 2.0) * 0.07;
            let at = |step: usize, value| frame.at(step as f64 + aside, scale.place(value));
            line.draw(&frame, at)?;
            line.name(canvas, &frame, n)?;
        }
        Ok(())
    }

    /// The payloads as an axis.
    fn steps(&self) -> Axis {
        let names = self.payloads.iter().enumerate();
        let ticks = names.map(|(n, payload)| (n as f64, payload.to_string()));
        Axis {
            range: -0.35..self.payloads.len() as f64 - 0.65,
            ticks: ticks.collect(),
        }
    }

    fn about(&self, lines: &[Line]) -> String {
        let said = lines.iter().filter_map(|line| {
            let (n, mark) = line.marks.last()?;
            let payload = self.payloads.get(*n)?;
            Some(format!(
                "{} {} at {payload} B",
                line.label,
                number::short(mark.value)
            ))
        });
        let said: Vec<String> = said.collect();
        format!(
            "Lines: {} over payload, {}. {}. All values are in the tables.",
            self.axis,
            self.caption,
            said.join("; ")
        )
    }
}

impl Line {
    fn draw(&self, frame: &Frame, at: impl Fn(usize, f64) -> (i32, i32)) -> Result<(), Failure> {
        let Some((_, first)) = self.marks.first() else {
            return Ok(());
        };
        let through = self.marks.iter().map(|(step, mark)| at(*step, mark.value));
        frame.line(through.collect(), Ink::Solid(first.look.colour))?;
        for (step, mark) in &self.marks {
            frame.mark(mark, |value| at(*step, value))?;
        }
        Ok(())
    }

    /// Its entry in the legend, the n-th in two columns.
    fn name(&self, canvas: &Canvas, frame: &Frame, n: usize) -> Result<(), Failure> {
        let Some((_, first)) = self.marks.first() else {
            return Ok(());
        };
        let n = i32::try_from(n).unwrap_or(0);
        let top = frame.height().1 + 53;
        let (x, y) = (16 + n % 2 * 172, top + n / 2 * 18);
        first.look.draw(canvas, (x, y))?;
        frame.write(
            &shortened(&self.label, LONGEST_LABEL),
            (x + 10, y),
            HPos::Left,
        )
    }
}

fn legend_height(lines: &[Line]) -> u32 {
    u32::try_from(lines.len().div_ceil(2)).unwrap_or(0) * 18 + 4
}
