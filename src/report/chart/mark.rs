//! Marks of values, and the legends that explain them.

use maud::{Markup, html};

/// Returns an entry of a legend: a sign in the colour of `class`, and its meaning.
pub(in crate::report) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// Look of a mark. Shape and colour both distinguish marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Look {
    /// Number of the colour, from 1; see `page.css`.
    pub(in crate::report) colour: u8,
    pub(in crate::report) shape: Shape,
    /// True for a filled mark, false for an outline.
    pub(in crate::report) filled: bool,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Shape {
    Circle,
    Triangle,
    /// A triangle that stands on its tip.
    Tip,
    Diamond,
}

impl Look {
    /// A filled circle in the first colour.
    pub(in crate::report) const DOT: Self = Self {
        colour: 1,
        shape: Shape::Circle,
        filled: true,
    };

    /// Returns the class in `page.css`.
    pub(in crate::report) fn colour(self) -> String {
        format!("c{}", self.colour)
    }

    /// Returns the character that looks like the mark.
    pub(in crate::report) fn sign(self) -> &'static str {
        let (filled, outline) = match self.shape {
            Shape::Circle => ("●", "○"),
            Shape::Triangle => ("▲", "△"),
            Shape::Tip => ("▼", "▽"),
            Shape::Diamond => ("◆", "◇"),
        };
        if self.filled { filled } else { outline }
    }
}
