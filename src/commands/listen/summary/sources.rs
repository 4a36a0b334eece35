//! The table of sources.

use super::super::names::{address, interface};
use super::super::totals::Outcome;
use crate::commands::width;
use crate::data::listened::Source;
use crate::data::sequence::SequenceCounts;
use crate::results::export::table::number;
use crate::term::table::Columns;
use crate::text::digits::counted;

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
    let has_interfaces = shown
        .iter()
        .any(|source| source.interface != shown[0].interface);
    if has_interfaces {
        columns = columns.word("interface", interface);
    }
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
            .number("lost", |it| {
                numbers(it, |counts| counts.missing.to_string())
            })
            .number("late", |it| numbers(it, |counts| counts.late.to_string()))
            .number("twice", |it| {
                numbers(it, |counts| counts.duplicates.to_string())
            });
    }
    let mut table = columns.table(&shown);
    if more > 0 {
        table.text(format!("and {more} others"));
    }
    if sources.others() > 0 {
        table.text(format!(
            "and {} of others, not looked at further",
            counted(sources.others(), "datagram")
        ));
    }
    format!("\n{}", table.draw(width().into()))
}

/// Returns a cell of a source's counts.
fn numbers(source: &Source, cell: fn(&SequenceCounts) -> String) -> String {
    match source.series() {
        None => String::new(),
        Some(Ok(series)) => cell(&series.counts),
        Some(Err(_)) => "?".to_owned(),
    }
}
