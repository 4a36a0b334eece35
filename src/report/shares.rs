//! Section of receiver shares: the distribution of datagrams over several receivers.

use maud::{Markup, html};

use super::cases::{drawable, grouped, labels};
use super::chart::{Drawn, Look, Scale, Shape, Track, Tracks, key};
use super::{engines, number};
use crate::data::Connection;
use crate::results::files::Results;
use crate::results::row::Row;

/// Returns whether any case has several receivers.
pub(super) fn are_known(files: &[Results]) -> bool {
    let mut rows = files.iter().flat_map(|file| &file.rows);
    rows.any(|row| smallest_share(row).is_some())
}

/// Draws one chart per receiver count: for each case, the share of the receiver that got least.
pub(super) fn charts(file: &Results) -> Markup {
    let counts = grouped(&file.rows, smallest_share, |row| row.receivers);
    if counts.is_empty() {
        return html! { p { "No case has several receivers." } };
    }
    html! {
        p .legend {
            "For each case, the smallest share of the received datagrams that one receiver got. "
            (key(&look(Connection::Connected).colour(), "●", "connected"))
            (key(&look(Connection::Unconnected).colour(), "○", "unconnected"))
            (key("r", "┆", "even shares"))
        }
        .facets {
            @for (receivers, rows) in counts {
                @let even = 100.0 / receivers as f64;
                (Tracks {
                    columns: &["%"],
                    caption: &format!("{receivers} receivers"),
                    scale: Scale::linear(rows.iter().filter_map(|row| smallest_share(row)).chain([even])),
                    reference: Some(even),
                    band: None,
                }.draw(&tracks(rows)))
            }
        }
    }
}

/// Returns the share of the receiver that got least. `None`: there is one receiver, or the value cannot be drawn.
fn smallest_share(row: &Row) -> Option<f64> {
    let share = row.receiver_share_min_pct.filter(|_| row.receivers > 1);
    share.and_then(drawable)
}

/// Returns one track per row label (engine or pair), with its cases and its smallest share.
fn tracks(mut rows: Vec<&Row>) -> Vec<Track> {
    rows.sort_by_cached_key(|row| engines::order(row));
    let track = |label: String| {
        let own = rows.iter().filter(|row| row.label() == label);
        let shares = own.filter_map(|row| Some((smallest_share(row)?, look(row.connection))));
        let shares: Vec<(f64, Look)> = shares.collect();
        let least = shares
            .iter()
            .map(|(share, _)| *share)
            .min_by(f64::total_cmp);
        Track {
            label,
            drawn: shares
                .into_iter()
                .map(|(at, look)| Drawn::Mark { at, look })
                .collect(),
            values: least
                .map(|least| (number::plain(least), String::new()))
                .into_iter()
                .collect(),
            ..Track::default()
        }
    };
    labels(&rows).into_iter().map(track).collect()
}

fn look(connection: Connection) -> Look {
    let is_connected = connection == Connection::Connected;
    Look {
        colour: if is_connected { 1 } else { 2 },
        shape: Shape::Circle,
        filled: is_connected,
    }
}
