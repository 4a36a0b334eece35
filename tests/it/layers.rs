//! Checks the tables of modules in comments. That in the `lib.rs` of each package has its layers: modules use only
//! those below them, and no two files use each other, except a module's own `mod.rs`. Cargo holds the order of the
//! packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of the packages.
const PACKAGES: [&str; 4] = ["src", "field/src", "host/src", "datapath/src"];

fn root(package: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(package)
}

/// The files of a package, without those of its tests, by path.
fn sources(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut waiting = vec![root.to_owned()];
    let mut sources = BTreeMap::new();
    while let Some(path) = waiting.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a directory");
            let paths = entries.map(|entry| entry.expect("an entry").path());
            waiting.extend(paths.filter(|path| path.file_stem() != Some("tests".as_ref())));
        } else if name.ends_with(".rs") && name != "main.rs" {
            let text = fs::read_to_string(&path).expect("a source file");
            let path = path.strip_prefix(root).expect("below it").to_owned();
            sources.insert(path, without_tests(&text));
        }
    }
    sources
}

/// Without comments, and without the tests at the end.
fn without_tests(text: &str) -> String {
    let code = text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]" || !is_last(text, line));
    let code = code.filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<&str>>().join("\n")
}

/// Returns whether the module of tests follows.
fn is_last(text: &str, line: &str) -> bool {
    let at = line.as_ptr() as usize - text.as_ptr() as usize;
    let next = text[at..].lines().nth(1).unwrap_or_default();
    next.contains("mod tests")
}

/// Every path that the code names from the root of the crate, as segments: of `use` with all its branches, and in
/// the code itself. What a file hands on from its own children (`pub use self::`) is no use of them.
fn paths(file: &Path, text: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let line = rest[..at][rest[..at].rfind('\n').map_or(0, |end| end + 1)..].trim();
        let is_handed_on = line == "pub" || (line.starts_with("pub(") && line.ends_with(')'));
        // Not a word of a message or a comment.
        let is_start = line.is_empty() || is_handed_on;
        rest = &rest[at + "use ".len()..];
        let Some(end) = rest.find(';').filter(|_| is_start) else {
            continue;
        };
        for path in branches(&rest[..end]) {
            let is_own_child = path[0] == "self";
            if !(is_handed_on && is_own_child) {
                found.extend(absolute(file, &path));
            }
        }
    }
    for (at, _) in text.match_indices("crate::") {
        let end = text[at..].find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
        let path = &text[at..end.map_or(text.len(), |end| at + end)];
        let segments = path.split("::").filter(|segment| !segment.is_empty());
        found.extend(absolute(
            file,
            &segments.map(str::to_owned).collect::<Vec<_>>(),
        ));
    }
    found
}

/// `a::{b, c::d}` is `a::b` and `a::c::d`.
fn branches(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((stem, inner)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or(tree);
        return vec![
            name.split("::")
                .map(|segment| segment.trim().to_owned())
                .collect(),
        ];
    };
    let stem: Vec<String> = stem
        .split("::")
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(str::to_owned)
        .collect();
    let inner = &inner[..inner.rfind('}').expect("closed")];
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts
        .flat_map(branches)
        .map(|branch| [stem.clone(), branch].concat())
        .collect()
}

/// From the root of the crate. `None`: of another crate.
fn absolute(file: &Path, path: &[String]) -> Option<Vec<String>> {
    let mut module: Vec<String> = file
        .iter()
        .map(|part| part.to_string_lossy().replace(".rs", ""))
        .collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        module.pop();
    }
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => module.clear(),
        "self" => {}
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                module.pop();
                rest = &rest[1..];
            }
            return Some([module, rest.to_vec()].concat());
        }
        _ => return None,
    }
    Some([module, rest[1..].to_vec()].concat())
}

/// The file that a path leads to: the deepest module on it, or the one from which that hands the name on.
fn file_of(sources: &BTreeMap<PathBuf, String>, path: &[String]) -> Option<PathBuf> {
    for length in (1..=path.len()).rev() {
        let stem: PathBuf = path[..length].iter().collect();
        for file in [stem.join("mod.rs"), stem.with_extension("rs")] {
            let Some(text) = sources.get(&file) else {
                continue;
            };
            let Some(name) = path.get(length) else {
                return Some(file);
            };
            return handed_on(sources, &file, text, name).or(Some(file));
        }
    }
    None
}

fn handed_on(
    sources: &BTreeMap<PathBuf, String>,
    file: &Path,
    text: &str,
    name: &str,
) -> Option<PathBuf> {
    let uses = text
        .split("pub use ")
        .skip(1)
        .chain(text.split("pub(crate) use ").skip(1));
    let uses = uses
        .chain(text.split("pub(super) use ").skip(1))
        .filter_map(|rest| rest.split(';').next());
    let mut paths = uses
        .flat_map(branches)
        .filter(|path| path.last().is_some_and(|last| last == name));
    let path = absolute(file, &paths.next()?)?;
    file_of(sources, &path).filter(|found| found != file)
}

