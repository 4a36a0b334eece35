//! A file of results. The log and CSV grow by whole lines while a sweep runs; a document is replaced in one
//! step. Whatever happens to the disk, the file is whole, and what another program put there stays.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tempfile::NamedTempFile;

use super::cannot_create;
use super::place::{self, Displaced};
use crate::error::UsageError;

/// A file that only ever holds whole lines, or a whole document.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    /// Open for as long as it is ours: else another file could have its number.
    file: File,
    /// How many bytes were written whole.
    whole: u64,
    _lock: Option<Flock<File>>,
}

impl OutputFile {
    /// Creates the file, which `flag` names.
    ///
    /// # Errors
    /// When it exists already, or cannot be created.
    pub fn create(flag: &'static str, path: &Path) -> Result<Self, UsageError> {
        let created = place::new_file(path).and_then(|file| {
            // What cannot be used is not left behind.
            Self::locked(path, file, 0).inspect_err(|_| drop(fs::remove_file(path)))
        });
        created.map_err(|error| cannot_create(flag, path, &error))
    }

    /// Opens a file that was read when it had so many bytes, to go on after the first `whole` of them; what comes
    /// after those is cut off.
    ///
    /// # Errors
    /// When it cannot be opened, or another program writes to it, or did so since it was read.
    pub fn resume(path: &Path, read: u64, whole: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let resumed = Self::locked(path, file, whole)?;
        if resumed.file.metadata()?.len() != read {
            return Err(io::Error::other(
                "another udpbench wrote to it meanwhile; try again",
            ));
        }
        resumed.file.set_len(whole)?;
        Ok(resumed)
    }

    fn locked(path: &Path, file: File, whole: u64) -> io::Result<Self> {
        Ok(Self {
            _lock: lock(&file)?,
            path: path.to_owned(),
            file,
            whole,
        })
    }

    /// Appends whole lines and hands them to the kernel at once.
    ///
    /// # Errors
    /// When they could not be written whole; the file then ends where it ended before.
    pub fn append(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        match self.file.write_all(lines) {
            Ok(()) => {
                self.whole += lines.len() as u64;
                Ok(())
            }
            Err(error) => {
                let cut = self.file.set_len(self.whole);
                let shown = self.path.display();
                Err(anyhow!(error).context(match cut {
                    Ok(()) => format!("cannot write to {shown}; its earlier lines are complete"),
                    Err(_) => format!("cannot write to {shown}; its last line is cut off"),
                }))
            }
        }
    }

    /// Asks the disk itself to keep what was appended, against a power cut.
    ///
    /// # Errors
    /// When the disk cannot, or the file is not where it was made any more.
    pub fn sync(&self) -> anyhow::Result<()> {
        let synced = self.file.sync_data();
        synced.with_context(|| format!("cannot sync {}", self.path.display()))?;
        self.check_place()
    }

    /// Puts these bytes in the place of all that it held, safe against a power cut.
    ///
    /// # Errors
    /// When they cannot be written, or the file is not where it was put any more; nothing is then changed.
    pub fn replace(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.check_place()?;
        let part = self.part()?;
        let written = written(part, bytes).and_then(|part| {
            let locked = Self::locked(&self.path, part.as_file().try_clone()?, bytes.len() as u64)?;
            part.persist(&self.path)?;
            Ok(locked)
        });
        let shown = self.path.display();
        *self = written.with_context(|| format!("cannot write {shown}; the file is unchanged"))?;
        // The new name is the directory's to keep. Not every file system can be asked; the file is whole
        // either way.
        let _ = File::open(self.directory()).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// `NAME.part`: beside the file, as only within a file system a rename is one step (rename(2)); and always
    /// that name, so that a run that is killed leaves one file at most.
    fn part(&self) -> anyhow::Result<NamedTempFile> {
        let name = self.path.file_name().unwrap_or_default();
        let part = tempfile::Builder::new()
            .prefix(name)
            .rand_bytes(0)
            .suffix(".part")
            .append(true)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(self.directory());
        part.map_err(|error| {
            let mut path = self.path.clone().into_os_string();
            path.push(".part");
            let path = PathBuf::from(path);
            if error.kind() == io::ErrorKind::AlreadyExists {
                let fix = "a killed run left it; remove it and try again";
                UsageError::flag("--output", &path.display(), fix).into()
            } else {
                anyhow!(error).context(format!("cannot write {}", path.display()))
            }
        })
    }

    fn directory(&self) -> &Path {
        let parent = self.path.parent();
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }

    /// Saves what the file holds, or the `document` that it should hold by now, elsewhere if it is not where it
    /// was made any more.
    pub fn rescue(&self, document: Option<&[u8]>) -> Option<Displaced> {
        if self.is_in_place() {
            return None;
        }
        let displaced = Displaced::save(&self.path, |copy| {
            if let Some(bytes) = document {
                return copy.write_all(bytes);
            }
            let mut file = &self.file;
            file.seek(SeekFrom::Start(0))?;
            match io::copy(&mut file.take(self.whole), copy)? {
                copied if copied == self.whole => Ok(()),
                _ => Err(io::Error::other("another program cut it off")),
            }
        });
        Some(displaced)
    }

    fn check_place(&self) -> anyhow::Result<()> {
        if self.is_in_place() {
            Ok(())
        } else {
            Err(place::displaced(&self.path))
        }
    }

    /// There, and as long as what was written to it.
    fn is_in_place(&self) -> bool {
        let ours = self.file.metadata();
        ours.is_ok_and(|ours| ours.len() == self.whole && place::is_in_place(&self.path, &ours))
    }

    /// Takes the file away again, if it can be.
    pub fn remove(self) {
        let _ = fs::remove_file(self.path);
    }
}

fn written(mut part: NamedTempFile, bytes: &[u8]) -> io::Result<NamedTempFile> {
    part.write_all(bytes)?;
    part.as_file().sync_all()?;
    Ok(part)
}

/// For as long as the file is open, against a second program that goes on with the same sweep. A file system
/// that knows no locks is none the worse for it.
fn lock(file: &File) -> io::Result<Option<Flock<File>>> {
    match Flock::lock(file.try_clone()?, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Err(io::Error::other("another udpbench is writing to it")),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
