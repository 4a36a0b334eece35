//! Expands hosts stored in one text file each. A line has a file's path, a tab, and its text as a JSON string of
//! Latin-1 characters, or `-> ` and the target of a symbolic link.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::package;

/// The directory with the trees of all of them, written anew by each run of the tests.
pub(super) static ALL: LazyLock<PathBuf> = LazyLock::new(|| {
    let trees = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hosts");
    if trees.exists() {
        fs::remove_dir_all(&trees).expect("is ours");
    }
    let entries = fs::read_dir(package().join("tests/fixtures/hosts")).expect("is there");
    for entry in entries {
        let file = entry.expect("is readable").path();
        if file.extension().is_some_and(|extension| extension == "txt") {
            expand(&file, &trees.join(file.file_stem().expect("has a name")));
        }
    }
    trees
});

fn expand(list: &Path, tree: &Path) {
    for line in fs::read_to_string(list).expect("is text").lines() {
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
