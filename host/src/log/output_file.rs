//! Output files that survive crashes. The log and CSV grow by whole lines during a sweep; a document is replaced in
//! one step. If a write fails, the file keeps its complete lines or its previous content. Content that another
//! program put there is never overwritten.
//!
//! Writes to a file that was removed, or whose directory was, succeed without an error. The data is gone when the
//! file is closed (unlink(2)). So each sync looks whether the file is where it was.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tempfile::NamedTempFile;

use crate::error::UsageError;
use crate::term::escape;

/// A file that contains only whole lines, or one whole document.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    /// Open file. It stays open so that no other file can get the same inode number.
    file: File,
    /// Bytes that were written completely.
    whole: u64,
    _lock: Option<Flock<File>>,
}

impl OutputFile {
    /// Creates the file. `flag` is the option that names it in errors.
    ///
    /// # Errors
    /// Fails if the file exists already or cannot be created.
    pub fn create(flag: &'static str, path: &Path) -> Result<Self, UsageError> {
        let created = new_file(path).and_then(|file| {
            // Remove a file that cannot be locked.
            Self::locked(path, file, 0).inspect_err(|_| drop(fs::remove_file(path)))
        });
        created.map_err(|error| cannot_create(flag, path, &error))
    }

    /// Opens a file that had `read` bytes when it was read, to append after the first `whole` bytes. The rest is cut
    /// off.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, if another program holds its lock, or if its length changed since it was
    /// read.
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

    /// Appends whole lines and passes them to the kernel at once.
    ///
    /// # Errors
    /// Fails if the lines cannot be written completely. The file is then cut back to its previous length.
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

    /// Flushes appended lines to the disk, so that they survive a power failure.
    ///
    /// # Errors
    /// Fails if the disk cannot flush, or if the file was moved, removed or changed by another program.
    pub fn sync(&self) -> anyhow::Result<()> {
        let synced = self.file.sync_data();
        synced.with_context(|| format!("cannot sync {}", self.path.display()))?;
        self.check_place()
    }

    /// Replaces the content of the file in one step that survives a power failure.
    ///
    /// # Errors
    /// Fails if the bytes cannot be written, or if the file was moved, removed or changed by another program. The
    /// file is then unchanged.
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
        // The directory holds the new name, so it needs a sync of its own. Not every file system supports that; the
        // file is complete either way.
        let _ = File::open(self.directory()).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Creates the temporary file `NAME.part`. It is in the same directory, because rename(2) is atomic only within
    /// a file system. The name is fixed, so that killed runs leave one such file at most.
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
            let path = format!("{}.part", self.path.display());
            if error.kind() == io::ErrorKind::AlreadyExists {
                let fix = "a killed run left it; remove it and try again";
                UsageError::flag("--output", &path, fix).into()
            } else {
                anyhow!(error).context(format!("cannot write {path}"))
            }
        })
    }

    fn directory(&self) -> &Path {
        let parent = self.path.parent();
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }

    fn check_place(&self) -> anyhow::Result<()> {
        let path = escape::name(&self.path);
        ensure!(
            self.is_in_place(),
            "{path}: another program moved, removed or changed it meanwhile"
        );
        Ok(())
    }

    /// Returns whether the file is still at its path and has the length that was written to it.
    pub fn is_in_place(&self) -> bool {
        let ours = self.file.metadata();
        ours.is_ok_and(|ours| ours.len() == self.whole && is_in_place(&self.path, &ours))
    }

    /// Removes the file, if possible.
    pub fn remove(self) {
        let _ = fs::remove_file(self.path);
    }
}

/// Returns the error for an output file that exists already or cannot be created.
pub fn cannot_create(flag: &'static str, path: &Path, error: &io::Error) -> UsageError {
    let problem = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "it exists and is not overwritten; choose another name".to_owned()
        }
        _ => format!(
            "cannot create it: {error}; name a file in a directory that exists and that you may write to"
        ),
    };
    UsageError::flag(flag, &path.display(), problem)
}

/// Creates a file at a path where none exists.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Append mode, because if another program truncates the file, it then stays shorter than the bytes written, and no
    // hole of zeros hides the loss.
    options.read(true).append(true).create_new(true).open(path)
}

/// Returns whether the file at `path` is still the one that `ours` describes.
fn is_in_place(path: &Path, ours: &Metadata) -> bool {
    let is_ours = |found: Metadata| {
        let is_same = (found.dev(), found.ino()) == (ours.dev(), ours.ino());
        // Some file systems (FUSE) give a file a new inode number from time to time.
        is_same || (found.is_file() && found.len() == ours.len())
    };
    fs::metadata(path).is_ok_and(is_ours)
}

fn written(mut part: NamedTempFile, bytes: &[u8]) -> io::Result<NamedTempFile> {
    part.write_all(bytes)?;
    part.as_file().sync_all()?;
    Ok(part)
}

/// Locks the file for as long as it is open, so that no second program resumes the same sweep. `None`: the file
/// system has no locks; the file is then used without one.
fn lock(file: &File) -> io::Result<Option<Flock<File>>> {
    match Flock::lock(file.try_clone()?, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Err(io::Error::other("another udpbench is writing to it")),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
