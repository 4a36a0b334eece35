//! Validation of the numbers in a row. Files can be damaged or edited.

use serde_json::{Map, Value};

use crate::results::row::{Row, Status};

/// Limit that no reported number reaches. Counts are limited in `log::counts`, and no rate reaches 2^53 datagrams
/// per second.
const MOST: f64 = 9_007_199_254_740_992.0;
/// Smallest number other than 0 that a row can hold, with a margin. Rows have four decimals.
const LEAST: f64 = 1e-5;
const ABSOLUTE_ZERO_C: f64 = -273.15;

/// Columns that may be below 0.
const SIGNED: [&str; 2] = ["unaccounted_packets", "queue_growth_packets"];
/// Columns that are percentages of a whole, at most 100.
const PARTS: [&str; 4] = [
    "loss_pct",
    "interval_pct",
    "receiver_share_min_pct",
    "until_pct",
];
/// Estimates that have an interval.
const ESTIMATES: [&str; 10] = [
    "rtt_p50_us",
    "rtt_p90_us",
    "rtt_p99_us",
    "rtt_p999_us",
    "rtt_p9999_us",
    "received_pps",
    "received_mbps",
    "cpu_ns_per_packet",
    "ratio_to_std",
    "cpu_ratio_to_std",
];

/// Returns the first inconsistency in a row: the column, its value, and why the value is impossible.
pub(super) fn contradiction(row: &Row) -> Option<(String, String)> {
    let Ok(Value::Object(columns)) = serde_json::to_value(row) else {
        return None;
    };
    let mut numbers = columns
        .iter()
        .filter_map(|(column, value)| Some((column.as_str(), value.as_f64()?)));
    numbers
        .find_map(|(column, value)| impossible(column, value))
        .or_else(|| outside_of_its_interval(&columns))
        .or_else(|| other_case(row))
        .or_else(|| open_accounting(row))
        .or_else(|| more_than_there_are(row))
        .or_else(|| other_rate(row))
}

fn impossible(column: &str, value: f64) -> Option<(String, String)> {
    let least = match column {
        _ if SIGNED.contains(&column) => -MOST,
        _ if column.starts_with("temp_c_") => ABSOLUTE_ZERO_C,
        _ => 0.0,
    };
    let why = match value {
        _ if value < least => format!("below {least}"),
        _ if value.abs() >= MOST => "2^53 or more".to_owned(),
        _ if value != 0.0 && value.abs() < LEAST => "next to nothing".to_owned(),
        _ if value > 100.0 && PARTS.contains(&column) => "more than 100 %".to_owned(),
        _ => return None,
    };
    Some((column.to_owned(), format!("{value:?} cannot be: {why}")))
}

fn outside_of_its_interval(columns: &Map<String, Value>) -> Option<(String, String)> {
    let value = |column: &str| columns.get(column)?.as_f64();
    ESTIMATES.iter().find_map(|column| {
        let median = value(column)?;
        let low = value(&format!("{column}_low"))?;
        // A rare quantile has only a lower bound.
        let high = value(&format!("{column}_high")).unwrap_or(f64::INFINITY);
        let problem = || format!("{median} is not in its interval, {low} to {high}");
        (!(low..=high).contains(&median)).then(|| ((*column).to_owned(), problem()))
    })
}

/// Checks that the columns agree with the key of the case.
fn other_case(row: &Row) -> Option<(String, String)> {
    let (threads, payload) = (row.threads, row.payload_bytes);
    let named = format!(
        "{}:{}/{threads}t/{payload}B/{}/{}",
        row.sender, row.receiver, row.connection, row.ip
    );
    let rest = row.case.strip_prefix(&named);
    if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        let problem = format!("{named} by its columns, not {}", row.case);
        return Some(("case".to_owned(), problem));
    }
    if row.engine != row.label() {
        let problem = format!("{}, but {} by the key of the case", row.engine, row.label());
        return Some(("engine".to_owned(), problem));
    }
    let sides = (row.senders, row.receivers);
    (sides != (threads.senders(), threads.receivers())).then(|| {
        let problem = format!(
            "{} and {} are not those of {threads} threads",
            sides.0, sides.1
        );
        ("senders, receivers".to_owned(), problem)
    })
}

