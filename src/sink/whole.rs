//! A file that holds one whole document at any time: the old one until the new one is safe on the disk.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::cannot_create;
use crate::error::UsageError;

/// A file that is written anew, whole, as often as there is more to say.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
}

impl WholeFile {
    /// Takes the name, by an empty file.
    ///
    /// # Errors
    /// When there is such a file already, or it cannot be created.
    pub fn create(path: &Path) -> Result<Self, UsageError> {
        new_file(path).map_err(|error| cannot_create("--output", path, &error))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts these bytes in the place of all that it held.
    ///
    /// # Errors
    /// When they cannot be written; the file then holds what it held before.
    pub fn replace(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let part = self.part();
        // Not with `create`: what lies there is not ours.
        let file = new_file(&part).with_context(|| {
            let shown = part.display();
            if part.exists() {
                format!("cannot write {shown}: a run that was killed left it; remove it")
            } else {
                format!("cannot write {shown}")
            }
        })?;
        let written = write(file, bytes).and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        let shown = self.path.display();
        written.with_context(|| format!("cannot write {shown}; it is as it was"))?;
        // The new name is the directory's to keep. Not every file system can be asked; the file is whole
        // either way.
        let _ = File::open(self.directory()).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Takes the file away again.
    ///
    /// # Errors
    /// What the system said.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }

    /// Beside it, as only within a file system a rename is one step: see rename(2).
    fn part(&self) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(".part");
        self.path.with_file_name(name)
    }

    fn directory(&self) -> &Path {
        let parent = self.path.parent();
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn write(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).expect("it is there");
        entries.flatten().map(|entry| entry.file_name()).collect()
    }

    #[test]
    fn the_last_bytes_are_all_that_is_left() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        let file = WholeFile::create(&path).expect("the name is free");
        file.replace(b"a long first text").expect("there is space");
        file.replace(b"short").expect("there is space");
        assert_eq!(fs::read(&path).expect("it is there"), b"short");
        assert_eq!(names(place.path()), ["a.json"]);
    }

    #[test]
    fn what_cannot_be_replaced_stays() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        let file = WholeFile::create(&path).expect("the name is free");
        file.replace(b"before").expect("there is space");
        fs::write(place.path().join(".a.json.part"), "somebody's").expect("there is space");
        let refused = file.replace(b"after").expect_err("something is in the way");
        assert!(format!("{refused:#}").contains("remove it"), "{refused:#}");
        assert_eq!(fs::read(&path).expect("it is there"), b"before");
        assert_eq!(
            fs::read(place.path().join(".a.json.part")).expect("it is there"),
            b"somebody's"
        );
    }

    #[test]
    fn a_file_that_is_there_is_not_touched() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        fs::write(&path, "mine").expect("there is space");
        let refused = WholeFile::create(&path).expect_err("it is there");
        assert!(refused.to_string().contains("nothing is overwritten"));
        assert_eq!(fs::read(&path).expect("it is there"), b"mine");
    }
}
