//! The options of `agent`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// The options of `agent`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
#[command(group = ArgGroup::new("way").required(true).args(["stdio", "listen", "new_key"]))]
pub struct AgentArgs {
    /// Messages come on standard input, answers go to standard output
    #[arg(long)]
    pub stdio: bool,
    /// Wait at this address of this host for one who has the key, serve that one session, and end
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address, requires = "key")]
    pub listen: Option<SocketAddr>,
    /// The file of the key, the same at both ends; --new-key makes one
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub key: Option<PathBuf>,
    /// Only this host may connect
    #[arg(long, value_name = "ADDRESS", requires = "listen")]
    pub from: Option<IpAddr>,
    /// Let --listen name 0.0.0.0 or [::], all addresses of this host
    #[arg(long, requires = "listen")]
    pub any_address: bool,
    /// Make a key in a new file, and say what to do with it
    #[arg(long, value_name = "FILE")]
    pub new_key: Option<PathBuf>,
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  udpbench agent --new-key bench.key                            a key, once; copy it to the other end
  udpbench agent --listen 192.0.2.7:7007 --key bench.key        there: one session, then it ends
  udpbench agent --listen [2001:db8::7]:7007 --key bench.key --from 2001:db8::1  for that host only";

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let fix =
        "name an address of this host and a port, such as 192.0.2.7:7007 or [2001:db8::7]:7007";
    text.parse().map_err(|_| fix)
}