/// Checks that the counts account for every datagram: see [`crate::data::WindowAccounting`].
fn open_accounting(row: &Row) -> Option<(String, String)> {
    let (sent, received) = (row.sent_packets?, row.received_packets?);
    let unread = row.unread_packets?;
    let dropped = i128::from(row.dropped_socket_packets?) + i128::from(dropped_on_the_way(row)?);
    let unaccounted = row.unaccounted_packets?;
    let refused = i128::from(row.refused_packets?);
    let arrived = i128::from(received) + i128::from(unread);
    let explained = arrived + refused + dropped + i128::from(unaccounted);
    let surplus = row.unexpected_packets.unwrap_or(0);
    if i128::from(sent) + i128::from(surplus) != explained {
        let problem = format!(
            "{sent}, but {explained} were received, unread, refused, dropped or unaccounted for"
        );
        return Some(("sent_packets".to_owned(), problem));
    }
    if row.status == Status::Ok && (unread, unaccounted) != (0, 0) {
        let problem = "ok, but packet counts do not add up".to_owned();
        return Some(("status".to_owned(), problem));
    }
    let lost = (sent.saturating_add(surplus))
        .saturating_sub(received)
        .min(sent);
    let loss_pct = 100.0 * lost as f64 / sent.max(1) as f64;
    let said = row.loss_pct?;
    let problem = || format!("{said}, but by the datagrams it is {loss_pct:.4}");
    ((said - loss_pct).abs() > 0.001).then(|| ("loss_pct".to_owned(), problem()))
}

/// Returns the datagrams dropped before they reached a socket, on one host or between two.
fn dropped_on_the_way(row: &Row) -> Option<u64> {
    if row.direction.is_none() {
        return row.dropped_kernel_packets;
    }
    let places = [
        row.dropped_kernel_out_packets,
        row.dropped_qdisc_packets,
        row.dropped_nic_out_packets,
        row.lost_on_path_packets,
        row.dropped_nic_in_packets,
        row.dropped_backlog_packets,
        row.dropped_kernel_in_packets,
        row.dropped_protocol_packets,
    ];
    places
        .into_iter()
        .try_fold(0_u64, |all, place| all.checked_add(place?))
}

/// Checks that no count of windows exceeds the number of rounds.
fn more_than_there_are(row: &Row) -> Option<(String, String)> {
    let rounds = usize::try_from(row.rounds).unwrap_or(usize::MAX);
    let counts = [
        ("ratio_pairs", row.ratio_pairs),
        ("disturbed_windows", row.disturbed_windows),
        ("contaminated_windows", row.contaminated_windows),
    ];
    let (column, count) = counts
        .into_iter()
        .find(|(_, count)| count.is_some_and(|count| count > rounds))?;
    let problem = format!(
        "{}, but there were {rounds} rounds",
        count.unwrap_or_default()
    );
    Some((column.to_owned(), problem))
}