/// Maps each file to the files that it uses.
fn arrows(sources: &BTreeMap<PathBuf, String>) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let used = |(file, text): (&PathBuf, &String)| {
        let paths = paths(file, text).into_iter();
        let files = paths
            .filter_map(|path| file_of(sources, &path))
            .filter(|used| used != file);
        (file.clone(), files.collect())
    };
    sources.iter().map(used).collect()
}

/// The modules of a package, as its table has them.
fn table(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("lib.rs")).expect("it is there");
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("// | `")?.split_once("` | "));
    rows.map(|(module, _)| module.to_owned()).collect()
}

fn module_of(file: &Path) -> String {
    let first = file.iter().next().expect("a path").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// Lists arrows that point up, and modules that are not in the table.
fn upward(arrows: &BTreeMap<PathBuf, BTreeSet<PathBuf>>, table: &[String]) -> Vec<String> {
    let place = |module: &str| table.iter().position(|row| row == module);
    let mut wrong = Vec::new();
    for (file, used) in arrows
        .iter()
        .filter(|(file, _)| **file != Path::new("lib.rs"))
    {
        for used in used.iter().filter(|used| **used != Path::new("lib.rs")) {
            let (from, to) = (module_of(file), module_of(used));
            let is_down = from == to
                || place(&from)
                    .zip(place(&to))
                    .is_some_and(|(from, to)| from < to);
            if !is_down {
                wrong.push(format!("{} uses {}", file.display(), used.display()));
            }
        }
    }
    wrong
}

/// Returns whether one file is the `mod.rs` of the other, which holds what the files of a module share.
fn are_one_module(one: &Path, other: &Path) -> bool {
    let holds = |one: &Path, other: &Path| {
        let is_face = one.file_stem() == Some("mod".as_ref());
        let folder = if is_face {
            one.parent().map(Path::to_owned)
        } else {
            Some(one.with_extension(""))
        };
        folder.is_some_and(|folder| other.starts_with(folder))
    };
    holds(one, other) || holds(other, one)
}

/// A circle of files, if there is one: each uses the next, the last the first.
fn circle(arrows: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Option<Vec<PathBuf>> {
    fn visit(
        file: &Path,
        arrows: &BTreeMap<PathBuf, BTreeSet<PathBuf>>,
        way: &mut Vec<PathBuf>,
        done: &mut BTreeSet<PathBuf>,
    ) -> Option<Vec<PathBuf>> {
        if let Some(start) = way.iter().position(|passed| passed == file) {
            return Some(way[start..].to_vec());
        }
        if done.contains(file) {
            return None;
        }
        way.push(file.to_owned());
        let used = arrows.get(file).into_iter().flatten();
        let mut used = used.filter(|used| !are_one_module(file, used));
        let found = used.find_map(|used| visit(used, arrows, way, done));
        way.pop();
        done.insert(file.to_owned());
        found
    }
    let mut done = BTreeSet::new();
    arrows
        .keys()
        .find_map(|file| visit(file, arrows, &mut Vec::new(), &mut done))
}

#[test]
fn modules_use_only_those_below_them() {
    for package in PACKAGES {
        let root = root(package);
        let (sources, table) = (sources(&root), table(&root));
        let modules: BTreeSet<String> = sources.keys().map(|file| module_of(file)).collect();
        let listed: BTreeSet<String> = table.iter().cloned().chain(["lib".to_owned()]).collect();
        assert_eq!(listed, modules, "the table of {package} lists every module");
        let wrong = upward(&arrows(&sources), &table).join("\n");
        assert!(
            wrong.is_empty(),
            "arrows that point up in {package}:\n{wrong}"
        );
    }
}

/// Lists the modules that the tables in the `mod.rs` files of a package name, but that do not exist.
fn missing_modules(package: &Path) -> Vec<String> {
    let mut missing = Vec::new();
    for file in sources(package).keys() {
        if !file.ends_with("mod.rs") {
            continue;
        }
        let path = package.join(file);
        let text = fs::read_to_string(&path).expect("a source file");
        for row in text.lines().filter(|line| line.starts_with("//! |")) {
            let is_module = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            for name in row.split('`').skip(1).step_by(2).filter(is_module) {
                let module = path.with_file_name(name);
                if !module.is_dir() && !module.with_extension("rs").is_file() {
                    missing.push(format!("{}: {name}", file.display()));
                }
            }
        }
    }
    missing
}

#[test]
fn tables_name_modules_that_exist() {
    for package in PACKAGES {
        let missing = missing_modules(&root(package));
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}

#[test]
fn no_files_use_each_other() {
    for package in PACKAGES {
        let circle = circle(&arrows(&sources(&root(package))));
        assert_eq!(circle, None, "files of {package} in a circle");
    }
}

#[test]
fn one_use_that_is_turned_round_is_found() {
    let root = root("src");
    let (mut sources, table) = (sources(&root), table(&root));
    assert!(upward(&arrows(&sources), &table).is_empty());
    let lower = sources.get_mut(Path::new("results/row/mod.rs"));
    let text = lower.expect("it is there");
    text.insert_str(0, "use crate::verdict::rank::{self, Answer};\n");
    let found = arrows(&sources);
    assert!(!upward(&found, &table).is_empty());
    assert!(circle(&found).is_some());
}
