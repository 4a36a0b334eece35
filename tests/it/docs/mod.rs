//! Checks that the documents agree with the program.

mod columns;
mod sentences;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::pages::{pages, root};
use crate::common::{Place, objects, stderr, stdout, write_log};
use serde_json::Value;
use udpbench::engines;
use udpbench::results::row::Column;

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("it is there")
}

/// A row of a table, if its first cell is a name.
fn cells(line: &str) -> Option<Vec<&str>> {
    let cells: Vec<&str> = line
        .strip_prefix('|')?
        .split('|')
        .map(|cell| cell.trim().trim_matches('`'))
        .collect();
    line.starts_with("| `").then_some(cells)
}

#[test]
fn columns_look_at_what_they_say() {
    let drain: Change = |window| {
        add(window, "/accounting/at_end/sent", 1000);
        add(window, "/accounting/at_end/received", 500);
        add(window, "/accounting/at_end/dropped_socket", 300);
        // Those of other programs would be taken for ours in part.
        window["accounting"]["kernel_discards"] = Value::from(200);
        for edge in ["opening", "closing"] {
            window["accounting"][format!("kernel_discards_at_{edge}")] = Value::from(0);
        }
    };
    let run: Change = |window| {
        for reading in ["first", "last", "hottest"] {
            window["climate"][format!("{reading}_millic")] = Value::from(95_000);
        }
        window["climate"]["lowest_khz"] = Value::from(1);
    };
    let window: Change = |window| {
        add(window, "/threads/0/errors", 7);
        window["other_cpu_ns"] = Value::from(7_000_000);
    };
    let place = Place::new();
    let output = place.run(
        "--engine null --no-reference --threads 2 --payload 300 --ip v4 --connection connected \
         --rounds 5 --duration 5ms --warmup 0s --heat 0s --columns all -o before.csv",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    for (over, change) in [("drain", drain), ("run", run), ("window", window)] {
        let changed = changed_columns(&place, change);
        assert!(!changed.is_empty(), "{over}");
        for name in changed {
            let column = Column::ALL.iter().find(|column| column.name == name);
            let mark = column.expect("a column").over.to_lowercase();
            // What went wrong anywhere is a warning, or a mark.
            assert!(
                mark == over || name == "warnings" || name == "contaminated_windows",
                "{name}: {mark}, but it looks at {over}"
            );
        }
    }
}

type Change = fn(&mut Value);

fn add(window: &mut Value, field: &str, more: u64) {
    let value = window.pointer_mut(field).expect("a field of the format");
    *value = Value::from(value.as_u64().expect("a count") + more);
}

/// The columns that change with the windows of `before.jsonl`.
fn changed_columns(place: &Place, change: Change) -> Vec<String> {
    let line = |line: String| {
        let mut line: Value = serde_json::from_str(&line).expect("JSON");
        line.pointer_mut("/window/sample")
            .into_iter()
            .for_each(change);
        line.to_string()
    };
    let before = objects(&place.path("before.jsonl"));
    let after: Vec<String> = before.into_iter().map(line).collect();
    write_log(&place.path("after.jsonl"), &after);
    let output = place.run("summarize after.jsonl --columns all --format csv -o -");
    assert!(output.status.success(), "{}", stderr(&output));
    let before = fs::read_to_string(place.path("before.csv")).expect("results");
    let (before, after) = (one_row(&before), one_row(&stdout(&output)));
    let both = before.into_iter().zip(after);
    let differ = both.filter(|(before, after)| before != after);
    differ.map(|((name, _), _)| name).collect()
}

/// The columns of a CSV with one row, and their values.
fn one_row(csv: &str) -> Vec<(String, String)> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names = reader.headers().expect("a header").clone();
    let row = reader.records().next().expect("a row").expect("CSV");
    let columns = names.iter().zip(&row);
    columns
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn the_page_lists_the_engines_in_the_order_of_the_registry() {
    let is_built = |name: &String| engines::find(name).is_some();
    let listed: Vec<String> = engines_of_the_page().into_iter().filter(is_built).collect();
    let registered: Vec<&str> = engines::all().map(|entry| entry.about.name).collect();
    assert_eq!(listed, registered);
}

/// With `--no-default-features`, too: `.ci/run features`.
#[test]
fn an_engine_is_built_or_the_program_says_why_not() {
    let listed: BTreeSet<String> = engines_of_the_page().into_iter().collect();
    let absent = engines::not_built().map(|(name, _)| name);
    let known = engines::all().map(|entry| entry.about.name).chain(absent);
    let mut seen = BTreeSet::new();
    for name in known {
        assert!(seen.insert(name.to_owned()), "{name} twice");
    }
    assert_eq!(seen, listed);
}

fn engines_of_the_page() -> Vec<String> {
    let page = document("docs/ENGINES.md");
    let (_, section) = page.split_once("\n## All engines\n").expect("a section");
    let (section, _) = section.split_once("\n## ").expect("another one");
    let rows = section.lines().filter_map(cells);
    rows.map(|cells| cells[0].to_owned()).collect()
}

#[test]
fn the_readmes_commands_are_those_that_ci_runs() {
    let (readme, ci) = (document("README.md"), document(".ci/run"));
    for command in ["cargo run --release", "cargo test --no-fail-fast"] {
        let line = format!("\n    {command}\n");
        assert!(readme.contains(&line), "{command}");
        assert!(ci.contains(&line), "{command}");
    }
}

#[test]
fn the_readme_and_the_method_stay_short_enough_to_finish() {
    assert!(document("README.md").lines().count() <= 200);
    assert!(document("docs/METHODOLOGY.md").split_whitespace().count() <= 4000);
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("it is there");
        let home = page.parent().expect("a directory");
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                page.clone()
            } else {
                home.join(file)
            };
            assert!(file.exists(), "{}: {target}", page.display());
            let has_anchor = anchor.is_empty() || anchors(&file).contains(anchor);
            assert!(has_anchor, "{}: no heading for {target}", page.display());
        }
    }
}

/// Returns the anchors of a page: its headings, as GitHub writes them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).expect("a page");
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        heading
            .chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn every_file_that_a_page_names_is_there() {
    // Others name files of other times, or such as are to be made.
    let others = ["results", "CHANGELOG.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    let is_of_today = |page: &PathBuf| !others.iter().any(|other| page.starts_with(other));
    for page in pages().into_iter().filter(is_of_today) {
        let text = fs::read_to_string(&page).expect("it is there");
        let paths = text.split('`').skip(1).step_by(2).filter(|code| {
            let mut folders = [
                "src/",
                "datapath/",
                "scripts/",
                "tests/",
                "docs/",
                "results/",
            ]
            .iter();
            folders.any(|folder| code.starts_with(folder))
                && !code.contains(['<', '*', ' '])
                && !code.contains("TIME")
        });
        for path in paths {
            assert!(root().join(path).exists(), "{}: {path}", page.display());
        }
    }
}
