//! The machine: what `/proc` and `/sys` say of it, its board's profile, whether it is fit to measure on, and which
//! CPU runs what.

pub mod board;
pub mod check;
pub mod facts;
pub mod knob;
pub mod placement;
