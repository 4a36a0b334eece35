//! The report: results as one page for a browser. A file of its own, without network and without scripts that
//! are needed to read it.
//!
//! | part | says |
//! |---|---|
//! | [`page`] | what is on it, in which order |
//! | `summary`, `figures` | what to use, how far the numbers can be believed, three of them |
//! | `board`, `fitness` | what was measured on, and what may mislead about the numbers |
//! | `ranking` | the places of all engines, as [`crate::verdict::rank`] has them |
//! | `comparison` | what differs between the files, as [`crate::verdict::compare`] has it |
//! | `changes` | tables and a picture of changes with their verdicts |
//! | `published` | what others have measured, beside the sweeps of a suite |
//! | `logs` | logs of what is no sweep, a section each: `searches` of `udpbench find`, comparisons of `udpbench ab` (`sides`) |
//! | `charts` | the three charts that are read first: `speed`, `cost` (both of `bars`) and `loss` |
//! | `latency`, `over_payload`, `drift`, `shares`, `reasons`, `tables` | a section each |
//! | `chart` | pictures: SVG and tables, with classes that the page's style colours |
//! | `panels`, `cases` | which rows go into one picture |
//! | `engines` | the order of engines, and their colours |
//!
//! The same results always make the same page, to the byte.
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
