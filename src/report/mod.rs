//! The report: results as one HTML page. The page is self-contained: it needs no network, and no scripts to be read.
//!
//! | part | contents |
//! |---|---|
//! | `page` | the sections of the page and their order |
//! | `summary`, `figures` | recommendation, quality of the numbers, three figures |
//! | `board`, `fitness` | the machine; accounting of datagrams and warnings |
//! | `ranking` | ranks of all engines, from [`crate::verdict::rank`] |
//! | `comparison` | differences between files, from [`crate::verdict::compare`] |
//! | `changes` | tables and a chart of changes with their verdicts |
//! | `published` | published results of others, next to the sweeps of a suite |
//! | `logs` | a section for each log other than a sweep: `searches` for a search, `sides` for an A/B comparison |
//! | `charts` | the three main charts: `speed`, `cost` (both of `bars`) and `loss` |
//! | `latency`, `over_payload`, `drift`, `shares`, `reasons`, `tables` | one section each |
//! | `chart` | charts: SVG and tables, with classes that the page's style colours |
//! | `panels`, `cases` | selection of the rows of each chart |
//! | `engines` | the order of engines, and their colours |
//!
//! Equal results make equal pages, byte for byte.
#![cfg(feature = "report")]

mod bars;
mod board;
mod cases;
mod changes;
mod chart;
mod charts;
mod comparison;
mod cost;
mod date;
mod drift;
mod engines;
mod figures;
mod fitness;
mod latency;
mod logs;
mod loss;
mod number;
mod over_payload;
mod page;
mod panels;
mod published;
mod ranking;
mod reasons;
mod searches;
mod shares;
mod sides;
mod speed;
mod summary;
mod tables;

pub use self::page::{MARK, page, suite_page};

#[cfg(test)]
mod tests;
