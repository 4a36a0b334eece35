//! Section of round-trip times: by engine and load, their distribution, and over the load.

mod curves;
mod loads;
mod over_time;

use maud::{Markup, html};

use self::curves::{over_load, tails};
use self::loads::{Loads, loads};
pub(super) use self::over_time::over_time;
use super::chart::{Look, Shape, Track, Tracks, key};
use super::{dots, engines};
use crate::data::Connection;
use crate::results::files::Results;
use crate::results::row::{Row, Status};

/// Returns whether round trips were measured.
pub(super) fn is_measured(files: &[Results]) -> bool {
    files.iter().any(|file| !loads(&file.rows).is_empty())
}

/// Draws the charts of a file.
pub(super) fn charts(file: &Results) -> Markup {
    let groups = loads(&file.rows);
    html! {
        @if groups.is_empty() { p { "No case has round trips." } }
        @for group in &groups {
            h3 { (group.caption) }
            (by_load(group))
            .charts { @for chart in tails(group) { (chart) } @for chart in over_load(group) { (chart) } }
        }
        @if !groups.is_empty() {
            p .legend {
                "Distribution: of all requests, so many took no longer; from 99.9 % on, the interval is a lower bound only. A line ends "
                "where the requests that took longer are fewer than ten, or of fewer than five windows."
            }
        }
    }
}

/// Draws the median and the 99th percentile of each engine, in a chart for each load. All have one axis.
fn by_load(group: &Loads) -> Markup {
    let [half, _, rare, ..] = QUANTILES.map(|(_, of)| of);
    let rows = || group.engines.iter().flat_map(|(_, rows)| rows);
    let scale = dots::scale(rows().flat_map(|(_, row)| [half(row), rare(row)]));
    let track = |(label, row): &(&str, &Row)| {
        let [at_half, at_rare] = [Shape::Circle, Shape::Diamond].map(|shape| Look {
            colour: engines::colour(engines::group(row)),
            shape,
            filled: shape == Shape::Circle,
        });
        let mut values = vec![dots::figure(half(row), row), dots::figure(rare(row), row)];
        if row.status == Status::Ok && row.rtt_p50_us.is_none() && row.target_pps.is_some() {
            values = vec![
                (String::new(), "overload".to_owned()),
                (String::new(), String::new()),
            ];
        }
        Track {
            label: (*label).to_owned(),
            drawn: [dots::dot(half(row), at_half), dots::dot(rare(row), at_rare)].concat(),
            values,
            ..Track::default()
        }
    };
    html! {
        p .legend {
            "Round trips in microseconds on a logarithmic axis, with 95 % intervals within this run. Further left is better. "
            @if group.steps.len() > 1 {
                "Alone: each client waits for its response. Other loads: requests come at that share of the engine's best rate in three "
                "trials before, or at that rate, whether or not the last response is there. "
            }
            (key("c7", "●", "half of the requests took no longer")) (key("c7", "◇", "99 % took no longer"))
        }
        .facets {
            @for (n, load) in group.steps.iter().enumerate() {
                @let rows = group.sorted_at(n);
                (Tracks {
                    columns: &["p50 µs", "p99 µs"],
                    caption: &of_load(load),
                    scale,
                    reference: None,
                    band: None,
                }.draw(&rows.iter().map(track).collect::<Vec<_>>()))
            }
        }
    }
}

/// Returns the name of a load: `alone`, `at 50 % load`, `at 1000/s`.
fn of_load(load: &str) -> String {
    match load {
        "alone" => "alone".to_owned(),
        share if share.ends_with('%') => format!("at {share} load"),
        rate => format!("at {rate}"),
    }
}

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
    use crate::results::row::tests::{of_key, ordinary_row};

    fn row(engine: &str, rate: Option<u32>, us: f64) -> Row {
        let key = rate.map_or_else(String::new, |rate| format!("/rate{rate}"));
        Row {
            case: of_key(&format!("{engine}:{engine}/2t/300B/connected/v4/rr{key}")),
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
        is_measured(&files).then(|| charts(&files[0]).into_string())
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
            "µs over load, 50 % of requests",
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
    fn loads_that_were_planned_are_those_of_the_plan_whatever_is_reached_alone() {
        let engine = |(name, capacity): (&'static str, u32)| {
            let rates = [10, 50, 90].map(|pct| row(name, Some(pct * capacity / 100), 50.0));
            [vec![row(name, None, 50.0)], rates.to_vec()].concat()
        };
        let engines = [("std", 12_000), ("tokio", 15_000)];
        let page = drawn(engines.into_iter().flat_map(engine).collect());
        let page = page.expect("there are round trips");
        // Alone, both reach 10,000 per second. All engines of a load are in one chart.
        assert_eq!(page.matches("<table class=\"tracks\"").count(), 4);
        for caption in [">at 10 % load<", ">at 50 % load<", ">at 90 % load<"] {
            assert_eq!(page.matches(caption).count(), 1, "{caption}: {page}");
        }
    }

    #[test]
    fn no_chart_has_a_single_line() {
        let rows = [None, Some(1000), Some(9000)].map(|rate| row("std", rate, 50.0));
        let page = drawn(rows.into()).expect("there are round trips");
        let legends = page.split("<figure>").skip(1);
        let lines = legends.map(|figure| figure.matches("<span class=\"key\">").count());
        assert_eq!(lines.collect::<Vec<_>>(), [3, 2], "{page}");
    }

    #[test]
    fn where_nobody_asked_there_is_nothing() {
        assert_eq!(drawn(vec![ordinary_row()]), None);
    }
}
