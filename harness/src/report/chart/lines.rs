//! Values over payload, a line for each engine: for few engines and several payloads.

use maud::{Markup, html};

use super::mark::{Look, Mark, key};
use super::scale::{Scale, Tick};
use super::svg::{Area, LABELS, WIDTH, line, picture, text};
use crate::report::number;

/// A picture of values over payload.
#[derive(Clone, Debug)]
pub(in crate::report) struct Lines<'a> {
    /// What the values are, with their unit.
    pub(in crate::report) axis: &'a str,
    /// The payloads, in bytes: equal steps, whatever lies between them.
    pub(in crate::report) payloads: &'a [usize],
    /// Where the values are shown.
    pub(in crate::report) caption: &'a str,
}

/// An engine and its values, each with the index of its payload.
#[derive(Clone, Debug)]
pub(in crate::report) struct Line {
    pub(in crate::report) label: String,
    pub(in crate::report) look: Look,
    pub(in crate::report) marks: Vec<(usize, Mark)>,
}

const AREA: Area = Area {
    left: 48.0,
    right: WIDTH - 10.0,
    top: 26.0,
    bottom: 216.0,
};

/// Which engine has which line.
pub(in crate::report) fn legend(lines: &[Line]) -> Markup {
    html! {
        @for line in lines { (key(&line.look.colour(), line.look.sign(), &line.label)) }
    }
}

impl Lines<'_> {
    /// Draws the lines.
    pub(in crate::report) fn draw(&self, lines: &[Line]) -> Markup {
        let marks = lines.iter().flat_map(|line| &line.marks);
        let values = marks.flat_map(|(_, mark)| [Some(mark.value), mark.high]);
        let scale = Scale::linear(values.flatten());
        let parts = html! {
            (text((4.0, 10.0), self.axis))
            (AREA.grid(&self.steps(), &scale.ticks()))
            (AREA.name("payload in bytes"))
            @for (n, line) in lines.iter().enumerate() {
                // Side by side, or intervals would hide each other.
                @let offset = (n as f64 - (lines.len() as f64 - 1.0) / 2.0) * 7.0;
                (self.line(line, &scale, offset))
            }
        };
        let size = (WIDTH, AREA.bottom + LABELS);
        picture(size, &self.about(lines), &parts)
    }

    fn line(&self, of: &Line, scale: &Scale, offset: f64) -> Markup {
        let at = |step: usize, value| {
            let (x, y) = AREA.at(self.share(step), scale.share(value));
            (x + offset, y)
        };
        let points = of.marks.iter().map(|(step, mark)| at(*step, mark.value));
        html! {
            (line(&of.look.colour(), points))
            @for (step, mark) in &of.marks { (mark.draw(|value| at(*step, value))) }
        }
    }

    /// Where the n-th payload is.
    fn share(&self, step: usize) -> f64 {
        (step as f64 + 0.35) / (self.payloads.len() as f64 - 0.3)
    }

    fn steps(&self) -> Vec<Tick> {
        let payloads = self.payloads.iter().enumerate();
        let tick = |(n, payload): (usize, &usize)| (self.share(n), payload.to_string());
        payloads.map(tick).collect()
    }

    fn about(&self, lines: &[Line]) -> String {
        let values = lines.iter().filter_map(|line| {
            let (n, mark) = line.marks.last()?;
            let (payload, value) = (self.payloads.get(*n)?, number::short(mark.value));
            Some(format!("{} {value} at {payload} B", line.label))
        });
        let values: Vec<String> = values.collect();
        format!(
            "Lines: {} over payload, {}. {}. All values are in the tables.",
            self.axis,
            self.caption,
            values.join("; ")
        )
    }
}
