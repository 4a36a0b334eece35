//! Section of round-trip times: their distribution, and the times under load.

mod load;
mod over_time;

use maud::{Markup, html};

use self::load::load_charts;
use self::over_time::over_time;
use super::cases::{by_block, drawable};
use super::chart::{LOOKS, Line, Lines, Look, Mark, Over, figure, legend};
use super::engines;
use crate::data::{BlockKey, Connection};
use crate::results::files::Results;
use crate::results::row::Row;

/// Returns the function that draws the charts of a file. `None`: no row has round trips.
pub(super) fn charts(files: &[Results]) -> Option<fn(&Results) -> Markup> {
    let mut rows = files.iter().flat_map(|file| &file.rows);
    rows.any(|row| half(row).is_some()).then_some(of_file)
}

fn of_file(file: &Results) -> Markup {
    let blocks = by_block(&file.rows, half);
    let tails: Vec<(String, Vec<Line>)> = blocks
        .iter()
        .flat_map(|(block, rows)| tails(block, rows))
        .collect();
    let loads = load_charts(&file.rows);
    html! {
        @if blocks.is_empty() { p { "No case has round trips." } }
        @if !tails.is_empty() {
            p {
                "Of all requests, so many took no longer, with 95 % intervals within this run, and from 99.9 % on a"
                " lower bound only. Where a line ends, the requests that took longer are fewer than ten, or of fewer"
                " than five windows."
            }
            .charts {
                @let steps = QUANTILES.map(|(name, ..)| name.to_owned());
                @for (caption, lines) in &tails {
                    @let picture = Lines { axis: "µs", over: TAIL, steps: &steps, caption };
                    (figure(caption, &html! { p .legend { (legend(lines)) } (picture.draw(lines)) }))
                }
            }
        }
        @if !loads.is_empty() {
            p { "The same under load: half of the requests, and 99 of 100, took no longer." }
            .charts { @for load in &loads { (load.draw()) } }
        }
        (over_time(file))
    }
}

fn half(row: &Row) -> Option<f64> {
    row.rtt_p50_us.and_then(drawable)
}

const TAIL: Over = Over {
    name: "share of requests",
    axis: "share of requests",
    unit: "",
    is_log: true,
};

/// Name of a quantile, and the function that returns its value and interval. A rare one has only a lower bound, so its
/// interval ends at the value.
type Quantile = (&'static str, fn(&Row) -> [Option<f64>; 3]);

const QUANTILES: [Quantile; 5] = [
    ("50 %", |row| {
        [row.rtt_p50_us, row.rtt_p50_us_low, row.rtt_p50_us_high]
    }),
    ("90 %", |row| {
        [row.rtt_p90_us, row.rtt_p90_us_low, row.rtt_p90_us_high]
    }),
    ("99 %", |row| {
        [row.rtt_p99_us, row.rtt_p99_us_low, row.rtt_p99_us_high]
    }),
    ("99.9 %", |row| {
        [row.rtt_p999_us, row.rtt_p999_us_low, row.rtt_p999_us]
    }),
    ("99.99 %", |row| {
        [row.rtt_p9999_us, row.rtt_p9999_us_low, row.rtt_p9999_us]
    }),
];

fn mark((_, of): &Quantile, row: &Row, look: Look) -> Option<Mark> {
    let [value, low, high] = of(row);
    Some(Mark {
        value: value.and_then(drawable)?,
        low,
        high,
        look,
    })
}

/// Returns the lines of each chart. A chart has at most [`LOOKS`] engines.
fn tails(block: &BlockKey, rows: &[&Row]) -> Vec<(String, Vec<Line>)> {
    let line = |(row, look): (&&Row, Look)| {
        let marks = QUANTILES.iter().enumerate();
        Line {
            label: name(row),
            look,
            marks: marks
                .filter_map(|(step, of)| Some((step, mark(of, row, look)?)))
                .collect(),
        }
    };
    let mut rows = rows.to_vec();
    rows.sort_by_cached_key(|row| engines::order(row));
    let pictures = rows.chunks(LOOKS);
    let picture = |rows: &[&Row]| {
        (
            block.to_string(),
            rows.iter().zip(engines::looks(rows)).map(line).collect(),
        )
    };
    pictures.map(picture).collect()
}

fn name(row: &Row) -> String {
    match row.connection {
        Connection::Connected => row.label(),
        Connection::Unconnected => format!("{}, unconnected", row.label()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::results;
    use crate::results::row::tests::ordinary_row;

    fn row(engine: &str, rate: Option<u32>, us: f64) -> Row {
        let key = rate.map_or_else(String::new, |rate| format!("/rate{rate}"));
        Row {
            case: format!("{engine}:{engine}/2t/300B/connected/v4/rr{key}"),
            sender: engine.to_owned(),
            receiver: engine.to_owned(),
            workload: crate::data::Workload::Rr,
            target_pps: rate.map(|rate| rate.try_into().expect("in range")),
            received_pps: Some(10_000.0),
            rtt_p50_us: Some(us),
            rtt_p99_us: Some(10.0 * us),
            ..ordinary_row()
        }
    }

    fn drawn(rows: Vec<Row>) -> Option<String> {
        let files = [results(rows)];
        charts(&files).map(|charts| charts(&files[0]).into_string())
    }

    #[test]
    fn loads_are_shares_of_what_a_client_alone_reaches() {
        let engine = |name: &'static str| {
            [None, Some(1000), Some(5001), Some(9000)].map(|rate| row(name, rate, 50.0))
        };
        let rows = ["std", "tokio"].into_iter().flat_map(engine).collect();
        let page = drawn(rows).expect("there are round trips");
        for text in [
            "µs over share of requests",
            "µs, 50 % over load",
            ">10 %<",
            ">50 %<",
            ">90 %<",
            ">99.9 %<",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let rates = vec![row("std", Some(1000), 50.0), row("std", Some(9000), 70.0)];
        let page = drawn(rates).expect("there are round trips");
        assert!(
            page.contains(">1000/s<") && page.contains(">9000/s<"),
            "{page}"
        );
    }

    #[test]
    fn an_axis_has_rates_if_the_closed_loop_rate_of_an_engine_is_unknown() {
        let rows = [
            ("std", None),
            ("std", Some(1000)),
            ("std", Some(9000)),
            ("tokio", Some(500)),
            ("tokio", Some(1000)),
        ];
        let rows = rows.map(|(engine, rate)| row(engine, rate, 50.0));
        let page = drawn(rows.into()).expect("there are round trips");
        for text in [">500/s<", ">1000/s<", ">9000/s<"] {
            // In the charts of both quantiles.
            assert_eq!(page.matches(text).count(), 2, "{text}: {page}");
        }
        assert!(!page.contains(">10 %<"), "{page}");
    }

    #[test]
    fn where_nobody_asked_there_is_nothing() {
        assert_eq!(drawn(vec![ordinary_row()]), None);
    }
}
