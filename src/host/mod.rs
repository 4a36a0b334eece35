//! The machine: host facts from `/proc` and `/sys`, board profiles, checks whether the host is fit to measure on,
//! tunings, and the placement of threads on CPUs.

pub mod board;
pub mod check;
pub mod facts;
pub mod placement;
pub mod tuning;
