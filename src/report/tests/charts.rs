//! Tests of the three main charts.

use super::*;

#[test]
fn the_charts_have_a_panel_for_each_payload_and_kind_of_sockets_and_an_engine_per_line() {
    let page = page_of(sweep(&engines(9), &[26, 300]));
    for id in ["speed", "cpu", "loss"] {
        assert_eq!(count(section(&page, id), "class=\"of-0 at-0-"), 8, "{id}");
    }
    for id in ["speed", "cpu"] {
        // Three thread counts in each.
        assert_eq!(
            count(section(&page, id), "<table class=\"tracks\""),
            24,
            "{id}"
        );
        assert_eq!(
            count(section(&page, id), "<th scope=\"row\">engine-8</th>"),
            24
        );
    }
    let speed = section(&page, "speed");
    assert_eq!(count(speed, "type=\"radio\""), 2 + 4);
    assert_eq!(count(speed, " checked"), 2);
    assert!(speed.contains("<caption>4 threads, 300 B, v6, unconnected</caption>"));
    let one = page_of(vec![ordinary_row()]);
    assert_eq!(count(&one, "<fieldset class=\"choice\" hidden>"), 2);
}

#[test]
fn a_bar_that_is_many_times_as_long_as_most_ends_at_the_edge() {
    let mut rows = sweep(&engines(3), &[300]);
    for row in &mut rows {
        let factor = if row.sender == "engine-2" { 60.0 } else { 1.0 };
        row.received_pps = Some(factor * 300_000.0);
        (row.received_pps_low, row.received_pps_high) = (None, None);
    }
    let page = page_of(rows);
    let speed = section(&page, "speed");
    let beyond = "<i class=\"c7 beyond\" style=\"left:0%;width:100%\"></i></div><td>18,000";
    assert_eq!(count(speed, beyond), 12, "{speed}");
    assert_eq!(
        count(speed, "<i class=\"c1\" style=\"left:0%;width:100%\">"),
        12,
        "{speed}"
    );
}

#[test]
fn two_files_are_laid_over_each_other() {
    let rows = sweep(&engines(2), &[300]);
    let two = page(&[results(rows.clone()), results(rows)], &[]);
    let speed = section(&two, "speed");
    assert_eq!(
        count(speed, "<table class=\"tracks\""),
        12,
        "as many as one has"
    );
    let bars = count(speed, "<i class=\"c1 pale\"") + count(speed, "<i class=\"c7 pale\"");
    assert_eq!(bars, 24);
    assert!(
        speed.contains("A</small><br>") && speed.contains("B</small>"),
        "{speed}"
    );
}

#[test]
fn sweeps_of_a_suite_have_charts_of_their_own() {
    let suite = crate::experiment::suite::find("--suite", "board").expect("it is built in");
    let rows = sweep(&engines(2), &[300]);
    let page = crate::report::suite_page(&[results(rows.clone()), results(rows)], &[], &suite);
    for id in ["speed", "speed-1", "loss-1"] {
        assert_eq!(
            count(&page, &format!("<section aria-labelledby=\"{id}\">")),
            1,
            "{id}"
        );
    }
    assert!(page.contains("<h2 id=\"sweep-1\">") && page.contains("href=\"#sweep-1\""));
    assert_eq!(count(&page, "pale\""), 0);
}

#[test]
fn a_case_without_a_number_says_why() {
    let failed = Row {
        status: Status::Failed,
        received_pps: None,
        sender: "tokio".to_owned(),
        receiver: "tokio".to_owned(),
        ..ordinary_row()
    };
    let page = page_of(vec![ordinary_row(), failed]);
    let (_, line) = section(&page, "speed")
        .split_once(">tokio</th>")
        .expect("a line");
    let line = line.split("<tr>").next().unwrap_or_default();
    assert!(line.contains("<small>failed</small>"), "{line}");
}

#[test]
fn a_case_that_is_there_twice_has_two_lines() {
    let page = page_of(vec![ordinary_row(), ordinary_row()]);
    let label = ordinary_row().label();
    let lines = [label.clone(), format!("{label} (2)")];
    for line in lines {
        let line = format!("<th scope=\"row\">{line}</th>");
        assert_eq!(count(section(&page, "speed"), &line), 1, "{line}");
    }
}

#[test]
fn what_was_not_measured_is_not_without_loss() {
    let skipped = Row {
        status: Status::Skipped,
        received_pps: None,
        loss_pct: None,
        ip: Ip::V6,
        ..ordinary_row()
    };
    let lossless = Row {
        loss_pct: Some(0.0),
        ..ordinary_row()
    };
    let page = page_of(vec![lossless, skipped]);
    let loss = section(&page, "loss");
    assert_eq!(count(loss, "No loss, "), 1, "{loss}");
    assert_eq!(count(loss, "Not measured, "), 1, "{loss}");
}
