//! Charts as HTML tables and SVG. The page's style defines their colours, for light and dark mode.
//!
//! A chart of tracks is a table: label, drawing and values. The drawings share one axis. The browser lays out the text,
//! so none is cut off or covers another, however narrow the window is. `scale` computes positions and ticks of an axis.

mod scale;

use std::fmt::Write as _;

use maud::{Markup, html};

pub(super) use self::scale::Scale;
use self::scale::Tick;

/// Returns an entry of a legend: a sign in the colour of `class`, and its meaning.
pub(super) fn key(class: &str, sign: &str, what: &str) -> Markup {
    html! { span .key { span class=(class) { (sign) } " " (what) } " " }
}

/// Look of a mark. Sign and colour both distinguish marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Number of the colour, from 1; see `page.css`.
    pub(super) colour: u8,
    pub(super) sign: &'static str,
}

impl Look {
    /// A filled circle in the first colour.
    pub(super) const DOT: Self = Self {
        colour: 1,
        sign: "●",
    };

    /// Returns the class in `page.css`.
    pub(super) fn colour(self) -> String {
        format!("c{}", self.colour)
    }
}

/// A chart of tracks.
#[derive(Clone, Debug)]
pub(super) struct Tracks<'a> {
    /// Headings of the values, with their units.
    pub(super) columns: &'a [&'a str],
    /// Caption of the chart.
    pub(super) caption: &'a str,
    pub(super) scale: Scale,
    /// Position of a dashed reference line.
    pub(super) reference: Option<f64>,
    /// Range that is shaded over the whole height: changes in it do not matter.
    pub(super) band: Option<(f64, f64)>,
}

/// A line of the chart.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    /// Name of the line. A line without a drawing and values is a heading.
    pub(super) label: String,
    /// True for a part of the line above.
    pub(super) is_part: bool,
    pub(super) drawn: Vec<Drawn>,
    /// A value for each column, with its interval or another remark.
    pub(super) values: Vec<(String, String)>,
}

/// An element of the drawing.
#[derive(Clone, Debug)]
pub(super) enum Drawn {
    Interval { low: f64, high: f64 },
    Mark { at: f64, look: Look },
}

/// Returns the mark of a value with its interval.
pub(super) fn dot(at: f64, interval: Option<(f64, f64)>, look: Look) -> Vec<Drawn> {
    let interval = interval.map(|(low, high)| Drawn::Interval { low, high });
    let mark = Drawn::Mark { at, look };
    interval.into_iter().chain([mark]).collect()
}

impl<'a> Tracks<'a> {
    /// Returns a chart without a reference and a band.
    pub(super) fn new(columns: &'a [&'a str], caption: &'a str, scale: Scale) -> Self {
        Self {
            columns,
            caption,
            scale,
            reference: None,
            band: None,
        }
    }

    /// Draws the tracks in their order.
    pub(super) fn draw(&self, tracks: &[Track]) -> Markup {
        let ticks = self.scale.ticks();
        html! {
            table .tracks style={ "--lines:" (self.lines(&ticks)) } {
                caption { (self.caption) }
                colgroup { col .name; col; @for _ in self.columns { col .value; } }
                thead .unseen {
                    tr {
                        th scope="col" { "name" }
                        th scope="col" { "drawn" }
                        @for name in self.columns { th scope="col" { (name) } }
                    }
                }
                tbody { @for track in tracks { (self.track(track)) } }
                tfoot aria-hidden="true" {
                    tr {
                        td {}
                        td {
                            .axis {
                                @for (share, label) in labelled(&ticks) {
                                    span class=[edge(*share)] style={ "left:" (percent(*share)) "%" } { (label) }
                                }
                            }
                        }
                        @for name in self.columns { td { (name) } }
                    }
                }
            }
        }
    }

    // HTML does not need these end tags, and large sweeps have thousands.
    fn track(&self, track: &Track) -> Markup {
        if track.drawn.is_empty() && track.values.is_empty() {
            let columns = 2 + self.columns.len();
            return html! { tr .group; th scope="rowgroup" colspan=(columns) { (track.label) } };
        }
        html! {
            tr;
            th scope="row" class=[track.is_part.then_some("part")] { (track.label) }
            td;
            .plot aria-hidden="true" {
                @if let Some(value) = self.reference { s style=(self.left(value)) {} }
                @for drawn in &track.drawn { (self.drawn(drawn)) }
            }
            @for (value, about) in &track.values {
                td;
                (value) @if !about.is_empty() { " " small { (about) } }
            }
        }
    }

    fn drawn(&self, drawn: &Drawn) -> Markup {
        match drawn {
            Drawn::Interval { low, high } => html! { u style=(self.between(*low, *high)) {} },
            Drawn::Mark { at, look } => html! {
                b class=(look.colour()) style=(self.left(*at)) { (look.sign) }
            },
        }
    }

    /// Returns the lines of the ticks and the band as a CSS background.
    fn lines(&self, ticks: &[Tick]) -> String {
        let mut css = String::new();
        if let Some((low, high)) = self.band {
            let [low, high] = [low, high].map(|end| percent(self.scale.share(end)));
            // Writing to a String cannot fail.
            let _ = write!(
                css,
                "linear-gradient(90deg,#0000 {low}%,var(--band) {low}% {high}%,#0000 {high}%),"
            );
        }
        css += "linear-gradient(90deg,#0000 0";
        for (share, _) in ticks {
            let at = percent(*share);
            let _ = write!(
                css,
                " {at}%,var(--grid) {at}% calc({at}% + 1px),#0000 calc({at}% + 1px)"
            );
        }
        css + ")"
    }

    fn left(&self, value: f64) -> String {
        format!("left:{}%", percent(self.scale.share(value)))
    }

    fn between(&self, low: f64, high: f64) -> String {
        let width = self.scale.share(high) - self.scale.share(low);
        format!("{};width:{}%", self.left(low), percent(width.max(0.0)))
    }
}

/// Returns the ticks whose labels fit beside each other: both ends, and one between, which a phone leaves out.
fn labelled(ticks: &[Tick]) -> impl Iterator<Item = &Tick> {
    let mut all = ticks.iter();
    let middle = all.find(|(share, _)| (0.36..=0.64).contains(share));
    [ticks.first(), middle, ticks.last()].into_iter().flatten()
}

/// Returns the class of an axis label that is not to the right of its tick.
fn edge(share: f64) -> Option<&'static str> {
    match share {
        share if share < 0.2 => None,
        share if share > 0.8 => Some("last"),
        _ => Some("middle"),
    }
}

/// Converts a share to percent, rounded to a hundredth. Adding 0 removes the sign of a zero.
fn percent(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests;
