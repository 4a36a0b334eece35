//! CSV (RFC 4180): a header, then one row per case. It opens in a spreadsheet as numbers.

use super::lines::Lines;
use crate::record::Record;

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
        let mut writer = csv::WriterBuilder::new()
            .has_headers(!self.begun)
            .from_writer(Vec::new());
        for row in rows {
            writer.serialize(row)?;
        }
        self.lines.append(&writer.into_inner()?)?;
        self.begun |= !rows.is_empty();
        self.lines.sync()
    }

    /// See [`Lines::put_in_place`].
    ///
    /// # Errors
    /// As there.
    pub fn put_in_place(&mut self) -> anyhow::Result<()> {
        self.lines.put_in_place()
    }
}
