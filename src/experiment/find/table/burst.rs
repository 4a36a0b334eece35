//! Table of a search for trains.

use super::super::buffer_capacity::buffer_capacity;
use super::super::burst::{Burst, BurstQuestion};
use super::super::{Record, Search, Searched};
use super::{bounds_so_far, mark, or_dash, searched};
use crate::term::table::{Columns, Table};
use crate::text::duration;

pub(super) fn table(record: &Record) -> Table {
    let names = record.names();
    let columns = Columns::<(&Searched, &Burst)>::default()
        .word("engine", |(case, _)| case.case.label())
        .word("at", |(case, _)| names.own(&case.case))
        .number("longest train\ndatagrams", |(case, search)| {
            let found = search.found();
            if search.next().is_none() && found.too_much.is_none() {
                return "any".to_owned();
            }
            or_dash(found.load) + mark(case)
        })
        .number("95 % interval\ndatagrams", |(_, search)| {
            let (low, high) = search.found().interval;
            format!("{} to {}", or_dash(low), or_dash(high))
        })
        .spare(1, "buffers\nhold", |(case, search)| {
            or_dash(buffer_capacity(
                record.header(),
                &case.case,
                search.rcvbuf_bytes(),
            ))
        })
        .word("limit", |(case, _)| or_dash(record.limit(case)));
    columns.table(searched(record).filter_map(|case| match &case.search {
        Search::Burst(search) => Some((case, search)),
        _ => None,
    }))
}

/// Returns the bounds of a search that is not finished.
pub(super) fn so_far(search: &Burst) -> String {
    bounds_so_far(search.found(), |datagrams| format!("{datagrams} datagrams"))
}

pub(super) fn legend(asked: BurstQuestion) -> String {
    let BurstQuestion {
        pause,
        trial,
        sum,
        width_pct,
    } = asked;
    format!(
        "\nlongest train: the most datagrams or requests, sent back to back every {}, of which none is lost in more than half of \
         the trials, within {width_pct} %: trials of {}, {} of them just below it and just above it (RFC 9004, searched as in RFC 9971). buffers \
         hold: as many fit into the receive buffer, or into the token bucket at the sender's interface, as far as these are \
         known, if nobody takes any out meanwhile. any: a sender that goes on until the next train is due loses none; a full send \
         buffer holds it back, too. limit: where most was lost of trains just longer.\n",
        duration::text(pause),
        duration::text(trial),
        duration::text(sum),
    )
}
