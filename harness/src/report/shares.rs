//! How evenly the datagrams were spread over several receivers.

use maud::{Markup, html};

use super::cases::{drawable, grouped};
use super::chart::{Dots, First, Mark, key};
use super::speed::{connections, look, per_engine};
use crate::results::Results;
use crate::row::Row;

/// The smallest share of one receiver, for each number of receivers.
pub(super) fn charts(file: &Results) -> Markup {
    let share = |row: &Row| row.receiver_share_min_pct.filter(|_| row.receivers > 1);
    let counts = grouped(&file.rows, share, |row| row.receivers);
    if counts.is_empty() {
        return html! { p { "No case has several receivers." } };
    }
    html! {
        p .legend {
            "For each case, the smallest share of the received datagrams that one receiver got. "
            (connections()) (key("r", "┆", "even shares"))
        }
        .charts {
            @for (receivers, rows) in counts {
                (Dots {
                    axis: "% of datagrams received",
                    second: None,
                    reference: Some(100.0 / receivers as f64),
                    caption: &format!("{receivers} receivers"),
                    first: First::LargestShare,
                }.draw(per_engine(&rows, smallest)))
            }
        }
    }
}

fn smallest(row: &Row) -> Vec<Mark> {
    let value = row.receiver_share_min_pct.and_then(drawable);
    let mark = value.map(|value| Mark {
        value,
        low: None,
        high: None,
        look: look(row.connection),
    });
    mark.into_iter().collect()
}
