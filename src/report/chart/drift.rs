//! Values over time: a point each, and the course of their medians.

use maud::Markup;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::frame::{Edges, Frame};
use super::scale::Scale;
use super::svg::{Canvas, Failure, Ink, picture};
use crate::report::number;

/// A picture of values over time.
#[derive(Clone, Debug)]
pub(in crate::report) struct Course<'a> {
    /// What the values are, with their unit.
    pub(in crate::report) axis: &'a str,
    /// Seconds since the first, and a value.
    pub(in crate::report) points: &'a [(f64, f64)],
    /// The range of values that is shown; points beyond are at its edge.
    pub(in crate::report) range: (f64, f64),
    /// Of equal parts of the time: their middle in seconds, and the median.
    pub(in crate::report) medians: &'a [(f64, f64)],
    /// What it shows, for those who do not see it.
    pub(in crate::report) about: &'a str,
}

const SIZE: (u32, u32) = (640, 240);

impl Course<'_> {
    /// Draws the points and the line.
    pub(in crate::report) fn draw(&self) -> Markup {
        picture(SIZE, self.about, |canvas| self.draw_on(canvas))
    }

    fn draw_on(&self, canvas: &Canvas) -> Result<(), Failure> {
        let last = self.points.iter().map(|point| point.0).fold(0.0, f64::max);
        let seconds = Scale::linear([last]).up_to(last);
        let edges = Edges {
            top: 26,
            right: 16,
            bottom: 0,
            left: 48,
        };
        let frame = Frame::draw(canvas, edges, seconds.axis(), self.values())?;
        frame.write(self.axis, (4, 10), HPos::Left)?;
        frame.name_below("seconds since the first window")?;
        let (low, high) = self.range;
        let at = |&(x, y): &(f64, f64)| frame.at(seconds.place(x), y.max(low).min(high));
        let mut places: Vec<_> = self.points.iter().map(at).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            frame.point(place)?;
        }
        frame.line(self.medians.iter().map(at).collect(), Ink::Solid(2))
    }

    /// The values as an axis.
    fn values(&self) -> Axis {
        let (low, high) = self.range;
        let ticks = (0..=4).map(|n| low + (high - low) * f64::from(n) / 4.0);
        Axis {
            range: low..high,
            ticks: ticks.map(|tick| (tick, number::short(tick))).collect(),
        }
    }
}
