//! What is around the data: grid, ticks and their words.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Mark;
use super::axis::Axis;
use super::svg::{Canvas, Failure, Ink, words};

/// Pixels around the data; the words below the lower edge have [`Frame::LABELS`] more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub(super) top: u32,
    pub(super) right: u32,
    pub(super) bottom: u32,
    pub(super) left: u32,
}

/// A grid with room for data.
pub(super) struct Frame<'c, 'b> {
    canvas: &'c Canvas<'b>,
    chart: ChartContext<'c, SVGBackend<'b>, Cartesian2d<Axis, Axis>>,
}

impl<'c, 'b> Frame<'c, 'b> {
    /// Height of the words below the lower edge: those of the ticks, and one line.
    pub(super) const LABELS: u32 = 42;

    /// Draws the grid and the words at the ticks.
    pub(super) fn draw(
        canvas: &'c Canvas<'b>,
        edges: Edges,
        x: Axis,
        y: Axis,
    ) -> Result<Self, Failure> {
        let (x_words, y_words) = (x.clone(), y.clone());
        let mut chart = ChartBuilder::on(canvas)
            .margin_top(edges.top)
            .margin_right(edges.right)
            .margin_bottom(edges.bottom)
            .x_label_area_size(Self::LABELS)
            .y_label_area_size(edges.left)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .bold_line_style(Ink::Grid.line())
            .axis_style(Ink::Grid.line())
            .set_all_tick_mark_size(3)
            .label_style(words(HPos::Center, VPos::Center))
            .x_label_formatter(&|place| x_words.words(*place))
            .y_label_formatter(&|place| y_words.words(*place))
            .draw()?;
        Ok(Self { canvas, chart })
    }

    /// The pixel of a place.
    pub(super) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        self.chart.backend_coord(&(x, y))
    }

    /// The pixels of the upper and the lower edge.
    pub(super) fn height(&self) -> (i32, i32) {
        let rows = self.chart.plotting_area().get_pixel_range().1;
        (rows.start, rows.end)
    }

    /// The pixel in the middle between left and right.
    pub(super) fn middle(&self) -> i32 {
        let columns = self.chart.plotting_area().get_pixel_range().0;
        (columns.start + columns.end) / 2
    }

    /// Writes words at a pixel.
    pub(super) fn write(&self, text: &str, at: (i32, i32), h_pos: HPos) -> Result<(), Failure> {
        self.canvas
            .draw(&Text::new(text, at, words(h_pos, VPos::Center)))
    }

    /// Names the lower axis.
    pub(super) fn name_below(&self, text: &str) -> Result<(), Failure> {
        self.write(text, (self.middle(), self.height().1 + 31), HPos::Center)
    }

    /// Draws a line through pixels.
    pub(super) fn line(&self, through: Vec<(i32, i32)>, ink: Ink) -> Result<(), Failure> {
        self.canvas.draw(&PathElement::new(through, ink.line()))
    }

    /// Draws a dot at a pixel.
    pub(super) fn point(&self, at: (i32, i32)) -> Result<(), Failure> {
        self.canvas.draw(&Circle::new(at, 2, Ink::Point.filled()))
    }

    /// Draws a mark, and the line of its interval first; `at` says where a value is.
    pub(super) fn mark(&self, mark: &Mark, at: impl Fn(f64) -> (i32, i32)) -> Result<(), Failure> {
        if let Some((low, high)) = mark.interval() {
            self.line(vec![at(low), at(high)], Ink::Solid(mark.look.colour))?;
        }
        mark.look.draw(self.canvas, at(mark.value))
    }
}
