//! Property tests of the page, with arbitrary rows.

use proptest::prelude::*;

use super::*;

fn odd() -> impl Strategy<Value = Option<f64>> {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -1.0,
        f64::MAX,
        f64::MIN_POSITIVE,
    ];
    proptest::option::of(prop_oneof![
        proptest::sample::select(special.to_vec()),
        proptest::num::f64::ANY,
        0.0..1e7,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_are_a_page_without_numbers_that_are_none(
        values in proptest::collection::vec((odd(), odd(), odd(), any::<u8>(), ".{0,30}"), 0..20),
    ) {
        let row = |(value, low, high, n, text): (Option<f64>, Option<f64>, Option<f64>, u8, String)| Row {
            sender: text.clone(),
            receiver: text,
            threads: u16::from(n % 4 + 1).try_into().expect("in range"),
            receivers: usize::from(n % 3),
            payload_bytes: u32::from(n % 5 * 60).try_into().expect("in range"),
            received_pps: value,
            received_pps_low: low,
            received_pps_high: high,
            received_mbps: value,
            loss_pct: low,
            cpu_ns_per_packet: high,
            sender_cpu_ns_per_packet: low,
            receiver_share_min_pct: value,
            window_ms: low,
            temp_c_max: high,
            clock_min_pct: low,
            ratio_to_std: value,
            ratio_to_std_low: low,
            ratio_to_std_high: high,
            ratio_pairs: Some(usize::from(n)),
            ratio_sd_pct: low.map(f64::abs),
            cpu_ratio_to_std: high,
            cpu_ratio_sd_pct: value,
            sent_packets: Some(u64::MAX),
            unaccounted_packets: Some(i64::MIN),
            ..ordinary_row()
        };
        let rows: Vec<Row> = values.into_iter().map(row).collect();
        let (one, other) = (results(rows.clone()), results(rows));
        is_sound(&page(&[one, other]))?;
    }

    #[test]
    fn any_ratios_of_two_files_are_a_page_too(
        values in proptest::collection::vec((positive(), positive(), 0.0..9e3), 4..12),
    ) {
        let file = |value: &dyn Fn(usize) -> f64| {
            let mut rows = sweep(&["tokio".to_owned()], &[26, 300]);
            rows.truncate(values.len() * 2);
            for (n, row) in rows.iter_mut().enumerate() {
                row.ratio_to_std = Some(value(n / 2));
                row.cpu_ratio_to_std = Some(1.0 / value(n / 2));
                row.ratio_pairs = Some(n + 2);
                row.ratio_sd_pct = Some(values[n / 2].2);
                row.cpu_ratio_sd_pct = row.ratio_sd_pct;
            }
            results(rows)
        };
        is_sound(&page(&[file(&|n| values[n].0), file(&|n| values[n].1)]))?;
    }
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![0.1..10.0, proptest::num::f64::POSITIVE]
}

/// Checks that every coordinate is a number, every mark is inside its chart, and every class has a style.
fn is_sound(page: &str) -> Result<(), TestCaseError> {
    for class in values(page, "class").join(" ").split_whitespace() {
        let has_style = include_str!("../page.css").contains(&format!(".{class}"));
        prop_assert!(has_style, "{class}");
    }
    for name in ["left:", "width:"] {
        for value in page.split(name).skip(1) {
            let Some((share, _)) = value.split_once('%').filter(|(share, _)| share.len() < 9)
            else {
                continue;
            };
            if let Ok(share) = share.parse::<f64>() {
                prop_assert!((0.0..=100.0).contains(&share), "{name}{share}");
            }
            prop_assert!(!share.contains("NaN") && !share.contains("inf"), "{share}");
        }
    }
    for svg in page.split("<svg").skip(1) {
        let picture = svg.split("</svg>").next().unwrap_or_default();
        let size = values(picture, "viewBox")[0];
        let (width, height) = size["0 0 ".len()..].split_once(' ').expect("two numbers");
        for (name, most) in [("cx", width), ("x", width), ("cy", height), ("y", height)] {
            let most: f64 = most.parse().expect("a number");
            for value in values(picture, name) {
                let place: f64 = value.parse().expect("a number");
                prop_assert!((0.0..=most).contains(&place), "{name}={value}: {picture}");
            }
        }
        // In SVG, an element without an end has everything after it as children, which are not drawn.
        for element in ["path", "circle", "text", "g"] {
            let (start, end) = (format!("<{element} "), format!("</{element}>"));
            prop_assert_eq!(count(picture, &start), count(picture, &end), "{}", picture);
        }
        for path in values(picture, "d") {
            let is_known = |c: char| c.is_ascii_digit() || "MLVHhlmvz. -".contains(c);
            prop_assert!(
                path.starts_with('M') && path.chars().all(is_known),
                "{path}"
            );
        }
    }
    Ok(())
}

/// Returns the values of all attributes of this name. In text, a quote is written `&quot;`.
fn values<'a>(picture: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let rests = picture.split(&start).skip(1);
    rests.filter_map(|rest| rest.split('"').next()).collect()
}
