//! From plotters' fixed colours to the page's classes.

use maud::{Escaper, Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::fmt::Write as _;

/// What is drawn on: pixels.
pub(super) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What cannot happen to a drawing in memory, but has a type.
pub(super) type Failure = DrawingAreaErrorKind<std::io::Error>;

/// A colour of the page: stands in the drawing as one that nobody would choose, until [`dress`] finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Axes and words.
    Text,
    /// Lines behind the data.
    Grid,
    /// The line at the reference.
    Reference,
    /// Points that are many: they become one path.
    Point,
    /// A colour of the data, from 1 to [`super::LOOKS`].
    Solid(u8),
    /// The same as an outline.
    Hollow(u8),
}

impl Ink {
    fn colour(self) -> RGBColor {
        match self {
            Self::Text => RGBColor(254, 252, 0),
            Self::Grid => RGBColor(254, 252, 1),
            Self::Reference => RGBColor(254, 252, 2),
            Self::Point => RGBColor(254, 252, 3),
            Self::Solid(n) => RGBColor(254, 254, n),
            Self::Hollow(n) => RGBColor(254, 253, n),
        }
    }

    pub(super) fn line(self) -> ShapeStyle {
        self.colour().stroke_width(1)
    }

    pub(super) fn filled(self) -> ShapeStyle {
        self.colour().filled()
    }

    /// The letters after `l` (lines) and `m` (marks) in `page.css`.
    fn class(self) -> String {
        match self {
            Self::Text => "t".to_owned(),
            Self::Grid => "g".to_owned(),
            Self::Reference => "r".to_owned(),
            Self::Point => "p".to_owned(),
            Self::Solid(n) => n.to_string(),
            Self::Hollow(n) => format!("{n} h"),
        }
    }
}

/// A style for words; their size is the page's.
pub(super) fn words(h_pos: HPos, v_pos: VPos) -> TextStyle<'static> {
    let style: TextStyle = ("sans-serif", 13).into();
    TextStyle {
        color: Ink::Text.colour().to_backend_color(),
        ..style
    }
    .pos(Pos::new(h_pos, v_pos))
}

/// Draws a picture; `about` is what it says to those who do not see it.
pub(super) fn picture(
    (width, height): (u32, u32),
    about: &str,
    draw: impl FnOnce(&Canvas) -> Result<(), Failure>,
) -> Markup {
    let mut drawn = String::new();
    let outcome = {
        let canvas = SVGBackend::with_string(&mut drawn, (width, height)).into_drawing_area();
        draw(&canvas).and_then(|()| canvas.present())
    };
    if let Err(error) = outcome {
        return html! { p { "This picture could not be drawn: " (error) } };
    }
    let body = drawn.split_once(">\n").map_or("", |(_, body)| body);
    let mut svg = format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"");
    // A String takes everything.
    let _ = write!(Escaper::new(&mut svg), "{about}");
    svg.push_str("\">");
    svg.push_str(&dress(body));
    PreEscaped(svg)
}

/// Replaces colours by classes and drops what the page's style says. Only attributes match: in words, a quote
/// is written `&quot;`.
fn dress(drawn: &str) -> String {
    let data = (1..=8).flat_map(|n| [Ink::Solid(n), Ink::Hollow(n)]);
    let mut svg = drawn.replace(" \"/>\n", "\"/>").replace("/>\n", "/>");
    for ink in [Ink::Text, Ink::Grid, Ink::Reference, Ink::Point]
        .into_iter()
        .chain(data)
    {
        let RGBColor(r, g, b) = ink.colour();
        let colour = format!("#{r:02X}{g:02X}{b:02X}");
        if !svg.contains(&colour) {
            continue;
        }
        let class = ink.class();
        let line = format!("class=\"l{class}\"");
        let mark = format!("class=\"m{class}\"");
        for (from, to) in [
            (
                format!("fill=\"none\" opacity=\"1\" stroke=\"{colour}\" stroke-width=\"1\""),
                &line,
            ),
            (
                format!("opacity=\"1\" stroke=\"{colour}\" stroke-width=\"1\""),
                &line,
            ),
            (
                format!("opacity=\"1\" fill=\"{colour}\" stroke=\"none\" stroke-width=\"1\""),
                &mark,
            ),
            (
                format!("opacity=\"1\" fill=\"{colour}\" stroke=\"none\""),
                &mark,
            ),
            (
                format!("opacity=\"1\" fill=\"{colour}\" points"),
                &format!("{mark} points"),
            ),
        ] {
            svg = svg.replace(&from, to);
        }
        svg = svg.replace(&format!(" opacity=\"1\" fill=\"{colour}\">"), ">");
    }
    points_as_one(&svg.replace(&font(), ""))
}

/// Thousands of circles would be most of the page: a path of round dots takes a tenth.
fn points_as_one(svg: &str) -> String {
    let parts = svg.split_inclusive('>').map(|tag| {
        let (x, y) = tag
            .trim_start()
            .strip_prefix("<circle cx=\"")?
            .split_once("\" cy=\"")?;
        let y = y.strip_suffix("\" r=\"2\" class=\"mp\"/>")?;
        Some(format!("M{x} {y}h0"))
    });
    let (mut path, mut others) = (String::new(), String::new());
    for (tag, point) in svg.split_inclusive('>').zip(parts) {
        match point {
            Some(point) => path.push_str(&point),
            None => others.push_str(tag),
        }
    }
    if !path.is_empty() {
        // Below the lines.
        others.insert_str(0, &format!("<path class=\"lp\" d=\"{path}\"/>"));
    }
    others
}

/// How plotters writes the font of [`words`].
fn font() -> String {
    format!(" font-family=\"sans-serif\" font-size=\"{}\"", 13.0 / 1.24)
}
