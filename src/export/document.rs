//! The results of a run in progress, in a format that has to be written whole.

use std::io;
use std::path::Path;

use super::atomic_file::WholeFile;
use super::place::Displaced;
use super::{Format, is_stdout, to_stdout};
use crate::row::Row;

/// All rows so far, in a file that is complete after every block; or on standard output, at the end.
#[derive(Debug)]
pub struct Document {
    format: Format,
    file: Option<WholeFile>,
    rows: Vec<Row>,
}

impl Document {
    /// Takes the file's name, and leaves a document without rows there. `-` is standard output.
    ///
    /// # Errors
    /// When there is such a file already, or it cannot be written.
    pub fn create(format: Format, output: &Path) -> anyhow::Result<Self> {
        let to_file = !is_stdout(output);
        let file = to_file.then(|| WholeFile::create(output)).transpose()?;
        let mut document = Self {
            format,
            file,
            rows: Vec::new(),
        };
        if let Err(error) = document.rows(&[]) {
            // Nothing was measured: leave no empty file behind.
            let _ = document.remove();
            return Err(error);
        }
        Ok(document)
    }

    /// Keeps more rows, and makes all of them safe.
    ///
    /// # Errors
    /// When the file cannot be written; it then has the rows that it had.
    pub fn rows(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        self.rows.extend_from_slice(rows);
        match &mut self.file {
            Some(file) => file.replace(&self.format.shape(&self.rows)?),
            None => Ok(()),
        }
    }

    /// Writes to standard output, if that is where it goes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&self) -> anyhow::Result<()> {
        if self.file.is_none() {
            to_stdout(&self.format.shape(&self.rows)?)?;
        }
        Ok(())
    }

    /// Saves the rows elsewhere if the file is not where it was put any more.
    pub fn rescue(&self) -> Option<Displaced> {
        let bytes = self.format.shape(&self.rows).ok()?;
        self.file.as_ref()?.rescue(&bytes)
    }

    /// Takes the file away again.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn remove(self) -> io::Result<()> {
        self.file.map_or(Ok(()), WholeFile::remove)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::export::json;
    use crate::row::tests::ordinary_row;

    #[test]
    fn the_file_is_whole_after_every_block() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        let on_disk = || json::read(&fs::read(&path).expect("it is there")).expect("it is whole");
        let mut document = Document::create(Format::Json, &path).expect("the name is free");
        assert_eq!(on_disk().len(), 0);
        document
            .rows(&[ordinary_row(), ordinary_row()])
            .expect("there is space");
        assert_eq!(on_disk().len(), 2);
        document.rows(&[ordinary_row()]).expect("there is space");
        document.finish().expect("there is nothing left to write");
        assert_eq!(on_disk(), [ordinary_row(), ordinary_row(), ordinary_row()]);
    }

    #[test]
    fn what_cannot_be_begun_leaves_nothing() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        fs::write(place.path().join(".a.json.part"), "somebody's").expect("there is space");
        Document::create(Format::Json, &path).expect_err("something is in the way");
        assert!(!path.exists());
    }
}
