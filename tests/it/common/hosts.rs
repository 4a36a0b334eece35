//! The hosts of `tests/fixtures/hosts`, each a text file as `udpbench boards --capture` writes it, expanded into a
//! directory below `target/tmp/hosts`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::pages;

/// The directory with the trees of all hosts, written anew by each run of the tests.
static TREES: LazyLock<PathBuf> = LazyLock::new(|| {
    let trees = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hosts");
    if trees.exists() {
        fs::remove_dir_all(&trees).expect("is ours");
    }
    for name in names() {
        expand(&capture(&name), &trees.join(name));
    }
    trees
});

/// Every host, sorted.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(pages::root().join("tests/fixtures/hosts")).expect("is there");
    let paths = entries.map(|entry| entry.expect("is readable").path());
    let stems = paths.map(|path| path.file_stem().expect("has a name").to_owned());
    let mut names: Vec<String> = stems
        .map(|stem| stem.into_string().expect("is text"))
        .collect();
    names.sort_unstable();
    names
}

/// The text of a host's capture.
pub fn capture(name: &str) -> String {
    let path = pages::root().join(format!("tests/fixtures/hosts/{name}.txt"));
    fs::read_to_string(path).expect("is text")
}

/// The root of a host: the directory that has its `/proc` and `/sys`.
pub fn root(name: &str) -> PathBuf {
    let root = TREES.join(name);
    // A missing tree would pass for a machine that shows nothing.
    assert!(root.is_dir(), "{}", root.display());
    root
}

/// The root of a machine with two CPUs and no sensors.
pub fn two_cpus() -> String {
    root("x86-vm").display().to_string()
}

/// Writes the files of a capture.
pub fn expand(capture: &str, tree: &Path) {
    for line in capture.lines() {
        let (path, text) = line.split_once('\t').expect("path, tab, text");
        let path = tree.join(path);
        fs::create_dir_all(path.parent().expect("is in the tree")).expect("writable");
        if let Some(target) = text.strip_prefix("-> ") {
            symlink(target, path).expect("writable");
        } else {
            let text: String = serde_json::from_str(text).expect("a JSON string");
            let bytes = text
                .chars()
                .map(|letter| u8::try_from(letter).expect("Latin-1"));
            fs::write(path, bytes.collect::<Vec<u8>>()).expect("writable");
        }
    }
}
