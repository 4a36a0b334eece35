//! Line charts of values over payload or other steps, one line per engine: for few engines and several steps.

use maud::{Markup, html};

use super::mark::{Look, Mark, key};
use super::scale::{Scale, Tick};
use super::svg::{Area, LABELS, WIDTH, line, picture, text};
use crate::report::number;

/// A chart of values over steps.
#[derive(Clone, Debug)]
pub(in crate::report) struct Lines<'a> {
    /// Name of the values, with their unit.
    pub(in crate::report) axis: &'a str,
    /// Parameter of the steps.
    pub(in crate::report) over: Over,
    /// Labels of the steps, which are drawn at equal distances.
    pub(in crate::report) steps: &'a [String],
    /// Caption of the chart.
    pub(in crate::report) caption: &'a str,
}

/// Parameter of the steps, with the kind of axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Over {
    /// Name of the parameter.
    pub(in crate::report) name: &'static str,
    /// Name below the axis, with the unit.
    pub(in crate::report) axis: &'static str,
    /// Unit, to append to a step.
    pub(in crate::report) unit: &'static str,
    /// True if the axis of the values is logarithmic.
    pub(in crate::report) is_log: bool,
}

/// An engine and its values, each with the index of its step.
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

/// Returns the legend of the lines.
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
        let scale = if self.over.is_log {
            Scale::logarithmic(values.flatten().collect::<Vec<f64>>())
        } else {
            Scale::linear(values.flatten())
        };
        let log = if scale.is_log { ", log scale" } else { "" };
        let parts = html! {
            (text((4.0, 10.0), &format!("{}{log}", self.axis)))
            (AREA.grid(&self.ticks(), &scale.ticks()))
            (AREA.name(self.over.axis))
            @for (n, line) in lines.iter().enumerate() {
                // Drawn side by side, so that intervals do not hide each other.
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

    /// Returns the position of the n-th step, from 0 to 1.
    fn share(&self, step: usize) -> f64 {
        (step as f64 + 0.35) / (self.steps.len() as f64 - 0.3)
    }

    fn ticks(&self) -> Vec<Tick> {
        let steps = self.steps.iter().enumerate();
        steps
            .map(|(n, step)| (self.share(n), step.clone()))
            .collect()
    }

    fn about(&self, lines: &[Line]) -> String {
        let values = lines.iter().filter_map(|line| {
            let (n, mark) = line.marks.last()?;
            let (step, value) = (self.steps.get(*n)?, number::short(mark.value));
            Some(format!(
                "{} {value} at {step}{}",
                line.label, self.over.unit
            ))
        });
        let values: Vec<String> = values.collect();
        format!(
            "Lines: {} over {}, {}. {}. All values are in the tables.",
            self.axis,
            self.over.name,
            self.caption,
            values.join("; ")
        )
    }
}
