//! The report: results as one HTML page. The page is self-contained: it needs no network and no scripts.
//!
//! | part | contents |
//! |---|---|
//! | `page` | the frame of the page, its title, its sections and their order |
//! | `summary` | the files; the answer, its reach, the quality of the numbers, from [`crate::verdict::rank`] |
//! | `changes` | differences between files and between A and B, with their verdicts |
//! | `latency` | round trips by engine and load |
//! | `dots` | throughput and CPU time, with losses |
//! | `logs` | the section of each log other than a sweep; `field` has those of a soak and a listener |
//! | `tables` | tables of the terminal; cases that were not measured, and warnings |
//! | `chart` | charts, with classes that the page's style colours |
//! | `labels` | names of cases, colours of engines, numbers |
//!
//! Equal results make equal pages, byte for byte.
#![cfg(feature = "report")]

mod changes;
mod chart;
mod dots;
#[cfg(feature = "field")]
mod field;
mod labels;
mod latency;
mod logs;
mod page;
mod summary;
mod tables;

pub use self::page::{MARK, page};

#[cfg(test)]
mod tests;
