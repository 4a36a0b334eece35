//! Scatter chart, used for loss against throughput: one point per engine and run, with its name if it fits.

use maud::{Markup, html};

use super::mark::Look;
use super::mark::Mark;
use super::scale::Scale;
use super::svg::{Area, LABELS, Point, WIDTH, line, picture, text};
use crate::report::number;

/// A chart of points.
#[derive(Clone, Debug)]
pub(in crate::report) struct Scatter<'a> {
    pub(in crate::report) x: (&'a str, Scale),
    pub(in crate::report) y: (&'a str, Scale),
    /// Caption of the chart.
    pub(in crate::report) caption: &'a str,
}

/// An engine and its points, one per run, joined by a line.
#[derive(Clone, Debug)]
pub(in crate::report) struct Points {
    pub(in crate::report) label: String,
    pub(in crate::report) points: Vec<(Point, Look)>,
}

// The right margin has room for half of the axis's last label.
const AREA: Area = Area {
    left: 48.0,
    right: WIDTH - 24.0,
    top: 26.0,
    bottom: 216.0,
};
/// Half of the height of a name, in pixels of the chart.
const HALF_LINE: f64 = 8.0;
/// Distance from the centre of a point to its own name or another point's, in pixels of the chart.
const MARGIN: f64 = 7.0;

/// A rectangle: left, right, top, bottom.
type Rectangle = [f64; 4];

impl Scatter<'_> {
    /// Draws the chart. Returns it with the names that did not fit.
    pub(in crate::report) fn draw(&self, all: &[Points]) -> (Markup, Vec<String>) {
        let at = |(x, y): Point| AREA.at(self.x.1.share(x), self.y.1.share(y));
        let places: Vec<(Point, &Points)> = all
            .iter()
            .filter_map(|points| Some((at(points.points.last()?.0), points)))
            .collect();
        let marks = all.iter().flat_map(|points| &points.points);
        let taken = marks.map(|(point, _)| around(at(*point))).collect();
        let (names, unnamed) = named(&places, taken, |points: &Points| {
            points.points.iter().any(|((_, y), _)| *y > 0.0)
        });
        let parts = html! {
            (text((4.0, 10.0), self.y.0))
            (AREA.grid(&self.x.1.ticks_as(number::plain), &self.y.1.ticks_as(number::plain)))
            (AREA.name(self.x.0))
            @for points in all {
                @if points.points.len() > 1 { (line("r", points.points.iter().map(|(point, _)| at(*point)))) }
                @for ((x, y), look) in &points.points {
                    (Mark { value: *x, low: None, high: None, look: *look }.draw(|value| at((value, *y))))
                }
            }
            @for (place, name) in &names { (text(*place, name)) }
        };
        let picture = picture((WIDTH, AREA.bottom + LABELS), &self.about(all), &parts);
        (picture, unnamed)
    }

    /// Returns the text that replaces the chart for screen readers.
    fn about(&self, all: &[Points]) -> String {
        let lost = all.iter().filter_map(|points| {
            let ((x, y), _) = points.points.last().filter(|((_, y), _)| *y > 0.0)?;
            let (x, y) = (number::plain(*x), number::plain(*y));
            Some(format!("{} {y} % at {x}", points.label))
        });
        let lost: Vec<String> = lost.collect();
        let (x, y) = (self.x.0, self.y.0);
        format!(
            "Points: {y} over {x}, {}. {}.",
            self.caption,
            lost.join("; ")
        )
    }
}

fn around((x, y): Point) -> Rectangle {
    [x - MARGIN, x + MARGIN, y - MARGIN, y + MARGIN]
}

