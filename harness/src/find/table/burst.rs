//! Of trains.

use super::super::Searched;
use super::super::burst::{Asked, Burst};
use super::super::held::held;
use super::super::log::Header;
use crate::columns::Columns;
use crate::duration;

pub(super) const BURST: Columns = Columns {
    headings: &[
        "case",
        "longest train\ndatagrams",
        "95 % interval\ndatagrams",
        "buffers\nhold",
        "gave way first",
    ],
    words: 1,
    leaves: &[3],
    longest: super::LONGEST,
};

pub(super) fn burst_row(case: &Searched, search: &Burst, header: &Header) -> Vec<String> {
    let found = search.found();
    let number =
        |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let length = |length: Option<u32>| number(length.map(u64::from));
    let (low, high) = found.interval;
    vec![
        case.case.key(),
        if search.next().is_none() && found.too_much.is_none() {
            "any".to_owned()
        } else {
            length(found.load) + super::mark(case)
        },
        format!("{} to {}", length(low), length(high)),
        number(held(header, &case.case, search.rcvbuf_bytes())),
        search.gave_way().unwrap_or("-").to_owned(),
    ]
}

pub(super) fn burst_legend(asked: Asked) -> String {
    let Asked {
        pause,
        trial,
        sum,
        width_pct,
    } = asked;
    format!(
        "\nlongest train: the most datagrams or requests, sent back to back every {}, of which none is lost in more than half of \
         the trials, within {width_pct} %: trials of {}, of each bound {} together (RFC 9004, searched as in RFC 9971). buffers \
         hold: as many fit into the receive buffer, or into the token bucket at the sender's interface, as far as these are \
         known, if nobody takes any out meanwhile. any: a sender that goes on until the next train is due loses none; a full send \
         buffer holds it back, too. gave way first: where most was lost of trains just longer.\n",
        duration::text(pause),
        duration::text(trial),
        duration::text(sum),
    )
}
