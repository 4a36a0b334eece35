//! Checks of the fixtures themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{hosts, package, root};

#[test]
fn every_fixture_has_its_line_in_the_readme() {
    let readme = fs::read_to_string(package().join("tests/fixtures/README.md")).expect("is there");
    for name in hosts() {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn device_tree_strings_end_in_nul_and_all_other_files_in_a_newline() {
    for name in hosts() {
        for file in files_below(&root(&name)) {
            let bytes = fs::read(&file).expect("is readable");
            let is_device_tree = file.to_string_lossy().contains("device-tree");
            let end = if is_device_tree { b'\0' } else { b'\n' };
            assert_eq!(bytes.last(), Some(&end), "{}", file.display());
            assert_eq!(bytes.contains(&b'\0'), is_device_tree, "{}", file.display());
            assert!(!bytes.contains(&b'\r'), "{}", file.display());
            assert!(
                !(is_device_tree && bytes.contains(&b'\n')),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn the_trees_are_what_their_table_makes() {
    let script = package().join("tests/fixtures/make-hosts");
    let output = Command::new("python3").arg(script).arg("--check").output();
    // An emulated vfork(2) starts a program that is not there and lets it exit with 127, as shells do.
    let remote = |output: &Output| output.status.code() != Some(127);
    let Some(output) = output.ok().filter(remote) else {
        eprintln!("skipped: there is no Python here");
        return;
    };
    let stale = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stale}");
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("is readable");
    let paths = entries.map(|entry| entry.expect("is readable").path());
    let files = paths.flat_map(|path| {
        if path.is_symlink() {
            vec![]
        } else if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    });
    files.collect()
}
