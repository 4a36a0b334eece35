//! Charts of engines in a table: label, drawing and values. The drawings share one axis. The browser lays out the text,
//! so none is cut off or covers another, however narrow the window is.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::mark::Look;
use super::scale::{Scale, Tick};

/// A chart of tracks.
#[derive(Clone, Debug)]
pub(in crate::report) struct Tracks<'a> {
    /// Headings of the values, with their units.
    pub(in crate::report) columns: &'a [&'a str],
    /// Caption of the chart.
    pub(in crate::report) caption: &'a str,
    pub(in crate::report) scale: Scale,
    /// Position of a dashed reference line.
    pub(in crate::report) reference: Option<f64>,
    /// Range that is shaded over the whole height: changes in it do not matter.
    pub(in crate::report) band: Option<(f64, f64)>,
}

/// A line of the chart.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Track {
    /// Name of the line. A line without a drawing and values is a heading.
    pub(in crate::report) label: String,
    /// True for a part of the line above.
    pub(in crate::report) is_part: bool,
    pub(in crate::report) drawn: Vec<Drawn>,
    /// A value for each column, with its interval or another remark.
    pub(in crate::report) values: Vec<(String, String)>,
}

/// An element of the drawing.
#[derive(Clone, Debug)]
pub(in crate::report) enum Drawn {
    Interval { low: f64, high: f64 },
    Mark { at: f64, look: Look },
}

impl<'a> Tracks<'a> {
    /// Returns a chart without a reference and a band.
    pub(in crate::report) fn new(columns: &'a [&'a str], caption: &'a str, scale: Scale) -> Self {
        Self {
            columns,
            caption,
            scale,
            reference: None,
            band: None,
        }
    }

    /// Draws the tracks in their order.
    pub(in crate::report) fn draw(&self, tracks: &[Track]) -> Markup {
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
        let (from, to) = (self.scale.share(low), self.scale.share(high));
        format!(
            "left:{}%;width:{}%",
            percent(from),
            percent((to - from).max(0.0))
        )
    }
}

/// Returns the ticks whose labels fit beside each other: both ends, and one between, which a phone leaves out.
fn labelled(ticks: &[Tick]) -> impl Iterator<Item = &Tick> {
    let middle = ticks
        .iter()
        .find(|(share, _)| (0.36..=0.64).contains(share));
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
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_two_labels_or_more() {
        for low in [3.0, 80.0, 99.0, 130.0, 700.0, 2500.0] {
            for times in [1.0, 1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 8.0, 20.0, 100.0] {
                let ticks = Scale::logarithmic([low, low * times]).ticks();
                let labels: Vec<&Tick> = labelled(&ticks).collect();
                assert!(labels.len() >= 2, "{low} to {}: {ticks:?}", low * times);
                assert!(
                    labels.windows(2).all(|two| two[0].0 + 0.3 < two[1].0),
                    "{ticks:?}"
                );
            }
        }
    }

    #[test]
    fn intervals_marks_and_the_band_share_one_axis() {
        let tracks = Tracks {
            columns: &["kpps"],
            caption: "1 thread",
            scale: Scale::linear([390.0]),
            reference: Some(100.0),
            band: Some((80.0, 120.0)),
        };
        let track = Track {
            label: "<b>".to_owned(),
            drawn: vec![
                Drawn::Interval {
                    low: 180.0,
                    high: 220.0,
                },
                Drawn::Mark {
                    at: 200.0,
                    look: Look::DOT,
                },
            ],
            values: vec![("200".to_owned(), "±10 %".to_owned())],
            ..Track::default()
        };
        let heading = Track {
            label: "batches".to_owned(),
            ..Track::default()
        };
        let drawn = tracks.draw(&[heading, track]).into_string();
        let drawn = drawn.replace("><", ">\n<");
        let drawn = drawn.replace(">\n</", "></");
        insta::assert_snapshot!(drawn, @r##"
        <table class="tracks" style="--lines:linear-gradient(90deg,#0000 20%,var(--band) 20% 30%,#0000 30%),linear-gradient(90deg,#0000 0 0%,var(--grid) 0% calc(0% + 1px),#0000 calc(0% + 1px) 25%,var(--grid) 25% calc(25% + 1px),#0000 calc(25% + 1px) 50%,var(--grid) 50% calc(50% + 1px),#0000 calc(50% + 1px) 75%,var(--grid) 75% calc(75% + 1px),#0000 calc(75% + 1px) 100%,var(--grid) 100% calc(100% + 1px),#0000 calc(100% + 1px))">
        <caption>1 thread</caption>
        <colgroup>
        <col class="name">
        <col>
        <col class="value"></colgroup>
        <thead class="unseen">
        <tr>
        <th scope="col">name</th>
        <th scope="col">drawn</th>
        <th scope="col">kpps</th></tr></thead>
        <tbody>
        <tr class="group">
        <th scope="rowgroup" colspan="3">batches</th>
        <tr>
        <th scope="row">&lt;b&gt;</th>
        <td>
        <div class="plot" aria-hidden="true">
        <s style="left:25%"></s>
        <u style="left:45%;width:10%"></u>
        <b class="c1" style="left:50%">●</b></div>
        <td>200 <small>±10 %</small></tbody>
        <tfoot aria-hidden="true">
        <tr>
        <td></td>
        <td>
        <div class="axis">
        <span style="left:0%">0</span>
        <span class="middle" style="left:50%">200</span>
        <span class="last" style="left:100%">400</span></div></td>
        <td>kpps</td></tr></tfoot></table>
        "##);
    }
}
