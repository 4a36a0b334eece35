//! Results on disk: the log of raw samples, the rows computed from it, and the files that hold rows.

pub mod baselines;
pub mod command_line;
pub mod export;
pub mod files;
pub mod log;
pub mod replay;
pub mod row;
