//! The documents say what the program does.

mod common;

use common::{Place, stdout};
use udpbench::engines;

fn document(name: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("it is there")
}

#[test]
fn every_column_is_explained_in_its_order() {
    let output = Place::new()
        .run("--engine mio-exhaustive --threads 1 --payload 0 --no-reference --board generic -o -");
    let text = stdout(&output);
    let columns: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let results = document("docs/RESULTS.md");
    let first_cell = |line: &str| {
        let cell = line.strip_prefix("| `")?.split('`').next()?;
        Some(cell.to_owned())
    };
    let explained: Vec<String> = results.lines().filter_map(first_cell).collect();
    let columns_explained: Vec<&str> = explained
        .iter()
        .take(columns.len())
        .map(String::as_str)
        .collect();
    assert_eq!(columns_explained, columns);
}

#[test]
fn the_readme_lists_every_engine() {
    let readme = document("README.md");
    for entry in engines::ALL {
        assert!(readme.contains(&format!("\n| `{entry}` |")), "{entry}");
    }
}

#[test]
fn the_readmes_commands_are_those_that_ci_runs() {
    let (readme, ci) = (document("README.md"), document(".ci/run"));
    for command in ["cargo run --release -- --quick", "cargo test"] {
        let line = format!("\n    {command}\n");
        assert!(readme.contains(&line), "{command}");
        assert!(ci.contains(&line), "{command}");
    }
}