/// Checks that the rate in Mb/s agrees with the rate in datagrams. The two may differ in short windows: datagrams may be
/// of another length, and a program of one's own (`exec:`) counts datagrams and bytes one after the other. A number that
/// a spreadsheet misread is wrong by a factor of 10 or 1000, so a factor of 2 is allowed.
fn other_rate(row: &Row) -> Option<(String, String)> {
    let (said, packets) = (row.received_mbps?, row.received_pps?);
    let mbps = 8e-6 * packets * f64::from(u32::from(row.payload_bytes));
    let problem = || {
        format!(
            "{said}, but {packets} datagrams/s of {} B are {mbps:.3}",
            row.payload_bytes
        )
    };
    let is_alike = said <= 2.0 * mbps + 0.001 && mbps <= 2.0 * said + 0.001;
    (!is_alike).then(|| ("received_mbps".to_owned(), problem()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    fn refusal(change: impl FnOnce(&mut Row)) -> String {
        let mut row = ordinary_row();
        assert_eq!(contradiction(&row), None);
        change(&mut row);
        contradiction(&row).map_or_else(String::new, |(column, why)| format!("{column}: {why}"))
    }

    #[test]
    fn every_numeric_column_has_its_limits() {
        let Value::Object(columns) = serde_json::to_value(ordinary_row()).expect("an object")
        else {
            panic!("no object")
        };
        let numbers = columns.iter().filter(|(_, value)| value.is_number());
        let mut tried = 0;
        for (column, _) in numbers {
            for wrong in [-1e18, 1e308, 9.1e15, 5e-324, 1e-300] {
                assert!(impossible(column, wrong).is_some(), "{column} {wrong}");
                tried += 1;
            }
            assert_eq!(impossible(column, 1.0), None, "{column}");
        }
        assert!(tried > 100, "{tried}");
        for column in PARTS {
            assert!(impossible(column, 100.1).is_some_and(|(_, why)| why.contains("100 %")));
        }
        assert!(impossible("loss_pct", -0.1).is_some());
        assert_eq!(impossible("temp_c_max", -40.0), None);
        assert!(impossible("temp_c_max", -300.0).is_some());
        assert_eq!(impossible("unaccounted_packets", -3.0), None);
    }

    #[test]
    fn a_median_is_in_its_interval() {
        let problem = refusal(|row| row.received_pps = Some(2_000_000.0));
        let expected = "received_pps: 2000000.0 is not in its interval, 200000 to 200000";
        assert_eq!(problem.replace("2000000 ", "2000000.0 "), expected);
        assert!(refusal(|row| row.ratio_to_std = Some(1.1)).starts_with("ratio_to_std"));
        let alone = refusal(|row| (row.received_pps_low, row.received_pps_high) = (None, None));
        assert_eq!(alone, "");
    }

    #[test]
    fn a_row_is_of_the_case_that_it_names() {
        let problem = refusal(|row| row.payload_bytes = 26.try_into().expect("in range"));
        assert!(problem.starts_with("case: std:std/2t/26B"), "{problem}");
        assert!(refusal(|row| row.case += "0").starts_with("case"));
        let problem = refusal(|row| row.engine = "mmsg/32".to_owned());
        assert_eq!(problem, "engine: mmsg/32, but std by the key of the case");
        assert!(refusal(|row| row.senders = 3).starts_with("senders, receivers: 3 and 1"));
    }

    #[test]
    fn the_accounting_of_a_row_close() {
        for change in [
            |row: &mut Row| row.sent_packets = Some(1_800_000),
            |row: &mut Row| row.received_packets = Some(120_001),
            |row: &mut Row| row.unaccounted_packets = Some(1),
        ] {
            assert!(refusal(change).starts_with("sent_packets"));
        }
        let problem = refusal(|row| {
            (row.received_packets, row.unaccounted_packets) = (Some(119_999), Some(1));
        });
        assert!(problem.starts_with("status: ok"), "{problem}");
        assert!(refusal(|row| row.loss_pct = Some(3.3)).starts_with("loss_pct: 3.3"));
    }

    #[test]
    fn megabits_are_those_of_the_datagrams() {
        // Measured with `null` on a busy machine: 963.33 Mb/s, where the datagrams give 982.246.
        let apart = refusal(|row| {
            row.received_mbps = row.received_mbps.map(|it| 0.98 * it);
            row.received_mbps_low = row.received_mbps;
        });
        assert_eq!(apart, "");
        let problem = refusal(|row| {
            row.received_mbps = row.received_mbps.map(|it| 1000.0 * it);
            row.received_mbps_low = row.received_mbps;
            row.received_mbps_high = row.received_mbps;
        });
        let expected = "received_mbps: 480000, but 200000 datagrams/s of 300 B are 480.000";
        assert_eq!(problem, expected);
    }

    #[test]
    fn no_more_windows_are_marked_than_there_were() {
        assert!(refusal(|row| row.ratio_pairs = Some(7)).starts_with("ratio_pairs: 7"));
        assert!(refusal(|row| row.disturbed_windows = Some(7)).starts_with("disturbed_windows"));
    }
}
