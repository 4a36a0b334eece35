//! Marks of values, and the legends that explain them.

use maud::{Markup, html};

/// Returns an entry of a legend: a sign in the colour of `class`, and its meaning.
pub(in crate::report) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// Look of a mark. Sign and colour both distinguish marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Look {
    /// Number of the colour, from 1; see `page.css`.
    pub(in crate::report) colour: u8,
    pub(in crate::report) sign: &'static str,
}

impl Look {
    /// A filled circle in the first colour.
    pub(in crate::report) const DOT: Self = Self {
        colour: 1,
        sign: "●",
    };

    /// Returns the class in `page.css`.
    pub(in crate::report) fn colour(self) -> String {
        format!("c{}", self.colour)
    }
}
