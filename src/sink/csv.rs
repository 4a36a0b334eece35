//! CSV (RFC 4180): a header, then one row per case. It opens in a spreadsheet as numbers.

use super::lines::Lines;
use crate::record::Record;

/// The header and the rows. Without a row there is no header either.
///
/// # Errors
/// None that is known: all that a row holds has a shape in CSV.
pub fn shape(rows: &[Record]) -> anyhow::Result<Vec<u8>> {
    write(&csv::WriterBuilder::new(), rows)
}

/// Appends rows to a CSV file.
#[derive(Debug)]
pub struct CsvSink {
    lines: Lines,
    begun: bool,
}

impl CsvSink {
    /// The rows go to `lines`.
    pub fn new(lines: Lines) -> Self {
        Self {
            lines,
            begun: false,
        }
    }

    /// Appends rows, after the header if they are the first, and makes them safe.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn rows(&mut self, rows: &[Record]) -> anyhow::Result<()> {
        let mut form = csv::WriterBuilder::new();
        form.has_headers(!self.begun);
        self.lines.append(&write(&form, rows)?)?;
        self.begun |= !rows.is_empty();
        self.lines.sync()
    }

    /// Takes the file away again, if it is one.
    ///
    /// # Errors
    /// What the system said.
    pub fn remove(self) -> std::io::Result<()> {
        self.lines.remove()
    }

    /// See [`Lines::put_in_place`].
    ///
    /// # Errors
    /// As there.
    pub fn put_in_place(&mut self) -> anyhow::Result<()> {
        self.lines.put_in_place()
    }
}

fn write(form: &csv::WriterBuilder, rows: &[Record]) -> anyhow::Result<Vec<u8>> {
    let mut writer = form.from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(writer.into_inner()?)
}