/// Returns the names that fit, with their positions, and the names that do not. Tries positions to the right and left
/// of a point, then above and below it. A name may not cover another name or point.
fn named(
    places: &[(Point, &Points)],
    mut taken: Vec<Rectangle>,
    is_wanted: impl Fn(&Points) -> bool,
) -> (Vec<(Point, String)>, Vec<String>) {
    let (mut names, mut unnamed) = (Vec::new(), Vec::new());
    for (point, points) in places.iter().filter(|(_, points)| is_wanted(points)) {
        let width = width_of(&points.label);
        let free = beside(*point, width).into_iter().find(|place| {
            let name = rectangle(*place, width);
            is_inside(name) && !taken.iter().any(|other| meet(name, *other))
        });
        match free {
            Some(place) => {
                taken.push(rectangle(place, width));
                names.push((place, points.label.clone()));
            }
            None => unnamed.push(points.label.clone()),
        }
    }
    (names, unnamed)
}

/// Returns the width of a name, in pixels of the chart: that of DejaVu Sans at 12 pixels, a wide font, or slightly
/// more.
fn width_of(name: &str) -> f64 {
    let letter = |letter| match letter {
        'm' | 'w' | 'M' | 'W' | '>' => 11.8,
        _ => 7.7,
    };
    name.chars().map(letter).sum()
}

/// Returns the possible positions of a name next to a point: the left end of each.
fn beside((x, y): Point, width: f64) -> [Point; 6] {
    let (right, left, middle) = (x + MARGIN, x - MARGIN - width, x - width / 2.0);
    let line = 2.0 * HALF_LINE;
    [
        (right, y),
        (left, y),
        (middle, y - line),
        (middle, y + line),
        (right, y - line),
        (left, y - line),
    ]
}

fn rectangle((x, y): Point, width: f64) -> Rectangle {
    [x, x + width, y - HALF_LINE, y + HALF_LINE]
}

fn is_inside([left, right, top, bottom]: Rectangle) -> bool {
    left >= AREA.left && right <= WIDTH && top >= AREA.top - HALF_LINE && bottom <= AREA.bottom
}

/// Returns whether two rectangles overlap by more than an edge.
fn meet(one: Rectangle, other: Rectangle) -> bool {
    one[0] < other[1] && other[0] < one[1] && one[2] < other[3] && other[2] < one[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(label: &str, at: Point) -> Points {
        Points {
            label: label.to_owned(),
            points: vec![(at, Look::nth(0))],
        }
    }

    fn drawn(all: &[Points]) -> (String, Vec<String>) {
        let scatter = Scatter {
            x: ("kpps", Scale::linear([100.0])),
            y: ("% lost", Scale::linear([10.0])),
            caption: "2 threads",
        };
        let (picture, unnamed) = scatter.draw(all);
        (picture.into_string(), unnamed)
    }

    #[test]
    fn what_lost_something_has_its_name() {
        let (picture, unnamed) = drawn(&[points("std", (50.0, 5.0)), points("mio", (50.0, 0.0))]);
        assert!(
            picture.contains(">std<") && !picture.contains(">mio<"),
            "{picture}"
        );
        assert_eq!(unnamed, Vec::<String>::new());
    }

    #[test]
    fn names_that_would_cover_others_are_left_out_and_told() {
        let crowd: Vec<Points> = (0..20)
            .map(|n| points(&format!("engine-{n}"), (50.0, 5.0 + f64::from(n) / 100.0)))
            .collect();
        let (picture, unnamed) = drawn(&crowd);
        let named = (0..20).filter(|n| picture.contains(&format!(">engine-{n}<")));
        assert_eq!(named.count() + unnamed.len(), 20);
        assert!((1..20).contains(&unnamed.len()), "{unnamed:?}");
    }

    #[test]
    fn names_near_an_edge_stay_inside() {
        let (picture, unnamed) = drawn(&[points("tokio-exhaustive", (100.0, 10.0))]);
        assert_eq!(unnamed, Vec::<String>::new());
        let x = picture
            .split(">tokio-exhaustive<")
            .next()
            .expect("before it");
        let x = x.rsplit(" x=\"").next().and_then(|x| x.split('"').next());
        let x: f64 = x.expect("a place").parse().expect("a number");
        assert!(x + width_of("tokio-exhaustive") < WIDTH, "{x}");
    }
}
