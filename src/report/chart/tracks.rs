//! Charts of engines in a table: label, drawing and values. The drawings, bars or marks, share one axis. The browser
//! lays out the text, so none is cut off or covers another, however narrow the window is.

use maud::{Markup, html};

use super::mark::Look;
use super::scale::Scale;
use crate::report::number;

/// A chart of tracks.
#[derive(Clone, Debug)]
pub(in crate::report) struct Tracks<'a> {
    /// The unit of the values.
    pub(in crate::report) unit: &'a str,
    /// Caption of the chart.
    pub(in crate::report) caption: &'a str,
    /// Linear axis.
    pub(in crate::report) scale: Scale,
    /// Position of a dashed reference line.
    pub(in crate::report) reference: Option<f64>,
}

/// An engine with its drawing and values.
#[derive(Clone, Debug)]
pub(in crate::report) struct Track {
    pub(in crate::report) label: String,
    pub(in crate::report) drawn: Vec<Drawn>,
    /// Values, one per line, each with its interval or another remark.
    pub(in crate::report) values: Vec<(String, String)>,
}

/// An element of the drawing.
#[derive(Clone, Debug)]
pub(in crate::report) enum Drawn {
    /// Bar from one value to another, with a class. `slot`: its position among slots, one below the other, and their
    /// number.
    Bar {
        from: f64,
        to: f64,
        class: String,
        slot: (usize, usize),
    },
    /// Interval, with an optional class.
    Interval {
        low: f64,
        high: f64,
        class: &'static str,
        slot: (usize, usize),
    },
    Mark {
        at: f64,
        look: Look,
    },
}

/// The only slot: a drawing over the whole height.
pub(in crate::report) const WHOLE: (usize, usize) = (0, 1);

impl Tracks<'_> {
    /// Draws the tracks in their order.
    pub(in crate::report) fn draw(&self, tracks: &[Track]) -> Markup {
        let ticks = self.scale.ticks_as(number::plain);
        // Only the first and last labels fit on a phone. The values are in the table.
        let ends = ticks.first().into_iter().chain(ticks.last());
        let step = ticks.get(1).map_or(100.0, |second| percent(second.0));
        html! {
            table .tracks style={ "--step:" (step) "%" } {
                caption { (self.caption) }
                colgroup { col; col; col; }
                thead .unseen {
                    tr { th scope="col" { "engine" } th scope="col" { "drawn" } th scope="col" { (self.unit) } }
                }
                tbody { @for track in tracks { (self.track(track)) } }
                tfoot aria-hidden="true" {
                    tr {
                        td {}
                        td {
                            .axis {
                                @for (share, label) in ends {
                                    span style={ "left:" (percent(*share)) "%" } class=(edge(*share)) { (label) }
                                }
                            }
                        }
                        td { (self.unit) }
                    }
                }
            }
        }
    }

    // HTML does not need these end tags, and large sweeps have thousands.
    fn track(&self, track: &Track) -> Markup {
        html! {
            tr;
            th scope="row" { (track.label) }
            td;
            .plot aria-hidden="true" {
                @if let Some(value) = self.reference { s style=(self.left(value)) {} }
                @for drawn in &track.drawn { (self.drawn(drawn)) }
            }
            td;
            @for (n, (value, about)) in track.values.iter().enumerate() {
                @if n > 0 { br; }
                (value) @if !about.is_empty() { " " small { (about) } }
            }
        }
    }

    fn drawn(&self, drawn: &Drawn) -> Markup {
        match drawn {
            Drawn::Bar {
                from,
                to,
                class,
                slot,
            } => html! {
                i class=(class) style={ (self.between(*from, *to)) (in_slot(*slot)) } {}
            },
            Drawn::Interval {
                low,
                high,
                class,
                slot,
            } => html! {
                u class=[Some(*class).filter(|class| !class.is_empty())] style={ (self.between(*low, *high)) (in_slot(*slot)) } {}
            },
            Drawn::Mark { at, look } => html! {
                b class=(look.colour()) style=(self.left(*at)) { (look.sign()) }
            },
        }
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

/// Returns the class of an axis label, which aligns it with its tick.
fn edge(share: f64) -> &'static str {
    match share {
        share if share < 0.1 => "first",
        share if share > 0.9 => "last",
        _ => "middle",
    }
}

fn in_slot((n, of): (usize, usize)) -> String {
    if of < 2 {
        return String::new();
    }
    let height = 1.0 / of as f64;
    format!(
        ";top:{}%;height:{}%",
        percent(n as f64 * height),
        percent(height)
    )
}

/// Converts a share to percent, rounded to a hundredth. Adding 0 removes the sign of a zero.
fn percent(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_intervals_marks_and_the_reference_share_one_axis() {
        let tracks = Tracks {
            unit: "kpps",
            caption: "1 thread",
            scale: Scale::linear([390.0]),
            reference: Some(100.0),
        };
        let bar = |to: f64, slot| Drawn::Bar {
            from: 0.0,
            to,
            class: "c1".to_owned(),
            slot,
        };
        let interval = Drawn::Interval {
            low: 180.0,
            high: 220.0,
            class: "pale",
            slot: WHOLE,
        };
        let mark = Drawn::Mark {
            at: 100.0,
            look: Look::nth(2),
        };
        let track = Track {
            label: "<b>".to_owned(),
            drawn: vec![bar(200.0, WHOLE), interval, bar(900.0, (1, 2)), mark],
            values: vec![("200".to_owned(), "±10 %".to_owned())],
        };
        let drawn = tracks.draw(&[track]).into_string().replace("><", ">\n<");
        let drawn = drawn.replace(">\n</", "></");
        insta::assert_snapshot!(drawn, @r#"
        <table class="tracks" style="--step:25%">
        <caption>1 thread</caption>
        <colgroup>
        <col>
        <col>
        <col></colgroup>
        <thead class="unseen">
        <tr>
        <th scope="col">engine</th>
        <th scope="col">drawn</th>
        <th scope="col">kpps</th></tr></thead>
        <tbody>
        <tr>
        <th scope="row">&lt;b&gt;</th>
        <td>
        <div class="plot" aria-hidden="true">
        <s style="left:25%"></s>
        <i class="c1" style="left:0%;width:50%"></i>
        <u class="pale" style="left:45%;width:10%"></u>
        <i class="c1" style="left:0%;width:100%;top:50%;height:50%"></i>
        <b class="c3" style="left:25%">■</b></div>
        <td>200 <small>±10 %</small></tbody>
        <tfoot aria-hidden="true">
        <tr>
        <td></td>
        <td>
        <div class="axis">
        <span style="left:0%" class="first">0</span>
        <span style="left:100%" class="last">400</span></div></td>
        <td>kpps</td></tr></tfoot></table>
        "#);
    }
}
