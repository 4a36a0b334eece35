//! `listen`: what was typed, nothing else.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use crate::data::sequence_field::{Numbered, SequenceField};
use crate::data::{Buffer, HostAddress, InterfaceName};
use crate::text::duration;
use crate::text::number::within;

/// The options of `listen`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("../help/listen.txt").trim_end())]
pub struct ListenArgs {
    /// Port to listen on, and the address of this host or the group that datagrams are sent to
    #[arg(value_name = "[ADDRESS:]PORT")]
    pub address: ListenAddress,

    /// Only sender of the group whose datagrams are wanted (SSM)
    #[arg(long, help_heading = "What", value_name = "ADDRESS")]
    pub source: Option<IpAddr>,

    /// Interface of the group or of a link-local address [default: by the routes]
    #[arg(long, help_heading = "What", value_name = "NAME")]
    pub interface: Option<InterfaceName>,

    /// Place of a sequence number, in bytes: OFFSET:BYTES, or OFFSET:BYTES:le
    ///
    /// BYTES is 1, 2, 3, 4 or 8. Numbers are big-endian without :le
    #[arg(
        long,
        help_heading = "What",
        value_name = "PLACE",
        conflicts_with = "rtp"
    )]
    pub sequence: Option<SequenceField>,

    /// Reads the sequence numbers of RTP, for each of its streams
    #[arg(long, help_heading = "What")]
    pub rtp: bool,

    /// Receive buffer in bytes [default: net.core.rmem_default, as most programs have]
    #[arg(
        long,
        help_heading = "Sockets",
        value_name = "BYTES",
        allow_negative_numbers = true
    )]
    pub rcvbuf: Option<Buffer>,

    /// Shortest time without a datagram that is listed with its moment, and that parts bursts
    #[arg(long, help_heading = "Measuring", value_name = "TIME", value_parser = duration::parse)]
    pub gap: Option<Duration>,

    /// Number of lines [default: until Ctrl-C]
    #[arg(long, help_heading = "Measuring", value_name = "N", value_parser = within(1_u32..=u32::MAX), allow_negative_numbers = true)]
    pub count: Option<u32>,

    /// Time to listen [default: until Ctrl-C]
    #[arg(long = "for", help_heading = "Measuring", value_name = "TIME", conflicts_with = "count", value_parser = duration::parse)]
    pub length: Option<Duration>,

    /// Time of each line
    #[arg(long, help_heading = "Measuring", value_name = "TIME", default_value = "1s", value_parser = duration::parse)]
    pub window: Duration,

    /// A new log (FILE.jsonl, for report and summarize), or a CSV with a row per line (FILE.csv)
    #[arg(short, long, help_heading = "Output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Format of the summary: table, json
    ///
    /// With json, standard output has the summary alone
    #[arg(
        long,
        help_heading = "Output",
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        default_value_t
    )]
    pub format: ListenShape,
}

/// Form of the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListenShape {
    /// Lines and a summary for people.
    #[default]
    Table,
    /// A JSON object.
    Json,
}

/// `PORT`, `ADDRESS:PORT`, `[ADDRESS]:PORT` or `[ADDRESS%INTERFACE]:PORT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    /// Address. `None`: all of this host.
    pub address: Option<HostAddress>,
    /// UDP port.
    pub port: u16,
}

impl ListenArgs {
    /// Returns how datagrams are numbered. `None`: not asked for.
    pub fn numbered(&self) -> Option<Numbered> {
        let rtp = self.rtp.then_some(Numbered::Rtp);
        self.sequence.map(Numbered::Field).or(rtp)
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fix =
            "write PORT, ADDRESS:PORT, or [ADDRESS]:PORT for IPv6, with a port from 1 to 65535";
        let (address, port) = match text.rsplit_once(':') {
            Some((address, port)) => (Some(address), port),
            None => (None, text),
        };
        let port = port.parse().ok().filter(|port| *port > 0).ok_or(fix)?;
        let unwrapped = |text: &str| {
            let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            match inner {
                Some(inner) => Ok(inner.to_owned()),
                // Without brackets, the last part of an IPv6 address would be the port.
                None if text.contains(':') => Err(fix.to_owned()),
                None => Ok(text.to_owned()),
            }
        };
        let address = address.map(unwrapped).transpose()?;
        Ok(Self {
            address: address.map(|it| it.parse()).transpose()?,
            port,
        })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            None => write!(f, "{}", self.port),
            Some(address) if address.ip.is_ipv6() => write!(f, "[{address}]:{}", self.port),
            Some(address) => write!(f, "{address}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_it_is_typed() {
        for text in [
            "7502",
            "0.0.0.0:7502",
            "[::1]:7",
            "[fe80::1%lo]:65535",
            "239.1.1.1:1",
        ] {
            let parsed = text.parse::<ListenAddress>();
            assert_eq!(parsed.map(|it| it.to_string()), Ok(text.to_owned()));
        }
        let by_number = "ff02::7%1".parse::<HostAddress>();
        assert_eq!(
            by_number.map(|it| it.to_string()),
            Ok("ff02::7%lo".to_owned())
        );
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_fix() {
        for (text, problem) in [
            ("", "write PORT"),
            ("0", "write PORT"),
            ("70000", "write PORT"),
            ("::1:7", "write PORT"),
            ("lidar:7502", "is no IP address"),
            ("[10.0.0.1%lo]:7", "have an interface"),
            ("[2001:db8::1%lo]:7", "have an interface"),
        ] {
            let refused = text.parse::<ListenAddress>().expect_err(text);
            assert!(refused.contains(problem), "{text}: {refused}");
        }
    }
}
