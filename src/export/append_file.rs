//! A file that only ever holds whole lines, whatever happens to the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::place::{self, Displaced};
use super::{place::new_file, to_stdout};

/// Where finished lines go.
#[derive(Debug)]
pub enum Lines {
    /// A file of our own.
    File(LineFile),
    /// Standard output.
    Stdout,
}

impl Lines {
    /// Appends whole lines and hands them to the kernel at once.
    ///
    /// # Errors
    /// When they could not be written whole; a file then ends where it ended before.
    pub fn append(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.append(lines),
            Self::Stdout => to_stdout(lines),
        }
    }

    /// Lets a file that [`LineFile::replace`] began take its place.
    ///
    /// # Errors
    /// When it cannot; the file that it was to replace is as it was.
    pub fn put_in_place(&mut self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.put_in_place(),
            Self::Stdout => Ok(()),
        }
    }

    /// Takes the file away again, if it is one.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn remove(self) -> io::Result<()> {
        match self {
            Self::File(file) => file.remove(),
            Self::Stdout => Ok(()),
        }
    }

    /// Saves what the file holds elsewhere if it is not where it was made any more.
    pub fn rescue(&self) -> Option<Displaced> {
        match self {
            Self::File(file) => file.rescue(),
            Self::Stdout => None,
        }
    }

    /// Asks the disk itself to keep what was appended, against a power cut.
    ///
    /// # Errors
    /// When the disk cannot, or the file is not where it was made any more.
    pub fn sync(&self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.sync(),
            Self::Stdout => Ok(()),
        }
    }
}

/// A file that is created, appended to, and cut back to its last whole line when an append fails.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    path: PathBuf,
    whole: u64,
    /// The file whose place this one is to take.
    replaces: Option<PathBuf>,
    _lock: Option<Flock<File>>,
}

impl LineFile {
    /// Creates the file.
    ///
    /// # Errors
    /// When it exists already, or cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = new_file(path)?;
        // What cannot be used is not left behind.
        let lock = lock(&file).inspect_err(|_| drop(std::fs::remove_file(path)))?;
        Ok(Self {
            _lock: lock,
            file,
            path: path.to_owned(),
            whole: 0,
            replaces: None,
        })
    }

    /// Opens a file that was read when it had so many bytes, to go on after the first `whole` of them; what comes
    /// after those is cut off.
    ///
    /// # Errors
    /// When it cannot be opened, or another program writes to it, or did so since it was read.
    pub fn resume(path: &Path, read: u64, whole: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let lock = lock(&file)?;
        if file.metadata()?.len() != read {
            return Err(io::Error::other(
                "another udpbench wrote to it meanwhile; try again",
            ));
        }
        file.set_len(whole)?;
        Ok(Self {
            _lock: lock,
            file,
            path: path.to_owned(),
            whole,
            replaces: None,
        })
    }

    /// Begins a file beside the one at `path`, to take its place once it is put there:
    /// [`Lines::put_in_place`].
    ///
    /// # Errors
    /// When it cannot be created, or is there already.
    pub fn replace(path: &Path) -> io::Result<Self> {
        let mut file = Self::create(&Self::part(path))?;
        file.replaces = Some(path.to_owned());
        Ok(file)
    }

    /// Where the file lies that is to take the place of the one at `path`.
    pub fn part(path: &Path) -> PathBuf {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        path.with_file_name(name)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the file away again.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    fn put_in_place(&mut self) -> anyhow::Result<()> {
        if let Some(place) = self.replaces.take() {
            let renamed = std::fs::rename(&self.path, &place);
            renamed.with_context(|| format!("cannot replace {}", place.display()))?;
            self.path = place;
        }
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        match self.file.write_all(lines) {
            Ok(()) => {
                self.whole += lines.len() as u64;
                Ok(())
            }
            Err(error) => {
                let cut = self.cut_back();
                let shown = self.path.display();
                let error = anyhow!(error).context(match cut {
                    Ok(()) => format!("cannot write to {shown}; its earlier lines are complete"),
                    Err(_) => format!("cannot write to {shown}; its last line is cut off"),
                });
                Err(error)
            }
        }
    }

    fn cut_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)
    }

    fn sync(&self) -> anyhow::Result<()> {
        let synced = self.file.sync_data();
        synced.with_context(|| format!("cannot sync {}", self.path.display()))?;
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

    fn rescue(&self) -> Option<Displaced> {
        if self.is_in_place() {
            return None;
        }
        let displaced = Displaced::save(&self.path, |copy| {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(0))?;
            match io::copy(&mut file.take(self.whole), copy)? {
                copied if copied == self.whole => Ok(()),
                _ => Err(io::Error::other("another program cut it off")),
            }
        });
        Some(displaced)
    }
}

impl Drop for LineFile {
    /// A file that never took its place is of no use.
    fn drop(&mut self) {
        if self.replaces.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
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
mod tests {
    use super::*;

    #[test]
    fn what_was_written_since_a_file_was_read_is_not_cut_off() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("run.jsonl");
        std::fs::write(&path, "read\ntorn, and then went on\n").expect("there is space");
        let read = "read\ntorn".len() as u64;
        let refused = LineFile::resume(&path, read, 5).expect_err("it has grown");
        assert!(refused.to_string().contains("meanwhile"), "{refused}");
        let length = std::fs::metadata(&path).expect("it is there").len();
        LineFile::resume(&path, length, 5).expect("it is not locked");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"read\n");
    }
}
