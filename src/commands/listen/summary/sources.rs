//! The table of sources.

use std::net::{IpAddr, SocketAddr};

use super::super::totals::Outcome;
use super::of;
use crate::commands::width;
use crate::data::listened::Source;
use crate::results::export::table::number;
use crate::term::table::Columns;

/// Sources that are shown.
const SHOWN: usize = 20;

/// Returns the table of sources, those with the most datagrams first.
pub(super) fn table(outcome: &Outcome) -> String {
    let sources = &outcome.end.listened.sources;
    let mut shown: Vec<Source> = sources.known().to_vec();
    shown.sort_by_key(|source| std::cmp::Reverse(source.datagrams));
    let more = shown.len().saturating_sub(SHOWN);
    shown.truncate(SHOWN);
    let has_streams = shown.iter().any(|source| source.stream != 0);
    let mut columns = Columns::<Source>::default().word("source", |it| address(it.address));
    if has_streams {
        columns = columns.word("stream", |it| format!("{:08x}", it.stream));
    }
    columns = columns
        .number("datagrams", |it| it.datagrams.to_string())
        .number("bytes", |it| it.bytes.to_string())
        .number("max gap ms", |it| {
            it.longest_gap
                .map_or_else(String::new, |gap| number(Some(gap.ns as f64 / 1e6), 3))
        });
    if outcome.end.listened.is_numbered() {
        columns = columns
            .number("lost", |it| it.sequence.missing.to_string())
            .number("late", |it| it.sequence.late.to_string())
            .number("twice", |it| it.sequence.duplicates.to_string());
    }
    let mut table = columns.table(&shown);
    if more > 0 {
        table.text(format!("and {more} others"));
    }
    if sources.others() > 0 {
        table.text(format!(
            "and {} of others, not looked at further",
            of("datagram", sources.others())
        ));
    }
    format!("\n{}", table.draw(width().into()))
}

/// Formats an address. One of IPv4 looks the same at a socket of both IP versions.
fn address(source: Option<SocketAddr>) -> String {
    match source {
        None => "unknown".to_owned(),
        Some(SocketAddr::V6(v6)) => match v6.ip().to_canonical() {
            IpAddr::V4(v4) => format!("{v4}:{}", v6.port()),
            IpAddr::V6(_) => v6.to_string(),
        },
        Some(v4) => v4.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv4_is_shown_as_one() {
        let shown = |text: &str| address(text.parse().ok());
        assert_eq!(shown("[::ffff:10.0.0.7]:2368"), "10.0.0.7:2368");
        assert_eq!(shown("[fe80::1%3]:7"), "[fe80::1%3]:7");
        assert_eq!(address(None), "unknown");
    }
}
