//! Results from a file: the rows of a CSV, or of raw samples, which are reckoned again.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::error::UsageError;
use crate::host::Host;
use crate::raw::{Line, Log};
use crate::reckoning;
use crate::record::Record;
use crate::sample::Sample;

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Results {
    /// The file, as it was named.
    pub name: String,
    /// One per case, in the order of the file.
    pub rows: Vec<Record>,
    /// Every window, in the order in which they were measured. Empty: the file has only rows.
    pub windows: Vec<Sample>,
    /// The machine. `None`: the file has only rows.
    pub host: Option<Host>,
}

impl Results {
    /// Reads a file of either kind; the first byte tells which.
    ///
    /// # Errors
    /// When it cannot be read, holds no rows, or something in it is not what it should be: the file, the
    /// line, and what is wrong.
    pub fn open(path: &Path) -> Result<Self, UsageError> {
        let name = path.display().to_string();
        let refused = |error: &io::Error| UsageError::file(&name, 0, &error.to_string());
        let file = File::open(path).map_err(|error| refused(&error))?;
        let mut file = BufReader::new(file);
        let first = file.fill_buf().map_err(|error| refused(&error))?.first();
        if first == Some(&b'{') {
            return Self::from_raw(&Log::open(path)?);
        }
        Self::from_csv(&name, file)
    }

    /// Reckons the rows of raw samples.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_raw(log: &Log) -> Result<Self, UsageError> {
        let (reckoning, mut rows) = reckoning::replay(log)?;
        rows.extend(reckoning.unfinished());
        let window = |line: &Line| match line {
            Line::Window(sample) => Some(Sample::clone(sample)),
            _ => None,
        };
        Ok(Self {
            name: log.name.clone(),
            rows,
            windows: log.lines.iter().filter_map(window).collect(),
            host: Some(log.header.host.clone()),
        })
    }

    /// Reads the rows of a CSV file.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_csv(name: &str, text: impl io::Read) -> Result<Self, UsageError> {
        let mut reader = csv::Reader::from_reader(text);
        // Without it, whatever the first line holds would pass for a header with no rows below it.
        let is_ours = |header: &csv::StringRecord| header.iter().any(|column| column == "case");
        if !reader.headers().is_ok_and(is_ours) {
            return Err(UsageError::file(name, 1, NO_RESULTS));
        }
        let rows = reader.deserialize().collect::<Result<Vec<Record>, _>>();
        let rows = rows.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            let problem = match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
                _ => error.to_string(),
            };
            UsageError::file(name, usize::try_from(line).unwrap_or(0), &problem)
        })?;
        Ok(Self {
            name: name.to_owned(),
            rows,
            windows: Vec::new(),
            host: None,
        })
    }
}

const NO_RESULTS: &str = "these are no results of udpbench: the first line names no column `case`";
