//! Tests of the charts of throughput and CPU time.

use super::*;

#[test]
fn all_payloads_are_visible_for_each_kind_of_sockets_with_an_engine_per_line() {
    let page = page_of(sweep(&engines(9), &[26, 300]));
    for id in ["speed", "cpu"] {
        let section = section(&page, id);
        for sockets in ["v4, connected", "v6, unconnected"] {
            assert!(section.contains(&format!("<h4>{sockets}</h4>")), "{id}");
        }
        // Three thread counts and two payloads of each of the four.
        assert_eq!(count(section, "<table class=\"tracks\""), 24, "{id}");
        assert_eq!(count(section, "<th scope=\"row\">engine-8</th>"), 24);
        assert!(section.contains("<caption>300 B, 4 threads</caption>"));
    }
    let one = page_of(vec![ordinary_row()]);
    assert_eq!(count(section(&one, "speed"), "<h4>"), 0);
}

#[test]
fn the_ratio_to_std_is_beside_the_rate_and_std_is_a_line() {
    let std = Row {
        ratio_to_std: Some(1.0),
        ..ordinary_row()
    };
    let faster = Row {
        sender: "mmsg".to_owned(),
        receiver: "mmsg".to_owned(),
        ratio_to_std: Some(1.25),
        ratio_to_std_low: Some(1.2),
        ratio_to_std_high: Some(1.3),
        ..std.clone()
    };
    let page = page_of(vec![std, faster]);
    let speed = section(&page, "speed");
    assert!(speed.contains("<td>1.25 <small>±4.0 %</small>"), "{speed}");
    // One for each line.
    assert_eq!(count(speed, "<s style=\"left:"), 2, "{speed}");
}

/// Returns the labels of the lines of a section, in their order.
fn lines<'a>(page: &'a str, id: &str) -> Vec<&'a str> {
    let lines = section(page, id)
        .split("<tbody>")
        .nth(1)
        .unwrap_or_default();
    let lines = lines.split("</tbody>").next().unwrap_or_default();
    let labels = lines.split("<th ").skip(1);
    let label = |line: &'a str| {
        line.split_once('>')
            .and_then(|(_, rest)| rest.split('<').next())
    };
    labels.filter_map(label).collect()
}

#[test]
fn engines_are_sorted_by_value_within_their_technique() {
    let row = |engine: &str, pps: f64| Row {
        sender: engine.to_owned(),
        receiver: engine.to_owned(),
        received_pps: Some(pps),
        cpu_ns_per_packet: Some(1e9 / pps),
        ..ordinary_row()
    };
    let rows = [
        ("std", 2e5),
        ("mmsg", 5e5),
        ("tokio", 1e5),
        ("mio-level", 3e5),
    ];
    let page = page_of(rows.map(|(engine, pps)| row(engine, pps)).to_vec());
    for id in ["speed", "cpu"] {
        let expected = ["one call", "mio-level", "std", "tokio", "batches", "mmsg"];
        assert_eq!(lines(&page, id), expected, "{id}");
    }
}

#[test]
fn each_loss_from_one_percent_on_is_written_at_its_value() {
    let lossy = |loss_pct| Row {
        loss_pct: Some(loss_pct),
        ..ordinary_row()
    };
    let page = page_of(vec![lossy(0.9), lossy(1.0), lossy(47.4)]);
    let speed = section(&page, "speed");
    for (text, times) in [("% lost</small>", 2), (">1 % lost<", 1), (">47 % lost<", 1)] {
        assert_eq!(count(speed, text), times, "{text}: {speed}");
    }
    // Hollow, so that they are no equals of the others.
    assert_eq!(count(speed, "○</b>"), 2, "{speed}");
}

#[test]
fn sweeps_of_a_suite_are_not_compared() {
    let suite = crate::experiment::suite::find("--suite", "board").expect("it is built in");
    let rows = sweep(&engines(2), &[300]);
    let files = [results(rows.clone()), results(rows)];
    let page = crate::report::page(&files, &[], Some(&suite));
    for id in ["speed-0", "speed-1", "cpu-1"] {
        let start = format!("<section aria-labelledby=\"{id}\">");
        assert_eq!(count(&page, &start), 1, "{id}");
    }
    assert!(page.contains("<h2 id=\"sweep-1\">") && page.contains("href=\"#sweep-1\""));
    assert_eq!(count(&page, "id=\"comparison\""), 0);
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
