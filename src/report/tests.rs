//! Tests of the page, with ordinary, hostile, unusual and many rows.

use super::Tables;
use crate::data::Sample;
use crate::data::{Connection, Ip};
use crate::results::export::csv::encode;
use crate::results::files::Results;
use crate::results::row::tests::{ordinary_row, remark, row_of_a_wire, with_case_of_columns};
use crate::results::row::{Failure, Reason, Row, Status};

pub(super) fn results(rows: Vec<Row>) -> Results {
    Results {
        name: "here/run.csv".to_owned(),
        rows: rows.into_iter().map(with_case_of_columns).collect(),
        ..Results::default()
    }
}

/// Returns the page of compared files.
fn page(files: &[Results]) -> String {
    super::page(files, &[], None, Tables::Folded)
}

fn page_of(rows: Vec<Row>) -> String {
    page(&[results(rows)])
}

/// Returns rows of all cases of these engines and payloads.
fn sweep(engines: &[String], payloads: &[u32]) -> Vec<Row> {
    let mut rows = Vec::new();
    for engine in engines {
        for &payload in payloads {
            for threads in [1_u16, 2, 4] {
                for (ip, connection) in [
                    (Ip::V4, Connection::Connected),
                    (Ip::V4, Connection::Unconnected),
                    (Ip::V6, Connection::Connected),
                    (Ip::V6, Connection::Unconnected),
                ] {
                    rows.push(Row {
                        sender: engine.clone(),
                        receiver: engine.clone(),
                        threads: threads.try_into().expect("in range"),
                        receivers: usize::from(threads / 2).max(1),
                        payload_bytes: payload.try_into().expect("in range"),
                        received_pps: Some(1000.0 + rows.len() as f64),
                        ip,
                        connection,
                        ..ordinary_row()
                    });
                }
            }
        }
    }
    rows
}

fn engines(count: usize) -> Vec<String> {
    let more = (1..count).map(|n| format!("engine-{n}"));
    std::iter::once("std".to_owned()).chain(more).collect()
}

fn count(page: &str, what: &str) -> usize {
    page.matches(what).count()
}

/// Returns the part of the page from one section to the next.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page
        .split_once(&format!(" aria-labelledby=\"{id}\">"))
        .expect("the section");
    rest.split("</section>").next().unwrap_or_default()
}

/// Whatever the host is called: most of 480 rows in the page would else be what they have in common.
#[test]
fn a_sweep_of_all_engines_has_once_what_its_rows_share() {
    let mut rows = sweep(&engines(20), &[26, 300]);
    for (n, row) in rows.iter_mut().enumerate() {
        // Numbers as long as those of real ones.
        let value = Some(n as f64 * 997.123 + 1e5);
        for number in [
            &mut row.received_pps,
            &mut row.received_pps_low,
            &mut row.received_mbps,
            &mut row.received_mbps_low,
            &mut row.cpu_ns_per_packet,
            &mut row.ratio_to_std,
            &mut row.cpu_ratio_to_std,
        ] {
            *number = value;
        }
        row.received_pps_high = value.map(|value| value * 1.5);
        row.received_mbps_high = row.received_pps_high;
        row.warnings = vec![remark(&"w".repeat(200))];
        row.model = "m".repeat(2000);
    }
    let page = page_of(rows);
    assert!(page.contains("480 cases"));
    assert!(page.len() < 800_000, "{} B", page.len());
}

#[test]
fn what_stands_in_the_rows_is_never_markup() {
    let hostile = "</script><script>alert(1)</script><!--\"'&";
    let row = |status| Row {
        status,
        sender: hostile.to_owned(),
        ratio_to_std: Some(1.1),
        ratio_pairs: Some(6),
        ratio_sd_pct: Some(1.0),
        reason: Reason::Failed(Failure::told(hostile)),
        board: hostile.to_owned(),
        model: hostile.to_owned(),
        cpu_model: hostile.to_owned(),
        warnings: vec![remark(hostile)],
        ..ordinary_row()
    };
    let ours = page_of(vec![ordinary_row()]);
    let file = Results {
        name: hostile.to_owned(),
        ..results(vec![row(Status::Ok), row(Status::Failed)])
    };
    let page = page(&[file.clone(), file]);
    for id in ["host", "reasons"] {
        assert!(
            section(&page, id).contains("alert(1)"),
            "it is shown in {id}"
        );
    }
    // A second file has a second block of data, and nothing else may begin or end a script or a comment.
    assert_eq!(count(&page, "<script"), count(&ours, "<script") + 1);
    assert_eq!(count(&page, "</script"), count(&ours, "</script") + 1);
    assert_eq!(count(&page, "<!--"), count(&ours, "<!--"));
}

#[test]
fn the_rows_in_the_page_are_the_csv() {
    let rows = vec![
        ordinary_row(),
        Row {
            reason: Reason::Failed(Failure::told("a \"b\", <c>\\")),
            // Another run.
            seed: ordinary_row().seed + 1,
            ..ordinary_row()
        },
    ];
    let page = page_of(rows.clone());
    let (_, data) = page.split_once("id=\"rows-0\">").expect("a block of data");
    let data = data.split("</script>").next().unwrap_or_default();
    // As page.js does it.
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let names = data["names"].as_array().expect("names").iter();
    let names: Vec<&str> = names.filter_map(serde_json::Value::as_str).collect();
    let mut found = vec![names.iter().map(|name| (*name).to_owned()).collect()];
    for row in data["rows"].as_str().expect("rows").split('\n') {
        let mut own = row.split('\t');
        let cell = |n: usize| data["same"][n.to_string()].as_str().or_else(|| own.next());
        let cells = (0..names.len()).filter_map(cell).map(str::to_owned);
        found.push(cells.collect::<Vec<String>>());
    }
    let text = encode(&rows).expect("CSV");
    let mut csv = csv::ReaderBuilder::new();
    let mut csv = csv.has_headers(false).from_reader(&text[..]);
    let lines = csv.deserialize().collect::<Result<Vec<Vec<String>>, _>>();
    assert_eq!(found, lines.expect("CSV"));
}

