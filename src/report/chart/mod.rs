//! Pictures. plotters draws them in fixed colours; [`svg`] turns these into classes, and the page's style
//! gives them their colours, by day and by night.

mod axis;
mod dots;
mod drift;
mod frame;
mod lines;
mod scale;
mod svg;

use maud::{Markup, html};
use plotters::prelude::*;

pub(super) use self::dots::{DotRow, Dots, First};
pub(super) use self::drift::Course;
pub(super) use self::lines::{Line, Lines};
use self::svg::{Canvas, Failure, Ink};

/// How wide a picture is, in its own pixels: about a phone, so that its words can be read there.
const WIDTH: u32 = 360;

/// A picture with its caption.
pub(super) fn figure(caption: &str, picture: &Markup) -> Markup {
    html! { figure { figcaption { (caption) } (picture) } }
}

/// An entry of a legend: a sign in the colour of this class, and what it stands for.
pub(super) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// A label of at most so many characters: the tables have the rest.
fn shortened(label: &str, most: usize) -> String {
    if label.chars().count() <= most {
        return label.to_owned();
    }
    let kept: String = label.chars().take(most - 1).collect();
    kept + "…"
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

    fn ink(self) -> Ink {
        if self.filled {
            Ink::Solid(self.colour)
        } else {
            Ink::Hollow(self.colour)
        }
    }

    /// Draws it with its middle at this pixel.
    fn draw(self, canvas: &Canvas, at: (i32, i32)) -> Result<(), Failure> {
        let style = self.ink().filled();
        let outline: &[(i32, i32)] = match self.shape {
            Shape::Circle => return canvas.draw(&Circle::new(at, 4, style)),
            Shape::Triangle => &[(0, -5), (5, 4), (-5, 4)],
            Shape::Tip => &[(0, 5), (5, -4), (-5, -4)],
            Shape::Square => &[(-3, -3), (4, -3), (4, 4), (-3, 4)],
            Shape::Diamond => &[(0, -5), (5, 0), (0, 5), (-5, 0)],
        };
        let points: Vec<_> = outline.iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect();
        canvas.draw(&Polygon::new(points, style))
    }
}
