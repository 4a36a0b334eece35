//! Tests of charts.

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
