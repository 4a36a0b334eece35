//! Tests of `udpbench report`: a page that needs no other file, and the files that it may replace.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::common::{Place, assert_code, stderr, stdout};
use udpbench::data::Connection;

/// A place with the results of a short sweep: `run.csv`.
fn measured() -> Place {
    let place = Place::new();
    let output = place.run(
        "--engine null --no-reference --threads 1,2 --payload 26,300 --duration 30ms --warmup 1ms --soak 0s \
         --board generic --pin none -o run.csv",
    );
    assert_code(&output, 0);
    place
}

fn page(place: &Place) -> String {
    fs::read_to_string(place.path("report.html")).expect("a page")
}

#[test]
fn the_page_is_one_file_that_asks_nobody_for_anything() {
    let place = measured();
    let output = place.run("report run.csv");
    assert_code(&output, 0);
    assert_eq!(place.files(), ["report.html", "run.csv", "run.jsonl"]);
    let page = page(&place);
    for foreign in [
        "http:", "https:", "<link", "<img", "@import", "url(", " src=",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("default-src 'none'"));
    let sections = [
        "speed",
        "cpu",
        "results",
        "ranking",
        "drift",
        "reasons",
        "accounting",
        "rows",
        "host",
        "warnings",
    ];
    assert_eq!(sections_of(&page), sections);
    for target in page.split("href=\"#").skip(1) {
        let id = target.split('"').next().unwrap_or_default();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert_eq!(page.matches("<h1>").count(), 1);
    assert_eq!(
        page.matches("<svg ").count(),
        page.matches("role=\"img\"").count()
    );
    let charts = page.matches("<table class=\"tracks\"").count();
    assert!(charts + page.matches("<svg ").count() >= 8, "{charts}");
}

/// Their ids, in the order of the page.
fn sections_of(page: &str) -> Vec<&str> {
    let headings = page.split("<section").skip(1);
    let headings = headings.filter_map(|section| section.split_once(" aria-labelledby=\""));
    let headings = headings.map(|(_, id)| id);
    headings
        .filter_map(|heading| heading.split('"').next())
        .collect()
}

#[test]
fn a_second_file_is_compared_with_the_first_and_raw_samples_serve_as_well() {
    let place = measured();
    for names in ["run.csv run.jsonl", "run.jsonl run.csv"] {
        let output = place.run(&format!("report {names}"));
        assert_code(&output, 0);
        let page = page(&place);
        assert_eq!(
            sections_of(&page)[..5],
            ["comparison", "speed", "cpu", "results", "ranking"]
        );
        let (new, base) = names.split_once(' ').map(|(a, b)| (b, a)).expect("two");
        assert!(page.contains(&format!("<h3>{new} against {base}</h3>")));
    }
}

/// Whatever the host is called: most of 456 rows in the page would else be what they have in common.
#[test]
fn a_sweep_of_all_engines_has_once_what_its_rows_share() {
    let place = measured();
    let rows = crate::common::rows(&place.path("run.csv"));
    let mut writer = csv::Writer::from_path(place.path("all.csv")).expect("made");
    // 20 engines, and numbers as long as those of real ones.
    for n in 0..456_u32 {
        let mut row = rows[n as usize % rows.len()].clone();
        row.sender = format!("tokio-exhaustive-{}", n / 24);
        row.receiver.clone_from(&row.sender);
        row.engine.clone_from(&row.sender);
        row.threads = u16::try_from(n % 24 + 1)
            .expect("a few")
            .try_into()
            .expect("in range");
        (row.senders, row.receivers) = (row.threads.senders(), row.threads.receivers());
        row.connection = Connection::Unconnected;
        row.case = format!(
            "{0}:{0}/{1}t/{2}B/{3}/{4}",
            row.sender, row.threads, row.payload_bytes, row.connection, row.ip
        );
        let value = Some(f64::from(n) * 997.123 + 1e5);
        row.received_pps = value;
        let mbps = value.map(|pps| pps * f64::from(u32::from(row.payload_bytes)) * 8e-6);
        (
            row.received_mbps,
            row.received_mbps_low,
            row.received_mbps_high,
        ) = (mbps, mbps, mbps);
        row.received_pps_low = value;
        row.received_pps_high = value.map(|value| value * 1.5);
        row.cpu_ns_per_packet = value;
        (row.cpu_ns_per_packet_low, row.cpu_ns_per_packet_high) = (None, None);
        row.ratio_to_std = value;
        row.cpu_ratio_to_std = value;
        row.ratio_pairs = Some(6);
        row.ratio_sd_pct = Some(1.0);
        row.cpu_ratio_sd_pct = Some(1.0);
        row.warnings = vec!["w".repeat(200)];
        row.model = "m".repeat(2000);
        writer.serialize(row).expect("written");
    }
    drop(writer);
    let output = place.run("report all.csv");
    assert_code(&output, 0);
    assert!(page(&place).contains("456 cases"));
    let bytes = fs::metadata(place.path("report.html"))
        .expect("written")
        .len();
    assert!(bytes < 800_000, "{bytes} B");
}

#[test]
fn a_page_for_paper_has_all_tables_and_no_lines_without_a_value() {
    let place = measured();
    for (option, is_told) in [("", true), (" --print-tables", false)] {
        assert_code(&place.run(&format!("report run.csv{option}")), 0);
        let page = page(&place);
        let told = "On paper are only the tables that are unfolded";
        assert_eq!(page.contains(told), is_told, "{option}");
        let (_, same) = page
            .split_once("Columns with the same value in all rows")
            .expect("a table");
        let same = same.split("</table>").next().unwrap_or_default();
        assert!(
            same.contains("<td>") && !same.contains("<td></td>"),
            "{same}"
        );
    }
}

#[test]
fn the_same_results_are_the_same_page() {
    let place = measured();
    let one = stdout(&place.run("report run.csv -o -"));
    assert_eq!(place.run("report run.csv").status.code(), Some(0));
    assert_eq!(one, page(&place));
}

#[test]
fn a_report_is_replaced_and_nothing_else_is() {
    let place = measured();
    for _ in 0..2 {
        assert_eq!(place.run("report run.csv").status.code(), Some(0));
    }
    for (name, problem) in [
        (
            "mine.html",
            "not a report; choose another name, or overwrite it with --overwrite",
        ),
        (
            "empty.html",
            "not a report; choose another name, or overwrite it with --overwrite",
        ),
        ("run.csv", "one of the input files"),
    ] {
        if name != "run.csv" {
            fs::write(
                place.path(name),
                if name == "mine.html" {
                    "<!DOCTYPE html><p>"
                } else {
                    ""
                },
            )
            .expect("written");
        }
        let before = fs::read(place.path(name)).expect("there");
        let output = place.run(&format!("report run.csv -o {name}"));
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(problem), "{}", stderr(&output));
        assert_eq!(fs::read(place.path(name)).expect("there"), before);
    }
    assert_eq!(
        place
            .run("report run.csv -o mine.html --overwrite")
            .status
            .code(),
        Some(0)
    );
    assert!(
        fs::read_to_string(place.path("mine.html"))
            .expect("there")
            .contains("</html>")
    );
    assert_eq!(
        place
            .run("report run.csv -o run.csv --overwrite")
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn bad_names_are_refused_with_their_fix_and_leave_nothing() {
    let place = measured();
    let before = place.files();
    for (arguments, problem) in [
        (
            "report run.csv -o nowhere/r.html",
            "no directory nowhere; create it first",
        ),
        ("report run.csv -o .", "it exists and is not a file"),
        ("report missing.csv", "missing.csv"),
        ("report", "<FILE>"),
    ] {
        let output = place.refuses(arguments);
        assert!(
            stderr(&output).contains(problem),
            "{arguments}: {}",
            stderr(&output)
        );
        assert_eq!(place.files(), before, "{arguments}");
    }
}

#[test]
fn a_full_disk_leaves_the_earlier_page_and_no_half_of_a_new_one() {
    let place = measured();
    assert_eq!(place.run("report run.csv").status.code(), Some(0));
    let earlier = page(&place);
    // No file may grow beyond a block: what a full disk does, without one.
    let output = place.shell("trap '' XFSZ; ulimit -f 1; exec $udpbench report run.csv");
    assert_code(&output, 1);
    assert!(
        stderr(&output).contains("--output report.html"),
        "{}",
        stderr(&output)
    );
    assert_eq!(page(&place), earlier);
    assert_eq!(place.files(), ["report.html", "run.csv", "run.jsonl"]);
}

#[test]
fn a_page_that_nobody_takes_is_no_success() {
    let place = measured();
    let (reader, writer) = UnixStream::pair().expect("sockets");
    drop(reader);
    let mut report = place.udpbench("report run.csv -o -");
    report.stdout(OwnedFd::from(writer));
    let output = report.output().expect("the program starts");
    let said = "error: cannot write all of it to standard output: Broken pipe (os error 32)\n";
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(1), said)
    );
}
