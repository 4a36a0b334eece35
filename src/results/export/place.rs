//! Whether a file is still where it was made; and where what it held goes when it is not.
//!
//! A file that was removed, or whose folder was, takes what is written to it without an error until it is
//! closed, and then is gone (unlink(2)).

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::term::escape;

/// Makes a file where none is.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Read, too: what was written may have to be saved elsewhere. Append: where another program cuts the file off,
    // it stays shorter than what was written, and no hole of zeros hides that.
    options.read(true).append(true).create_new(true).open(path)
}

/// Whether the file at `path` is still the one that `ours` describes.
pub(super) fn is_in_place(path: &Path, ours: &Metadata) -> bool {
    let is_ours = |there: Metadata| {
        let is_same = (there.dev(), there.ino()) == (ours.dev(), ours.ino());
        // Some file systems (FUSE) number a file anew from time to time.
        is_same || (there.is_file() && there.len() == ours.len())
    };
    fs::metadata(path).is_ok_and(is_ours)
}

/// What became of a file that is not where it was made, or not as it was left.
#[derive(Debug)]
pub struct Displaced {
    /// Where it was made.
    pub path: PathBuf,
    /// Where the same bytes are now.
    pub saved: io::Result<PathBuf>,
}

impl Displaced {
    /// Writes once more what a file at `path` held: there, if nothing else is there now; or beside it, or in the
    /// directory for temporary files.
    pub(super) fn save(path: &Path, write: impl Fn(&mut File) -> io::Result<()>) -> Self {
        let name = path.file_name().unwrap_or_default();
        let mut beside = path.as_os_str().to_owned();
        beside.push(".saved");
        let mut elsewhere = std::ffi::OsString::from(format!("udpbench-{}-", std::process::id()));
        elsewhere.push(name);
        let places = [
            path.to_owned(),
            beside.into(),
            std::env::temp_dir().join(elsewhere),
        ];
        let mut saved = Err(io::ErrorKind::NotFound.into());
        for place in places {
            saved = write_anew(&place, &write).map(|()| place);
            if saved.is_ok() {
                break;
            }
        }
        Self {
            path: path.to_owned(),
            saved,
        }
    }

    /// Where a file is that can be read on.
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

/// The words for a file that is not where it was made.
pub(super) fn displaced(path: &Path) -> anyhow::Error {
    let path = escape::name(path);
    anyhow::anyhow!("{path}: another program moved, removed or changed it while the sweep ran")
}

fn write_anew(path: &Path, write: impl Fn(&mut File) -> io::Result<()>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = new_file(path)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}
