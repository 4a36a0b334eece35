//! Checks that no code looks into the words of a sentence. Where a sentence is a type, there is nothing to look into.

use std::fs;
use std::path::PathBuf;

use crate::common::pages::root;

/// Folders that make sentences, or decide by them. The others read files of the kernel, or words that somebody typed.
const FOLDERS: [&str; 9] = [
    "field/src/listen",
    "field/src/soak",
    "src/experiment",
    "src/plan",
    "src/report",
    "src/results",
    "src/session",
    "src/stats",
    "src/verdict",
];
/// Methods that look into a text.
const METHODS: [&str; 12] = [
    "contains",
    "ends_with",
    "find",
    "matches",
    "rsplit_once",
    "split",
    "split_once",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_start_matches",
];

#[test]
fn no_code_looks_for_words_in_a_sentence() {
    let mut waiting: Vec<PathBuf> = FOLDERS.map(|name| root().join(name)).into();
    let mut files = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a directory");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if !path
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with("tests"))
        {
            let text = fs::read_to_string(&path).expect("a source");
            let code = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default();
            for method in METHODS {
                let words = words_behind(code, &format!(".{method}(\""));
                assert_eq!(words, Vec::<&str>::new(), "{}: {method}", path.display());
            }
            files += 1;
        }
    }
    assert!(files > 100, "{files}");
}

/// The texts behind a call that have words: letters with a blank beside them.
fn words_behind<'a>(code: &'a str, call: &str) -> Vec<&'a str> {
    let texts = code.split(call).skip(1);
    let texts = texts.filter_map(|rest| rest.split('"').next());
    let has_words =
        |text: &&str| text.contains(' ') && text.contains(|it: char| it.is_alphabetic());
    texts.filter(has_words).collect()
}
