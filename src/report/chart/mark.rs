//! Marks: values with their intervals, and the legends that explain them.

use maud::{Markup, html};

use super::svg::{Point, line, px};
use crate::report::cases::drawable;

/// Returns an entry of a legend: a sign in the colour of `class`, and its meaning.
pub(in crate::report) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// A value with its interval.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Mark {
    pub(in crate::report) value: f64,
    pub(in crate::report) low: Option<f64>,
    pub(in crate::report) high: Option<f64>,
    pub(in crate::report) look: Look,
}

impl Mark {
    /// Returns the ends of the interval. `None`: no interval, or one that cannot be drawn.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.low?, self.high?);
        let is_drawable = |end: f64| drawable(end.abs()).is_some();
        (low <= high && is_drawable(low) && is_drawable(high)).then_some((low, high))
    }

    /// Draws the interval as a line, and the mark on it. `at`: position of a value.
    pub(super) fn draw(&self, at: impl Fn(f64) -> Point) -> Markup {
        html! {
            @if let Some((low, high)) = self.interval() {
                (line(&self.look.colour(), [at(low), at(high)]))
            }
            (self.look.draw(at(self.value)))
        }
    }
}

/// Look of a mark. Shape and colour both distinguish marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Look {
    /// Number of the colour, from 1; see `page.css`.
    pub(in crate::report) colour: u8,
    pub(in crate::report) shape: Shape,
    /// True for a filled mark, false for an outline. In charts of both kinds of sockets, filled is connected.
    pub(in crate::report) filled: bool,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Shape {
    Circle,
    Triangle,
    /// A triangle that stands on its tip.
    Tip,
    Square,
    Diamond,
}

/// Number of distinguishable looks, and maximum number of lines in a chart.
pub(in crate::report) const LOOKS: usize = 8;

impl Look {
    /// Returns the n-th distinguishable look, from 0.
    pub(in crate::report) fn nth(n: usize) -> Self {
        const SHAPES: [Shape; 4] = [
            Shape::Circle,
            Shape::Triangle,
            Shape::Square,
            Shape::Diamond,
        ];
        let n = n % LOOKS;
        Self {
            colour: u8::try_from(n + 1).unwrap_or(1),
            shape: SHAPES[n % SHAPES.len()],
            filled: n < SHAPES.len(),
        }
    }

    /// Returns the class in `page.css`.
    pub(in crate::report) fn colour(self) -> String {
        format!("c{}", self.colour)
    }

    /// Returns the character that looks like the mark.
    pub(super) fn sign(self) -> &'static str {
        let (filled, outline) = match self.shape {
            Shape::Circle => ("●", "○"),
            Shape::Triangle => ("▲", "△"),
            Shape::Tip => ("▼", "▽"),
            Shape::Square => ("■", "□"),
            Shape::Diamond => ("◆", "◇"),
        };
        if self.filled { filled } else { outline }
    }

    /// Draws the mark, centred at a point.
    fn draw(self, (x, y): Point) -> Markup {
        let (x, y) = (px(x), px(y));
        let class = format!(
            "{} {}",
            self.colour(),
            if self.filled { "mark" } else { "open" }
        );
        let outline = match self.shape {
            Shape::Circle => return html! { circle class=(class) cx=(x) cy=(y) r="4" {} },
            Shape::Triangle => "m0-5l5 9h-10z",
            Shape::Tip => "m0 5l5-9h-10z",
            Shape::Square => "m-3.5-3.5h7v7h-7z",
            Shape::Diamond => "m0-5l5 5l-5 5l-5-5z",
        };
        html! { path class=(class) d={ "M" (x) " " (y) (outline) } {} }
    }
}
