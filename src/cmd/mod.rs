//! One file per subcommand. Each returns the exit code.

pub mod boards;
pub mod engines;
pub mod plan;
pub mod run;
