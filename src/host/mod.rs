//! The machine: host facts from `/proc` and `/sys`, board profiles, checks whether the host is fit to measure on,
//! captures, tunings, the bound of the clock's error, the placement of threads on CPUs, and other programs with sockets.

pub mod board;
pub mod capture;
pub mod check;
pub mod clock;
pub mod facts;
pub mod placement;
pub mod program;
pub mod tuning;
