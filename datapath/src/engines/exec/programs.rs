//! The programs that this process knows as engines: those that the command line, a log or a trial has named.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nix::unistd::{AccessFlags, access};

use crate::data::{EngineName, Group};
use crate::engine::{About, lock};
use crate::engines::Entry;

static PROGRAMS: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

const ABOUT: About = About {
    summary: "a program of yours, one process per bench thread",
    group: Group::Program,
    can_spin: true,
    ..About::PLAIN
};

/// Returns the engine of a program, and remembers it. It has the name of the program's file, unless `name` is given.
///
/// # Errors
/// Fails if there is another engine of this name, or if the file's name cannot be one. The message tells what to type.
pub fn add(name: Option<EngineName>, path: &Path) -> Result<&'static Entry, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    let named = format!("exec:NAME={}", path.display());
    let name = match name {
        Some(name) => name,
        None => name_of(&path).ok_or_else(|| {
            format!("an engine has 1 to 24 letters, digits and hyphens: give it a name, {named}")
        })?,
    };
    if super::super::find_compiled(name.as_str()).is_some() {
        return Err(format!(
            "there is an engine {name} already: give it another name, {named}"
        ));
    }
    let mut programs = lock(&PROGRAMS);
    match programs.iter().find(|entry| entry.name() == name) {
        Some(known) if known.executable == Some(&path) => Ok(known),
        Some(known) => Err(format!(
            "{name} is {} already: give one of them another name, {named}",
            known.executable.unwrap_or(Path::new("")).display()
        )),
        None => {
            let entry = leak(name, path);
            programs.push(entry);
            Ok(entry)
        }
    }
}

/// Remembers programs that have names.
///
/// # Errors
/// Fails as [`add`] does.
pub fn add_all(programs: &[(EngineName, PathBuf)]) -> Result<(), String> {
    let mut programs = programs.iter();
    programs.try_for_each(|(name, path)| add(Some(*name), path).map(drop))
}

/// Returns the engine with this name, if it is a program.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().into_iter().find(|entry| entry.about.name == name)
}

/// Returns all programs.
pub fn all() -> Vec<&'static Entry> {
    lock(&PROGRAMS).clone()
}

/// Checks that a program can be started on this host, without starting it.
///
/// # Errors
/// Returns the reason why it cannot.
pub(in crate::engines) fn probe(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Err(error) => Err(error.to_string()),
        Ok(file) if file.is_dir() => Err("it is a directory".to_owned()),
        Ok(_) => {
            access(path, AccessFlags::X_OK).map_err(|_| "it is not executable: chmod +x".to_owned())
        }
    }
}

/// Makes an entry that lives as long as the process, as those of compiled engines do.
fn leak(name: EngineName, path: PathBuf) -> &'static Entry {
    let about = About {
        name: Box::leak(name.as_str().into()),
        ..ABOUT
    };
    let (about, path) = (
        Box::leak(Box::new(about)),
        Box::leak(path.into_boxed_path()),
    );
    Box::leak(Box::new(Entry::of_program(about, path)))
}

/// Returns the name of a file as the name of an engine: without its extension, in lowercase, with hyphens.
fn name_of(path: &Path) -> Option<EngineName> {
    let stem = path.file_stem()?.to_str()?.to_ascii_lowercase();
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    stem.chars().map(allowed).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_like_its_file_unless_that_is_taken() {
        let named = |path: &str| add(None, Path::new(path)).map(|entry| entry.about.name);
        assert_eq!(named("/a/My_Loop.py"), Ok("my-loop"));
        named("/c/My_Loop.py").expect_err("another program");
        assert_eq!(named("/a/My_Loop.py"), Ok("my-loop"));
        for taken in ["/b/my-loop", "/b/std", "/b/a-name-that-is-much-too-long"] {
            let message = named(taken).expect_err(taken);
            assert!(message.contains(&format!("exec:NAME={taken}")), "{message}");
        }
        let name = Some(EngineName::new("yours"));
        let yours = add(name, Path::new("/b/my-loop")).expect("it has a name of its own");
        assert_eq!(find("yours"), Some(yours));
        assert_eq!(find("theirs"), None);
    }
}
