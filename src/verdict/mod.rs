//! Judges results: which engine is best, whether a change is real, and how far the numbers of a run can be believed.

pub mod compare;
pub mod judge;
pub mod quality;
pub mod rank;
