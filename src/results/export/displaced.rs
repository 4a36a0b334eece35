//! Detection of output files that were moved, removed or changed, and rescue of the lines of a log.
//!
//! Writes to a file that was removed, or whose directory was, succeed without an error. The data is gone when the
//! file is closed (unlink(2)).

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::term::escape;

/// Creates a file at a path where none exists.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Readable, because its content may have to be saved elsewhere. Append mode, because if another program
    // truncates the file, it then stays shorter than the bytes written, and no hole of zeros hides the loss.
    options.read(true).append(true).create_new(true).open(path)
}

/// Returns whether the file at `path` is still the one that `ours` describes.
pub(super) fn is_in_place(path: &Path, ours: &Metadata) -> bool {
    let is_ours = |found: Metadata| {
        let is_same = (found.dev(), found.ino()) == (ours.dev(), ours.ino());
        // Some file systems (FUSE) give a file a new inode number from time to time.
        is_same || (found.is_file() && found.len() == ours.len())
    };
    fs::metadata(path).is_ok_and(is_ours)
}

/// Result of rescuing a log that was moved, removed or changed by another program.
#[derive(Debug)]
pub struct Displaced {
    /// Path at which the file was created.
    pub path: PathBuf,
    /// Path of the saved content, or the error of the last attempt to save it.
    pub saved: io::Result<PathBuf>,
}

impl Displaced {
    /// Writes the first `whole` bytes of the open file again: to its `path` if nothing is in the way, else next to it.
    pub(super) fn save(path: &Path, file: &File, whole: u64) -> Self {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".saved");
        let save = |place: PathBuf| copy(file, whole, &place).map(|()| place);
        Self {
            path: path.to_owned(),
            saved: save(path.to_owned()).or_else(|_| save(beside.into())),
        }
    }

    /// Returns the path at which the content can be read, if it was saved.
    pub fn is_now_at(&self) -> Option<&Path> {
        self.saved.as_deref().ok()
    }
}

impl fmt::Display for Displaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = escape::name(&self.path);
        match &self.saved {
            Ok(place) if *place == self.path => write!(f, "{path} was written again"),
            Ok(place) => write!(f, "the content of {path} is now in {}", escape::name(place)),
            Err(error) => write!(f, "the content of {path} is lost: cannot save it: {error}"),
        }
    }
}

/// Returns the error for a file that was moved, removed or changed by another program.
pub(super) fn displaced(path: &Path) -> anyhow::Error {
    let path = escape::name(path);
    anyhow::anyhow!("{path}: another program moved, removed or changed it meanwhile")
}

fn copy(mut file: &File, whole: u64, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut copy = new_file(path)?;
    let copied = file.seek(SeekFrom::Start(0));
    let copied = copied.and_then(|_| match io::copy(&mut file.take(whole), &mut copy)? {
        bytes if bytes == whole => copy.sync_all(),
        _ => Err(io::Error::other("another program cut it off")),
    });
    if copied.is_err() {
        let _ = fs::remove_file(path);
    }
    copied
}
