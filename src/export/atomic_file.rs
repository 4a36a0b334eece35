//! A file that holds one whole document at any time: the old one until the new one is safe on the disk.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::cannot_create;
use super::place::{Displaced, displaced, is_in_place, new_file};
use crate::error::UsageError;

/// A file that is written anew, whole, as often as there is more to say.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    /// The file that was put there last. Open: else another one could have its number.
    put: Option<File>,
}

impl WholeFile {
    /// Takes the name, by an empty file.
    ///
    /// # Errors
    /// When there is such a file already, or it cannot be created.
    pub fn create(path: &Path) -> Result<Self, UsageError> {
        let file = new_file(path).map_err(|error| cannot_create("--output", path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            put: Some(file),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts these bytes in the place of all that it held.
    ///
    /// # Errors
    /// When they cannot be written, or the file is not where it was put any more; nothing is then changed.
    pub fn replace(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        if !self.is_in_place() {
            return Err(displaced(&self.path));
        }
        let part = self.part();
        // Not with `create`: what lies there is not ours.
        let file = new_file(&part).with_context(|| {
            let shown = part.display();
            if part.exists() {
                format!("cannot write {shown}: a killed run left it; remove it")
            } else {
                format!("cannot write {shown}")
            }
        })?;
        let put = write(file, bytes);
        let written = put.and_then(|put| fs::rename(&part, &self.path).map(|()| put));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        let shown = self.path.display();
        let put =
            written.with_context(|| format!("cannot write {shown}; the file is unchanged"))?;
        self.put = Some(put);
        // The new name is the directory's to keep. Not every file system can be asked; the file is whole
        // either way.
        let _ = File::open(self.directory()).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Saves `bytes` elsewhere if the file is not where it was put any more.
    pub fn rescue(&self, bytes: &[u8]) -> Option<Displaced> {
        if self.is_in_place() {
            return None;
        }
        Some(Displaced::save(&self.path, |file| file.write_all(bytes)))
    }

    fn is_in_place(&self) -> bool {
        let put = self.put.as_ref().and_then(|put| put.metadata().ok());
        put.is_some_and(|put| is_in_place(&self.path, &put))
    }

    /// Takes the file away again.
    ///
    /// # Errors
    /// The error of the system call.
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

fn write(mut file: File, bytes: &[u8]) -> io::Result<File> {
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
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
        let mut file = WholeFile::create(&path).expect("the name is free");
        file.replace(b"a long first text").expect("there is space");
        file.replace(b"short").expect("there is space");
        assert_eq!(fs::read(&path).expect("it is there"), b"short");
        assert_eq!(names(place.path()), ["a.json"]);
    }

    #[test]
    fn what_cannot_be_replaced_stays() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        let mut file = WholeFile::create(&path).expect("the name is free");
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
        assert!(refused.to_string().contains("is not overwritten"));
        assert_eq!(fs::read(&path).expect("it is there"), b"mine");
    }
}
