//! Tests of the page's ranking and comparison.

use super::*;
use crate::verdict::quality::Quality;

/// Returns a sweep of four engines in 12 blocks whose ratios scatter by 1 %. The last engine is faster by `factor`.
fn ratios(factor: f64) -> Results {
    let speeds = [
        ("std", 1.0),
        ("mmsg", 1.2),
        ("uring", 1.2),
        ("tokio", 0.5 * factor),
    ];
    let names = speeds.map(|(name, _)| name.to_owned());
    let mut rows = sweep(&names, &[26, 300]);
    for row in &mut rows {
        let found = speeds.iter().find(|(name, _)| *name == row.sender);
        let (_, speed) = found.expect("one of them");
        row.ratio_to_std = Some(*speed);
        row.cpu_ratio_to_std = Some(1.0 / speed);
        row.received_pps = Some(1000.0 * speed);
        row.cpu_ns_per_packet = Some(1000.0 / speed);
        row.loss_pct = Some(0.0);
        row.ratio_pairs = Some(6);
        row.ratio_sd_pct = Some(1.0);
        row.cpu_ratio_sd_pct = Some(1.0);
    }
    Results {
        name: format!("{factor}.csv"),
        ..results(rows)
    }
}

#[test]
fn what_to_use_is_said_first() {
    let page = page(&[ratios(1.0)]);
    let answer = section(&page, "summary");
    for said in [
        "<b>Over loopback, of 4 engines: use mmsg or uring (a tie within 5 %)</b>",
        "<span>Loopback: both ends on one machine, no network</span>",
    ] {
        assert_eq!(count(answer, said), 1, "{said}: {answer}");
    }
}

#[test]
fn a_single_file_has_nothing_to_be_compared_with() {
    assert_eq!(count(&page(&[ratios(1.0)]), "\"comparison\""), 0);
}

#[test]
fn each_other_file_is_compared_with_the_first_in_the_words_of_compare() {
    let files = [ratios(1.0), ratios(0.8), ratios(1.0)];
    let page = page(&files);
    let changes = section(&page, "comparison");
    let (worse, same) = changes
        .split_once("<h3>1.csv against 1.csv</h3>")
        .expect("the other file");
    assert!(worse.contains("<h3>0.8.csv against 1.csv</h3>"), "{worse}");
    for said in [
        "<td>-20.0 <small>-20.0..-20.0</small><td>slower",
        "And 12 more cases.",
        "The machine: +0.0 %",
    ] {
        assert!(worse.contains(said), "{said}: {worse}");
    }
    for (changes, said) in [
        (worse, "<b>Speed: </b>1 of 4 engines slower, 3 same; "),
        (worse, "<b>CPU time: </b>1 of 4 engines dearer"),
        (worse, "<div class=\"answer worse\">"),
        (same, "<b>Speed: </b>0 of 4 engines slower"),
    ] {
        assert!(changes.contains(said), "{said}: {changes}");
    }
    assert!(same.contains("No case is faster, slower or broken."));
    // Speed and CPU time of two files, with the margin as a band.
    assert_eq!(count(changes, "<table class=\"tracks\""), 4);
    assert_eq!(count(changes, "%,var(--band) "), 4);
}

#[test]
fn what_changed_comes_first_and_each_run_has_charts_of_its_own() {
    let page = page(&[ratios(1.0), ratios(0.8)]);
    let places = ["id=\"comparison\"", "id=\"summary\"", "id=\"speed-0\""];
    let places = places.map(|id| page.find(id).expect("it is there"));
    assert!(places.is_sorted(), "{places:?}");
    for id in ["speed-0", "speed-1"] {
        let charts = count(section(&page, id), "<table class=\"tracks\"");
        assert_eq!(charts, 2 * 3 * 4, "{id}");
    }
}

#[test]
fn the_answer_has_the_colour_of_the_grade() {
    let mut narrow = ratios(1.0);
    for row in &mut narrow.rows {
        let pps = row.received_pps;
        (row.received_pps_low, row.received_pps_high) = (pps, pps);
    }
    let wide = results(vec![Row {
        received_pps_low: Some(0.0),
        ..ordinary_row()
    }]);
    let grades = [narrow, wide].map(|file| {
        let grade = Quality::of(&file.rows).grade.to_string();
        let answer = format!("<div class=\"answer {grade}\">");
        assert_eq!(count(&page(&[file]), &answer), 1, "{answer}");
        grade
    });
    assert_ne!(grades[0], grades[1]);
}

#[test]
fn what_broke_is_in_the_table_with_its_reason_below() {
    let mut new = ratios(1.0);
    new.rows[30].status = Status::Failed;
    new.rows[30].reason = Reason::Failed(Failure::told("it <starved>"));
    let page = page(&[ratios(1.0), new]);
    let changes = section(&page, "comparison");
    assert!(changes.contains("<td class=\"text\">broken</td>"));
    assert!(
        changes.contains("<li>1 case broken: it &lt;starved&gt;</li>"),
        "{changes}"
    );
}
