//! The report: results as one HTML page. The page is self-contained: it needs no network, and no scripts to be read.
//!
//! | part | contents |
//! |---|---|
//! | `page`, `details`, `title` | the frame of the page, its sections and their order, its title |
//! | `summary` | the answer, its reach, the quality of the numbers |
//! | `board`, `fitness` | the machine; accounting of datagrams and warnings |
//! | `ranking` | ranks of all engines, from [`crate::verdict::rank`] |
//! | `comparison` | differences between files, from [`crate::verdict::compare`] |
//! | `changes` | charts and tables of changes with their verdicts |
//! | `published` | published results of others, next to the sweeps of a suite |
//! | `logs` | a section for each log other than a sweep: `searches` for a search, `sides` for an A/B comparison, `soaks` for a soak, `listened` for a listener |
//! | `latency` | round trips by engine and load |
//! | `charts`, `dots` | throughput and CPU time, with losses |
//! | `drift`, `shares`, `reasons`, `tables` | one section each |
//! | `chart` | charts: SVG and tables, with classes that the page's style colours |
//! | `panels`, `cases` | selection of the rows of each chart |
//! | `engines` | the order of engines, and their colours |
//!
//! Equal results make equal pages, byte for byte.
#![cfg(feature = "report")]

mod board;
mod cases;
mod changes;
mod chart;
mod charts;
mod comparison;
mod date;
mod details;
mod dots;
mod drift;
mod engines;
mod fitness;
mod latency;
mod listened;
mod logs;
mod number;
mod page;
mod panels;
mod published;
mod ranking;
mod reasons;
mod searches;
mod shares;
mod sides;
mod soaks;
mod summary;
mod tables;
mod title;

pub use self::page::{MARK, Tables, page};

#[cfg(test)]
mod tests;
