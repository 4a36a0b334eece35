//! The report: results as one page for a browser. A file of its own, without network and without scripts that
//! are needed to read it.
//!
//! | part | says |
//! |---|---|
//! | [`page`] | what is on it, in which order |
//! | `board`, `fitness` | what was measured on, and whether the numbers can be believed |
//! | `ranking` | what to use, as [`crate::rank`] has it |
//! | `comparison` | what differs between the files, as [`crate::compare`] has it |
//! | `published` | what others have measured, beside the sweeps of a suite |
//! | `latency`, `speed`, `cost`, `drift`, `shares`, `reasons`, `tables` | a section each |
//! | `chart` | pictures: SVG, with classes that the page's style colours |
//! | `cases` | which rows go into one picture |
//!
//! The same results always make the same page, to the byte.
#![cfg(feature = "report")]

mod board;
mod cases;
mod chart;
mod comparison;
mod cost;
mod drift;
mod fitness;
mod latency;
mod number;
mod page;
mod published;
mod ranking;
mod reasons;
mod shares;
mod speed;
mod tables;

pub use self::page::{MARK, page, suite_page};

#[cfg(test)]
mod tests;
