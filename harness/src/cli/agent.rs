//! The options of `agent`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use crate::duration;

/// The options of `agent`.
#[derive(Args, Debug)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
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
    /// With --listen: send no faster than so many bits per second (100M, 1G), headers of IP and UDP among them; a
    /// trial that does is ended within 100 ms [default: as fast as the host can]
    #[arg(long, value_name = "BITS", value_parser = amount, requires = "listen")]
    pub max_rate: Option<u64>,
    /// With --listen: send no more than so many bytes in the session (10G) [default: any number]
    #[arg(long, value_name = "BYTES", value_parser = amount, requires = "listen")]
    pub max_bytes: Option<u64>,
    /// With --listen: end the session after this time [default: 1day]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "listen")]
    pub max_time: Option<Duration>,
    /// Make a key in a new file, and say what to do with it
    #[arg(long, value_name = "FILE")]
    pub new_key: Option<PathBuf>,
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

/// A way in each line: in one, they are wider than narrow terminals.
const USAGE: &str = "\
udpbench agent --stdio
       udpbench agent --listen ADDRESS:PORT --key FILE
       udpbench agent --new-key FILE";

const AFTER_HELP: &str = "\
Examples:
  udpbench agent --new-key bench.key                      a key, once; copy it to the other end
  udpbench agent --listen 192.0.2.7:7007 --key bench.key  there: one session, then it ends";

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let fix =
        "name an address of this host and a port, such as 192.0.2.7:7007 or [2001:db8::7]:7007";
    text.parse().map_err(|_| fix)
}

/// A number of bits or bytes, in thousands of thousands as links are sold.
fn amount(text: &str) -> Result<u64, String> {
    let units = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let of_unit = |(unit, times)| Some((text.strip_suffix(unit)?, times));
    let (number, times) = units.into_iter().find_map(of_unit).unwrap_or((text, 1));
    let amount = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(times));
    amount.filter(|&amount| amount > 0).ok_or_else(|| {
        format!("{text:?} is no number above 0, with k, M or G for thousands: write 100M or 1G")
    })
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_are_in_units_of_links() {
        for (text, expected) in [
            ("1", 1),
            ("64k", 64_000),
            ("100M", 100_000_000),
            ("10G", 10_000_000_000),
        ] {
            assert_eq!(amount(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "0",
            "k",
            "-1M",
            "1.5G",
            "99999999999999999999",
            "99999999999G",
            "1T",
        ] {
            assert!(amount(text).is_err(), "{text}");
        }
    }
}
