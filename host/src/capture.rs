//! Captures of hosts: one text file with those files of `/proc` and `/sys` that show what a machine is. Tests of
//! detection and placement run on them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sys::files::Root;

/// The captured files, a line each. A `*` stands for any text within one component of a path.
const FILES: &str = include_str!("captured_files.txt");

/// Returns the capture of the host below `root`, a line per file: its path, a tab, and its text as a JSON string of
/// Latin-1 characters, or `-> ` and the target of a symbolic link. Leaves out files that this process cannot read and
/// the serial number of the board.
pub fn capture(root: &Root) -> String {
    let paths = FILES.lines().flat_map(|pattern| matching(root, pattern));
    let line = |path: String| Some(format!("{path}\t{}\n", captured(&root.path(&path))?));
    paths.filter_map(line).collect()
}

/// Returns the paths below the root that match the pattern, sorted.
fn matching(root: &Root, pattern: &str) -> Vec<String> {
    let mut paths = vec![String::new()];
    for component in pattern.split('/') {
        let below = |path: String| match component.split_once('*') {
            None => vec![format!("{path}{component}/")],
            Some((prefix, suffix)) => {
                let names = root.names(&path, prefix);
                let length = prefix.len() + suffix.len();
                let is_one = |name: &&String| name.len() >= length && name.ends_with(suffix);
                let names = names.iter().filter(is_one);
                names.map(|name| format!("{path}{name}/")).collect()
            }
        };
        paths = paths.into_iter().flat_map(below).collect();
    }
    let without_slash = |path: String| path.trim_end_matches('/').to_owned();
    paths.into_iter().map(without_slash).collect()
}

/// Returns the captured text of a file, or the target of a link. `None`: it does not exist, or is not readable.
fn captured(path: &Path) -> Option<String> {
    if let Ok(target) = fs::read_link(path) {
        return Some(format!("-> {}", target.display()));
    }
    let text: String = fs::read(path).ok()?.into_iter().map(char::from).collect();
    let lines = text.split_inclusive('\n');
    let public = lines.filter(|line| !line.starts_with("Serial"));
    Some(Value::from(public.collect::<String>()).to_string())
}