#[test]
fn spreadsheets_compute_nothing_in_a_downloaded_csv() {
    let formula = Row {
        board: "=HYPERLINK(1)".to_owned(),
        ..ordinary_row()
    };
    assert!(page_of(vec![formula]).contains("\"'=HYPERLINK(1)\""));
}

#[test]
fn the_table_of_differing_columns_has_the_case_and_its_speeds() {
    let faster = Row {
        sender: "mmsg".to_owned(),
        receiver: "mmsg".to_owned(),
        received_pps: Some(1e6),
        ..ordinary_row()
    };
    let page = page_of(vec![ordinary_row(), faster]);
    let (_, table) = page.split_once("<table class=\"rows\">").expect("a table");
    assert!(table.contains("<th scope=\"col\">case</th><th scope=\"col\">received_pps</th></tr>"));
    assert!(table.contains("<th scope=\"row\">mmsg:mmsg/2t/300B/connected/v4</th><td>1000000.0"));
}

#[test]
fn a_number_that_is_not_ok_is_seen_at_once() {
    let open = Row {
        unaccounted_packets: Some(-3),
        status: Status::Failed,
        ..ordinary_row()
    };
    let page = page_of(vec![ordinary_row(), open]);
    assert!(section(&page, "accounting").contains("1 case with datagrams unaccounted for."));
    assert!(section(&page, "reasons").contains("<li class=\"bad\"><b>1</b> failed</li>"));
    let sound = page_of(vec![ordinary_row()]);
    assert!(
        section(&sound, "accounting").contains("Every datagram of every case is accounted for.")
    );
}

#[test]
fn a_warning_is_said_once_with_its_cases() {
    let warned = Row {
        warnings: vec![remark("too hot")],
        ..ordinary_row()
    };
    let page = page_of(vec![warned.clone(), warned, ordinary_row()]);
    assert!(section(&page, "warnings").contains("<th scope=\"row\">2</th><td>too hot</td>"));
    assert_eq!(count(section(&page, "warnings"), "too hot"), 1);
}

#[test]
fn windows_become_points_over_time() {
    let windows: Vec<Sample> = (0..40).map(|n| window(n, 1000 + n % 3)).collect();
    let file = Results {
        windows,
        ..results(vec![ordinary_row()])
    };
    let with = page(&[file]);
    assert!(
        section(&with, "drift").contains("<path class=\"points\" d=\"M"),
        "{}",
        section(&with, "drift")
    );
    assert!(section(&with, "drift").contains("Hottest sensor of the CPUs"));
    let without = page_of(vec![ordinary_row()]);
    assert!(section(&without, "drift").contains("No window was measured"));
    assert_eq!(count(section(&without, "drift"), "<svg"), 0);
}

/// Returns a window of 10 ms, half a second after the previous one.
fn window(n: u64, received: u64) -> Sample {
    let mut sample = crate::results::row::tests::window(1);
    sample.opened_unix_ms = 1_000_000 + 500 * n;
    sample.window_ns = 10_000_000;
    sample.threads[1].received_packets = received;
    sample
}

#[test]
fn files_of_one_name_are_told_apart_by_their_directories() {
    let file = |name: &str| Results {
        name: name.to_owned(),
        ..results(vec![ordinary_row()])
    };
    let page = page(&[file("a/run.csv"), file("b/run.csv"), file("c/other.csv")]);
    for name in [
        "<h4>a/run.csv</h4>",
        "<h4>b/run.csv</h4>",
        "<h4>other.csv</h4>",
    ] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn a_board_that_is_emulated_is_not_taken_for_a_real_one() {
    let real = Row {
        model: "Raspberry Pi 4".to_owned(),
        ..ordinary_row()
    };
    let emulated = Row {
        virtualization: "qemu".to_owned(),
        ..real.clone()
    };
    assert!(page_of(vec![real.clone(), real.clone()]).contains("<h1>UDP on Raspberry Pi 4</h1>"));
    let title = "<h1>UDP on Raspberry Pi 4 and Raspberry Pi 4 (emulated or virtualised: qemu)</h1>";
    assert!(page_of(vec![real, emulated]).contains(title));
}

#[test]
fn a_page_about_a_wire_names_both_ends() {
    let wire = row_of_a_wire();
    let page = page_of(vec![wire.clone()]);
    assert!(page.contains("<h1>UDP from a laptop to Raspberry Pi 4 Model B</h1>"));
    assert!(section(&page, "host").contains("rpi-4b, Raspberry Pi 4 Model B, Cortex-A72"));
    assert!(!page.contains("over loopback"));
    let loopback = Row {
        model: "a laptop".to_owned(),
        ..ordinary_row()
    };
    let page = page_of(vec![loopback, wire]);
    let title = "<h1>UDP on a laptop and a laptop to Raspberry Pi 4 Model B</h1>";
    assert!(page.contains(title));
}

#[test]
fn no_rows_are_a_page_too() {
    let page = page(&[results(Vec::new())]);
    assert_eq!(count(&page, "<svg"), 0);
    assert_eq!(count(&page, "<section "), 11);
    let two = super::tests::page(&[results(Vec::new()), results(Vec::new())]);
    assert!(section(&two, "comparison").contains("not comparable, "));
    assert!(two.contains("No recommendation: there are no cases."));
}

mod any_rows;
mod charts;
mod judged;
