//! SVG elements, in pixels of the picture. Colours, line widths and fonts are those of `page.css`.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::scale::Tick;

/// A point: x to the right, y downwards.
pub(super) type Point = (f64, f64);

/// Width of a chart, in its own pixels: about a phone's, so that its text is readable there.
pub(super) const WIDTH: f64 = 400.0;

/// Height of an axis' tick labels and name.
pub(super) const LABELS: f64 = 42.0;

/// Returns a chart with its caption.
pub(in crate::report) fn figure(caption: &str, picture: &Markup) -> Markup {
    html! { figure { figcaption { (caption) } (picture) } }
}

/// Returns a whole chart. `about`: the text that replaces it for screen readers.
pub(super) fn picture((width, height): Point, about: &str, parts: &Markup) -> Markup {
    html! {
        svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(about) { (parts) }
    }
}

/// Rounds to a tenth of a pixel. Adding 0 removes the sign of a zero.
pub(super) fn px(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0
}

/// Returns a text whose middle is at this height. The group around it may have a `text-anchor`.
pub(super) fn text((x, y): Point, words: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y + 4.0)) { (words) } }
}

/// The part of a chart that contains the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// Returns the point at these positions, from 0 to 1, along the lower and the left edge.
    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (
            self.left + (self.right - self.left) * x,
            self.bottom - (self.bottom - self.top) * y,
        )
    }

    /// Returns the grid and the labels of its lines.
    pub(super) fn grid(&self, x: &[Tick], y: &[Tick]) -> Markup {
        let Self {
            left, top, bottom, ..
        } = *self;
        let right = self.right - left;
        let mut path = format!("M{left} {top}V{bottom}h{right}");
        for (share, _) in x {
            let _ = write!(
                path,
                "M{} {top}V{}",
                px(self.at(*share, 0.0).0),
                bottom + 3.0
            );
        }
        for (share, _) in y {
            let _ = write!(
                path,
                "M{} {}h{}",
                left - 3.0,
                px(self.at(0.0, *share).1),
                right + 3.0
            );
        }
        html! {
            path .grid d=(path) {}
            g text-anchor="end" {
                @for (share, label) in y { (text((left - 6.0, self.at(0.0, *share).1), label)) }
            }
            // Low enough that the first label does not touch a label of the left edge.
            g text-anchor="middle" {
                @for (share, label) in x { (text((self.at(*share, 0.0).0, bottom + 15.0), label)) }
            }
        }
    }
}
