//! A file that only ever holds whole lines, whatever happens to the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

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
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(lines)?;
                Ok(stdout.flush()?)
            }
        }
    }

    /// Asks the disk itself to keep what was appended, against a power cut.
    ///
    /// # Errors
    /// When the disk cannot.
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
}

impl LineFile {
    /// Creates the file.
    ///
    /// # Errors
    /// When it exists already, or cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            whole: 0,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the file away again.
    ///
    /// # Errors
    /// What the system said.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(self.path)
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
                    Ok(()) => format!("cannot write to {shown}; what it held is whole"),
                    Err(_) => format!("cannot write to {shown}; its last line is cut off"),
                });
                Err(error)
            }
        }
    }

    fn cut_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)?;
        self.file.seek(SeekFrom::Start(self.whole)).map(drop)
    }

    fn sync(&self) -> anyhow::Result<()> {
        let synced = self.file.sync_data();
        synced.with_context(|| format!("cannot sync {}", self.path.display()))
    }
}
