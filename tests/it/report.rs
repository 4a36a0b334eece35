//! Tests of `udpbench report`: a page that needs no other file, and the files that it may replace.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::common::{Place, assert_code, stderr, stdout};

/// A place with the results of a short sweep: `run.csv`.
fn measured() -> Place {
    let place = Place::new();
    let output = place.run(
        "--engine null --no-reference --threads 1,2 --payload 26,300 --duration 30ms --warmup 1ms --heat 0s \
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
        "http:", "https:", "<link", "<img", "<script", "@import", "url(", " src=",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("default-src 'none'"));
    // Warnings depend on the machine.
    assert_eq!(sections_of(&page)[..3], ["summary", "speed", "cpu"]);
    for target in page.split("href=\"#").skip(1) {
        let id = target.split('"').next().unwrap_or_default();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert_eq!(page.matches("<h1>").count(), 1);
    assert_eq!(
        page.matches("<svg ").count(),
        page.matches("role=\"img\"").count()
    );
    // Two payloads and two thread counts, by speed and by CPU time.
    assert_eq!(page.matches("<table class=\"tracks\"").count(), 8);
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
fn a_second_file_is_compared_with_the_first() {
    let place = measured();
    fs::copy(place.path("run.jsonl"), place.path("new.jsonl")).expect("copied");
    for names in ["run.csv new.jsonl", "new.jsonl run.csv"] {
        let output = place.run(&format!("report {names}"));
        assert_code(&output, 0);
        let page = page(&place);
        assert_eq!(
            sections_of(&page)[..5],
            ["comparison", "summary", "sweep-0", "speed-0", "cpu-0"]
        );
        let (new, base) = names.split_once(' ').map(|(a, b)| (b, a)).expect("two");
        assert!(page.contains(&format!("<h3>{new} against {base}</h3>")));
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
