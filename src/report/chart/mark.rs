//! Marks: values with their intervals, and the legends that explain them.

use maud::{Markup, html};

use super::svg::{Point, line, px};
use crate::report::cases::drawable;

/// An entry of a legend: a sign in the colour of this class, and its meaning.
pub(in crate::report) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// A value and how sure it is.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Mark {
    pub(in crate::report) value: f64,
    pub(in crate::report) low: Option<f64>,
    pub(in crate::report) high: Option<f64>,
    pub(in crate::report) look: Look,
}

impl Mark {
    /// The ends of its interval, if it has one that can be drawn.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.low?, self.high?);
        let is_drawable = |end: f64| drawable(end.abs()).is_some();
        (low <= high && is_drawable(low) && is_drawable(high)).then_some((low, high))
    }

    /// The mark on the line of its interval; `at` says where a value is.
    pub(super) fn draw(&self, at: impl Fn(f64) -> Point) -> Markup {
        html! {
            @if let Some((low, high)) = self.interval() {
                (line(&self.look.colour(), [at(low), at(high)]))
            }
            (self.look.draw(at(self.value)))
        }
    }
}

/// How a mark looks: told apart by shape as well as by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Look {
    /// From 1; see `page.css`.
    pub(in crate::report) colour: u8,
    pub(in crate::report) shape: Shape,
    /// Connected; an outline is unconnected, where a picture shows both.
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

/// As many lines as can be told apart.
pub(in crate::report) const LOOKS: usize = 8;

impl Look {
    /// The n-th of those that can be told apart, from 0.
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

    /// Its class in `page.css`.
    pub(super) fn colour(self) -> String {
        format!("c{}", self.colour)
    }

    /// The character that looks like it.
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

    /// The mark with its middle at this point.
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
