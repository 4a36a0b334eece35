//! Judges results: which engine is best, whether a change is real, and how far the numbers of a run can be believed.
//!
//! `compare` matches two sets of sweeps; `judge` gives the verdicts, also for `ab` and `find tuning`.

pub mod compare;
pub mod judge;
pub mod quality;
pub mod rank;
