//! Tests of the page, with ordinary, hostile, unusual and many rows.

use crate::data::{Connection, Ip};
use crate::results::files::Results;
use crate::results::log::Run;
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
    super::page(files, &[], None)
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
        run: Run::new(hostile, vec!["udpbench".to_owned(), hostile.to_owned()]),
        ..results(vec![row(Status::Ok), row(Status::Failed)])
    };
    let page = page(&[file.clone(), file]);
    let header = page.split("<nav").next().unwrap_or_default();
    for part in [
        header,
        section(&page, "reasons-0"),
        section(&page, "warnings-1"),
    ] {
        assert!(part.contains("alert(1)"), "it is shown: {part}");
    }
    assert_eq!(count(&page, "<script") + count(&page, "</script"), 0);
    assert_eq!(count(&page, "<!--"), count(&ours, "<!--"));
}

#[test]
fn a_warning_is_said_once_with_its_cases() {
    let warned = Row {
        warnings: vec![remark("too hot")],
        ..ordinary_row()
    };
    let page = page_of(vec![warned.clone(), warned, ordinary_row()]);
    let row = "<th scope=\"row\">2</th><td class=\"text\">too hot</td>";
    assert!(section(&page, "warnings").contains(row), "{page}");
    assert_eq!(count(&page, "too hot"), 1);
    assert_eq!(count(&page_of(vec![ordinary_row()]), "\"warnings\""), 0);
}

#[test]
fn cases_that_were_not_measured_have_their_reason() {
    let failed = Row {
        status: Status::Failed,
        reason: Reason::Failed(Failure::told("it starved")),
        ..ordinary_row()
    };
    let page = page_of(vec![ordinary_row(), failed.clone(), failed]);
    let reasons = section(&page, "reasons");
    for text in [
        "failed</th><td>2</td>",
        ">it starved<",
        "std:std/2t/300B/connected/v4",
    ] {
        assert!(reasons.contains(text), "{text}: {reasons}");
    }
    assert_eq!(count(&page_of(vec![ordinary_row()]), "\"reasons\""), 0);
}

#[test]
fn the_page_begins_with_what_was_measured_where_when_and_how() {
    let command = ["udpbench", "--engine", "std,a b"].map(str::to_owned);
    let row = Row {
        model: "Raspberry Pi 4".to_owned(),
        board: "rpi-4b".to_owned(),
        kernel: "6.6.1".to_owned(),
        governor: "performance".to_owned(),
        ..ordinary_row()
    };
    let file = Results {
        run: Run::new("2026-11-04T03:21:07Z", command.to_vec()),
        ..results(vec![row])
    };
    let page = page(&[file]);
    for said in [
        "run.csv: 1 case. Begun 2026-11-04T03:21:07Z on board rpi-4b, model Raspberry Pi 4, ",
        ", kernel 6.6.1, ",
        ", governor performance, by udpbench ",
        "<code>udpbench --engine 'std,a b'</code>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

#[test]
fn files_of_one_name_are_told_apart_by_their_directories() {
    let file = |name: &str| Results {
        name: name.to_owned(),
        ..results(vec![ordinary_row()])
    };
    let page = page(&[file("a/run.csv"), file("b/run.csv"), file("c/other.csv")]);
    for name in [
        "<h2 id=\"sweep-0\">a/run.csv</h2>",
        "<h2 id=\"sweep-1\">b/run.csv</h2>",
        "<h2 id=\"sweep-2\">other.csv</h2>",
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
    assert!(
        page.contains("other host's model Raspberry Pi 4 Model B, other host's CPU Cortex-A72")
    );
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
    assert_eq!(count(&page, "<section "), 3);
    let two = super::tests::page(&[results(Vec::new()), results(Vec::new())]);
    assert!(section(&two, "comparison").contains("not comparable, "));
    assert!(two.contains("No recommendation: there are no cases."));
}

mod any_rows;
mod charts;
mod judged;
