//! Output of the rows of a run. CSV and JSON Lines are appended to; any other format is written anew after each
//! block.

use std::path::Path;

use anyhow::bail;

use super::selection::Selection;
use super::{Conclude, Conclusion, Format, is_stdout};
use crate::log::output_file::OutputFile;
use crate::results::row::Row;
use crate::term::output::to_stdout;

/// Output of the rows so far. A file is complete after every block. On standard output, CSV and JSON Lines come
/// block by block, any other format at the end.
pub struct RowFile {
    format: Format,
    selection: Selection,
    file: Option<OutputFile>,
    /// Rows so far.
    rows: Vec<Row>,
    /// Bytes that were appended for them.
    appended: usize,
    conclude: Conclude,
}

impl RowFile {
    /// Creates the file, with no rows yet. `-` is standard output.
    ///
    /// # Errors
    /// Fails if the file exists already or cannot be written.
    pub fn create(
        format: Format,
        selection: Selection,
        output: &Path,
        conclude: Conclude,
    ) -> anyhow::Result<Self> {
        let to_file = !is_stdout(output);
        let create = || OutputFile::create("--output", output);
        let mut created = Self {
            format,
            selection,
            file: to_file.then(create).transpose()?,
            rows: Vec::new(),
            appended: 0,
            conclude,
        };
        if let Err(error) = created.rows(&[]) {
            // Nothing was measured yet, so leave no empty file behind.
            created.remove();
            return Err(error);
        }
        Ok(created)
    }

    /// Replaces the content of a CSV file by these rows, to append further rows after them.
    ///
    /// # Errors
    /// Fails if the rows cannot be written. The file is then unchanged.
    pub fn resume_csv(
        format: Format,
        mut file: OutputFile,
        selection: Selection,
        rows: &[Row],
    ) -> anyhow::Result<Self> {
        // CSV has no place for a conclusion.
        let conclude = Box::new(|_: &[Row]| Conclusion::default());
        let bytes = format.encode(rows, &selection, &conclude)?;
        file.replace(&bytes)?;
        Ok(Self {
            format,
            selection,
            file: Some(file),
            rows: rows.to_vec(),
            appended: bytes.len(),
            conclude,
        })
    }

    /// Adds rows and flushes them to the disk.
    ///
    /// # Errors
    /// Fails if the rows cannot be written. The file then keeps its previous rows.
    pub fn rows(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        self.rows.extend_from_slice(rows);
        let bytes = self.encoded()?;
        match &mut self.file {
            Some(file) if !self.format.grows() => return file.replace(&bytes),
            None if !self.format.grows() => return Ok(()),
            Some(file) => {
                file.append(&bytes[self.appended..])?;
                file.sync()?;
            }
            None => to_stdout(&bytes[self.appended..])?,
        }
        self.appended = bytes.len();
        Ok(())
    }

    fn encoded(&self) -> anyhow::Result<Vec<u8>> {
        let (rows, selection) = (&self.rows, &self.selection);
        self.format.encode(rows, selection, &self.conclude)
    }

    /// Writes the rows to standard output if their format was kept for the end.
    ///
    /// # Errors
    /// Fails if the rows cannot be written, or if their file was moved, removed or changed by another program. It is
    /// not written again, since the rows come from the log.
    pub fn finish(&self) -> anyhow::Result<()> {
        match &self.file {
            Some(file) if file.is_in_place() => Ok(()),
            Some(_) => bail!("the rows are not where they were written; the log has all of them"),
            None if self.format.grows() => Ok(()),
            None => to_stdout(&self.encoded()?),
        }
    }

    /// Removes the file.
    pub fn remove(self) {
        if let Some(file) = self.file {
            file.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;
    use crate::results::export::csv;
    use crate::results::export::json;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn a_document_is_whole_after_every_block() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        let on_disk = || -> Vec<Value> {
            let text = fs::read(&path).expect("it is there");
            let mut document: Value = serde_json::from_slice(&text).expect("it is whole");
            serde_json::from_value(document["rows"].take()).expect("rows")
        };
        let mut file = RowFile::create(
            Format::Json,
            Selection::all(),
            &path,
            Box::new(|_| Conclusion::default()),
        )
        .expect("the name is free");
        assert_eq!(on_disk().len(), 0);
        file.rows(&[ordinary_row(), ordinary_row()])
            .expect("there is space");
        assert_eq!(on_disk().len(), 2);
        file.rows(&[ordinary_row()]).expect("there is space");
        file.finish().expect("there is nothing left to write");
        let rows = [ordinary_row(), ordinary_row(), ordinary_row()];
        assert_eq!(on_disk(), json::objects(&rows).expect("JSON"));
    }

    #[test]
    fn csv_that_grows_is_csv_that_is_written_at_once() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.csv");
        let rows = [ordinary_row(), ordinary_row(), ordinary_row()];
        let mut file = RowFile::create(
            Format::Csv,
            Selection::all(),
            &path,
            Box::new(|_| Conclusion::default()),
        )
        .expect("the name is free");
        file.rows(&rows[..1]).expect("there is space");
        file.rows(&rows[1..]).expect("there is space");
        let whole = csv::encode(Format::Csv, &rows).expect("it can be encoded");
        assert_eq!(fs::read(&path).expect("it is there"), whole);
    }

    #[test]
    fn what_cannot_be_begun_leaves_nothing() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("a.json");
        fs::write(place.path().join("a.json.part"), "somebody's").expect("there is space");
        RowFile::create(
            Format::Json,
            Selection::all(),
            &path,
            Box::new(|_| Conclusion::default()),
        )
        .err()
        .expect("something is in the way");
        assert!(!path.exists());
    }
}
