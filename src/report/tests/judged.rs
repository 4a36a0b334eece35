//! Tests of the page's ranking and comparison.

use super::*;

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
fn what_to_use_is_said_first_with_places_that_show_ties() {
    let page = page(&[ratios(1.0)], &[]);
    let ranking = section(&page, "ranking");
    let (_, opening) = page.split_once("id=\"summary\"").expect("a summary");
    assert!(
        opening.starts_with(
            " aria-label=\"Summary\"><p class=\"advice\"><b>Over loopback, of 4 engines: use mmsg or uring (a tie)</b>"
        ),
        "{opening}"
    );
    // By speed and by CPU time, for two payloads, with one thread and with more.
    assert_eq!(count(ranking, "<table class=\"tracks\""), 8);
    for label in [">1 mmsg<", ">1 uring<", ">3 std<", ">4 tokio<"] {
        assert_eq!(count(ranking, label), 8, "{label}: {ranking}");
    }
    assert!(ranking.contains("<td>1</td><th scope=\"row\">mmsg</th><td>1.200</td>"));
    assert!(ranking.contains("<summary>Group by group: 24 groups</summary>"));
    assert!(!ranking.contains("All files together"));
}

#[test]
fn a_single_file_has_nothing_to_be_compared_with() {
    assert_eq!(count(&page(&[ratios(1.0)], &[]), "\"comparison\""), 0);
}

#[test]
fn each_other_file_is_compared_with_the_first_in_the_words_of_compare() {
    let files = [ratios(1.0), ratios(0.8), ratios(1.0)];
    let page = page(&files, &[]);
    let changes = section(&page, "comparison");
    let (worse, same) = changes
        .split_once("<h4>1.csv against 1.csv</h4>")
        .expect("the other file");
    assert!(worse.contains("<h4>0.8.csv against 1.csv</h4>"), "{worse}");
    for said in [
        "<th scope=\"row\">tokio</th><td><span class=\"c8\"><span aria-hidden=\"true\">▼</span> slower</span><td>-20.0..-20.0<td>-20.0<td>",
        "<summary>All cases: 96 cases</summary>",
        "The machine: +0.0 %",
    ] {
        assert!(worse.contains(said), "{said}: {worse}");
    }
    let opening = page.split("</section>").next().expect("a summary");
    for said in [
        "<p class=\"advice worse\"><b>0.8.csv against 1.csv.</b> Speed: 1 of 4 engines slower, 3 same; ",
        " CPU time: 1 of 4 engines dearer",
        "<p class=\"advice plain\"><b>1.csv against 1.csv.</b> Speed: 0 of 4 engines slower",
    ] {
        assert!(opening.contains(said), "{said}: {opening}");
    }
    assert!(same.contains("No case is faster, slower or broken."));
    // Speed and CPU time of two files.
    assert_eq!(count(changes, "<table class=\"tracks\""), 4);
    assert!(section(&page, "ranking").contains("All files together"));
}

#[test]
fn what_broke_is_in_the_table_with_its_reason_below() {
    let mut new = ratios(1.0);
    new.rows[30].status = Status::Failed;
    new.rows[30].reason = "it <starved>".to_owned();
    let page = page(&[ratios(1.0), new], &[]);
    let changes = section(&page, "comparison");
    assert!(changes.contains("</span> broken</span>"));
    assert!(
        changes.contains("<li>1 broken: it &lt;starved&gt;</li>"),
        "{changes}"
    );
}
