//! Property tests: comparing rows with any content.

use proptest::option::of;
use proptest::prelude::*;

use super::*;
use crate::verdict::judge;

fn number() -> impl Strategy<Value = Option<f64>> {
    let special = [
        0.0,
        -0.0,
        1e-300,
        1e300,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
    ];
    of(prop_oneof![
        4 => 0.1..10.0,
        1 => proptest::sample::select(special.to_vec()),
        1 => any::<f64>(),
    ])
}

fn any_row() -> impl Strategy<Value = Row> {
    let words = proptest::sample::select(vec!["", "no", "a", "b-debug"]);
    let engine = proptest::sample::select(vec!["std", "nix", "mio-level"]);
    let status = proptest::sample::select(vec![
        Status::Ok,
        Status::Ok,
        Status::Failed,
        Status::Skipped,
        Status::Interrupted,
    ]);
    let numbers = (number(), number(), number(), number(), number());
    let counts = (any::<u32>(), of(0..3_u64));
    (engine, 1..6_u32, words, status, numbers, counts).prop_map(
        |(engine, payload, word, status, numbers, (rounds, rcvbuf))| Row {
            status,
            version: word.to_owned(),
            throttled: word.to_owned(),
            residual_sd_pct: numbers.1,
            cpu_ns_per_packet: numbers.2,
            residual_cpu_sd_pct: numbers.3,
            received_pps: numbers.4,
            window_ms: numbers.0,
            rounds,
            rcvbuf_bytes: rcvbuf,
            ..row_of(engine, Connection::Connected, payload, 1.0)
        },
    )
}

proptest! {
    #[test]
    fn it_is_compared_drawn_and_written_without_a_panic(
        base in proptest::collection::vec(any_row(), 0..40),
        new in proptest::collection::vec(any_row(), 0..40),
    ) {
        for by in [Metric::Speed, Metric::Cpu] {
            let question = Criterion { by, ..Criterion::default() };
            let (base, new) = (results("a", base.clone()), results("b", new.clone()));
            let found = compare([&[base], &[new.clone(), new]], question);
            let text = crate::verdict::compare::table::draw(&found, Detail::All, 100);
            for line in anstream::adapter::strip_str(&text).to_string().lines() {
                prop_assert!(line.chars().count() <= 100, "{}", line);
            }
            let rows = judge::rows::rows(&found.judgement, ["a", "b"], &serde_json::json!({}));
            prop_assert!(crate::results::export::json::lines(&rows).is_ok());
            for change in changes(&found) {
                prop_assert!((0.0..=1.0).contains(&change.p_value), "{:?}", change);
                prop_assert!(change.low <= change.estimate, "{:?}", change);
                prop_assert!(change.estimate <= change.high, "{:?}", change);
            }
        }
    }
}
