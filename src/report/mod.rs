//! The report: results as one HTML page. The page is self-contained: it needs no network and no scripts.
//!
//! | part | contents |
//! |---|---|
//! | `page`, `title` | the frame of the page, its sections and their order, its title |
//! | `files` | what was measured where, when and how |
//! | `summary` | the answer, its reach, the quality of the numbers, from [`crate::verdict::rank`] |
//! | `comparison` | differences between files, from [`crate::verdict::compare`] |
//! | `changes` | charts of changes with their verdicts |
//! | `latency` | round trips by engine and load |
//! | `dots`, `panels` | throughput and CPU time, with losses, and the rows of each chart |
//! | `troubles` | cases that were not measured, and warnings |
//! | `logs` | the section of each log other than a sweep: `searches` for a search, `sides` for an A/B comparison, `soaks` for a soak, `listened` for a listener |
//! | `chart`, `table` | charts, with classes that the page's style colours, and tables |
//! | `cases`, `engines`, `number` | names of cases, the order of engines and their colours, numbers |
//!
//! Equal results make equal pages, byte for byte.
#![cfg(feature = "report")]

mod cases;
mod changes;
mod chart;
mod comparison;
mod dots;
mod engines;
mod files;
mod latency;
mod listened;
mod logs;
mod number;
mod page;
mod panels;
mod searches;
mod sides;
mod soaks;
mod summary;
mod table;
mod title;
mod troubles;

pub use self::page::{MARK, page};

#[cfg(test)]
mod tests;
