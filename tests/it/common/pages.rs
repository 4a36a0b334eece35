//! The Markdown pages of this repository.

use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> &'static Path {
    Path::new(crate::ROOT)
}

/// Returns the paths of all Markdown pages.
pub fn pages() -> Vec<PathBuf> {
    let names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut pages: Vec<PathBuf> = names.iter().map(|name| root().join(name)).collect();
    let folders = ["docs", "boards", "suites", "results", "scripts", "tests"];
    let mut waiting: Vec<PathBuf> = folders.iter().map(|name| root().join(name)).collect();
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|found| found == "md") {
                pages.push(path);
            }
        }
    }
    pages
}
