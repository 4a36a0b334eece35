//! The options of `agent`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;

/// The options of `agent`.
#[derive(Debug, Parser)]
pub struct AgentArgs {
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
    /// On a loopback of its own, which cuts trains
    #[arg(long, hide = true)]
    pub own_loopback: bool,
    /// Begun anew by an agent that has greeted already
    #[arg(long, hide = true)]
    pub again: bool,
}

impl AgentArgs {
    /// Parses a command line that is `udpbench agent` with its options. `None`: it is another one, or wrong. Each round
    /// starts an agent, and the whole command line takes ten times as long to build.
    pub fn parse(words: &[OsString]) -> Option<Self> {
        let (command, options) = words.get(1..)?.split_first()?;
        let is_agent = command == "agent";
        is_agent.then(|| Self::try_parse_from([command].into_iter().chain(options)).ok())?
    }
}
