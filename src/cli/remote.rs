//! Another host, and how it is reached.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Another host, and how it is reached.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Path")]
pub struct RemoteArgs {
    /// Measures on another host; the results are written on this one
    ///
    /// A host as ssh knows it, or as --rsh names it
    #[arg(long, value_name = "[USER@]HOST", value_parser = host, value_hint = ValueHint::Hostname)]
    pub on: Option<String>,

    /// Command that runs a command on the other host
    ///
    /// With its options, as a shell takes it: 'ssh -p 2222', 'docker exec -i'. HOST follows it, or stands where {}
    /// is: 'kubectl exec -i {} --'
    #[arg(long, value_name = "COMMAND", default_value = "ssh", env = "UDPBENCH_RSH", hide_env_values = true, value_parser = command, value_hint = ValueHint::CommandString)]
    pub rsh: String,

    /// Path of udpbench on the other host
    ///
    /// Without it, the one on its PATH, else what --deploy copied there, else ~/udpbench. The same version comes first
    #[arg(long, value_name = "PATH", value_hint = ValueHint::Other)]
    pub agent: Option<String>,

    /// Copies udpbench to the other host first
    ///
    /// It copies nothing if that host has the same one. The copy is a build for the CPUs of that host below target/,
    /// or this program
    #[arg(long, conflicts_with = "agent")]
    pub deploy: bool,

    /// With --deploy: the file that is copied
    #[arg(long, value_name = "FILE", requires = "deploy", value_hint = ValueHint::FilePath)]
    pub binary: Option<PathBuf>,

    /// Counts why both kernels drop packets (root)
    ///
    /// From the tracepoint skb:kfree_skb. It takes CPU time for each drop
    #[arg(long)]
    pub drop_reasons: bool,

    /// Host of `wire`: each trial has one end there.
    #[arg(skip)]
    pub wire: Option<String>,
}

/// Refuses what ssh and others would take for an option of theirs.
pub(super) fn host(text: &str) -> Result<String, &'static str> {
    if text.is_empty() || text.starts_with('-') {
        return Err(
            "name a host: it begins with a letter or a digit, as options go into --rsh 'ssh -p 2222'",
        );
    }
    Ok(text.to_owned())
}

fn command(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("name what runs a command on the other host, such as ssh, or leave it out");
    }
    Ok(text.to_owned())
}
