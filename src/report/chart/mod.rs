//! Pictures, as SVG whose colours are those of the page's style, by day and by night.

mod dots;
mod lines;
mod scale;
mod svg;
mod time_series;

use maud::{Markup, html};

pub(super) use self::dots::{Dots, First, Row};
pub(super) use self::lines::{Line, Lines, legend};
use self::svg::{Point, line, px};
pub(super) use self::time_series::TimeSeries;

/// How wide a picture is, in its own pixels: about a phone, so that its words can be read there.
const WIDTH: f64 = 360.0;

/// A picture with its caption.
pub(super) fn figure(caption: &str, picture: &Markup) -> Markup {
    html! { figure { figcaption { (caption) } (picture) } }
}

/// An entry of a legend: a sign in the colour of this class, and what it stands for.
pub(super) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// A value and how sure it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) value: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) look: Look,
}

impl Mark {
    /// The ends of its interval, if it has one that can be drawn.
    fn interval(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.low?, self.high?);
        let is_drawable = |end: f64| super::cases::drawable(end.abs()).is_some();
        (low <= high && is_drawable(low) && is_drawable(high)).then_some((low, high))
    }

    /// The mark on the line of its interval; `at` says where a value is.
    fn draw(&self, at: impl Fn(f64) -> Point) -> Markup {
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
pub(super) struct Look {
    /// From 1; see `page.css`.
    pub(super) colour: u8,
    pub(super) shape: Shape,
    /// Connected; an outline is unconnected, where a picture shows both.
    pub(super) filled: bool,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Triangle,
    /// A triangle that stands on its tip.
    Tip,
    Square,
    Diamond,
}

/// As many lines as can be told apart.
pub(super) const LOOKS: usize = 8;

impl Look {
    /// The n-th of those that can be told apart, from 0.
    pub(super) fn nth(n: usize) -> Self {
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
    fn colour(self) -> String {
        format!("c{}", self.colour)
    }

    /// The character that looks like it.
    fn sign(self) -> &'static str {
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
