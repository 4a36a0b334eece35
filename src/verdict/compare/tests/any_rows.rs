//! Property tests: comparing rows with any content.

use proptest::option::of;
use proptest::prelude::*;

use super::*;

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
    let numbers = (number(), number(), number(), number(), number(), number());
    let counts = (of(any::<usize>()), any::<u32>(), of(0..3_u64));
    (engine, 1..6_u32, words, status, numbers, counts).prop_map(
        |(engine, payload, word, status, numbers, (pairs, rounds, rcvbuf))| Row {
            status,
            version: word.to_owned(),
            throttled: word.to_owned(),
            ratio_to_std: numbers.0,
            ratio_sd_pct: numbers.1,
            cpu_ratio_to_std: numbers.2,
            cpu_ratio_sd_pct: numbers.3,
            received_pps: numbers.4,
            cv_pct: numbers.5,
            window_ms: numbers.0,
            ratio_pairs: pairs,
            rounds,
            rcvbuf_bytes: rcvbuf,
            ..case_of(engine, Connection::Connected, payload, 1.0)
        },
    )
}

proptest! {
    #[test]
    fn it_is_compared_drawn_and_written_without_a_panic(
        base in proptest::collection::vec(any_row(), 0..40),
        new in proptest::collection::vec(any_row(), 0..40),
    ) {
        for by in [By::Speed, By::Cpu] {
            let options = Options { by, ..Options::default() };
            let (base, new) = (results("a", base.clone()), results("b", new.clone()));
            let found = compare(&base, &[new.clone(), new], options);
            let text = table::draw(&found, Detail::All, 100);
            for line in anstream::adapter::strip_str(&text).to_string().lines() {
                prop_assert!(line.chars().count() <= 100, "{}", line);
            }
            prop_assert!(crate::results::export::csv::shape(&rows::rows(&found)).is_ok());
            let cases = found.files.iter().flat_map(|file| &file.cases);
            let engines = found.files.iter().flat_map(|file| &file.engines);
            let changes = cases.map(|case| case.change).chain(engines.map(|engine| engine.change));
            for change in changes.flatten() {
                prop_assert!((0.0..=1.0).contains(&change.p_value), "{:?}", change);
                prop_assert!(change.low <= change.estimate, "{:?}", change);
                prop_assert!(change.estimate <= change.high, "{:?}", change);
            }
        }
    }
}
