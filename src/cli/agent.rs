//! The options of `agent`.

use std::path::PathBuf;

use clap::Args;

/// The options of `agent`.
#[derive(Args, Debug)]
pub struct AgentArgs {
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
    /// Begun anew by an agent that has greeted already
    #[arg(long, hide = true)]
    pub again: bool,
}
