//! Rankings of made-up rows.

use super::table::View;
use super::*;
use crate::row::Status;
use crate::row::tests::ordinary_row;

/// A row of `engine` in `threads` threads, with ratios of the speed and of the CPU time that scatter by 2 %.
fn row(engine: &str, threads: u16, ratio: f64, cpu_ratio: f64) -> Row {
    let is_reference = engine == crate::data::EngineName::REFERENCE.as_str();
    let deviation_pct = if is_reference { 0.0 } else { 2.0 };
    Row {
        sender: engine.to_owned(),
        receiver: engine.to_owned(),
        threads: threads.try_into().expect("in range"),
        ratio_to_std: Some(ratio),
        cpu_ratio_to_std: Some(cpu_ratio),
        ratio_pairs: Some(6),
        ratio_sd_pct: Some(deviation_pct),
        cpu_ratio_sd_pct: Some(deviation_pct),
        own_sd_pct: None,
        own_cpu_sd_pct: None,
        loss_pct: Some(0.0),
        board: "made-up".to_owned(),
        ..ordinary_row()
    }
}

fn file(rows: &[Row]) -> Results {
    Results {
        name: "made-up.csv".to_owned(),
        rows: rows.to_vec(),
        windows: Vec::new(),
        host: None,
        is_torn: false,
    }
}

fn ranked(rows: &[Row]) -> BoardRanking {
    let mut boards = rank(&[file(rows)]).boards;
    assert_eq!(boards.len(), 1);
    boards.remove(0)
}

/// By speed: each engine with its place.
fn speed(standing: &Standing) -> Vec<(&str, Option<usize>)> {
    assert_eq!(standing.measure, Measure::Speed);
    let places = standing.places.iter();
    places
        .map(|place| (place.engine.as_str(), place.place))
        .collect()
}

const BOTH: View = View {
    detail: table::Detail::Settings,
    by: By::Both,
    top: 3,
};

#[test]
fn those_whose_intervals_overlap_share_a_place() {
    let rows = [
        row("std", 2, 1.0, 1.0),
        row("mmsg", 2, 1.21, 0.9),
        row("uring", 2, 1.20, 0.8),
        row("nix", 2, 0.99, 1.0),
    ];
    let board = ranked(&rows);
    let places = [("mmsg", 1), ("uring", 1), ("std", 3), ("nix", 3)];
    let places = places.map(|(engine, place)| (engine, Some(place)));
    assert_eq!(speed(&board.settings[0].standings[0]), places);
    assert_eq!(speed(&board.over_all[0].standing), places);
    let text = board.recommendation(By::Both);
    assert!(
        text.starts_with("Use mmsg or uring, which cannot be told apart: over 1 setting"),
        "{text}"
    );
    assert!(text.contains("the cheapest is uring"), "{text}");
}

/// As two that drift together do, or two whose ratios carry the noise of the reference.
#[test]
fn those_that_differ_round_by_round_do_not_share_a_place_although_their_intervals_overlap() {
    let own = |engine: &str, ratio: f64| Row {
        own_sd_pct: Some(0.3),
        ..row(engine, 2, ratio, 1.0)
    };
    let rows = [own("std", 1.0), own("mmsg", 1.21), own("uring", 1.20)];
    let places = [("mmsg", Some(1)), ("uring", Some(2)), ("std", Some(3))];
    let board = ranked(&rows);
    assert_eq!(speed(&board.settings[0].standings[0]), places);
    assert_eq!(speed(&board.over_all[0].standing), places);
    // 0.1 % is less than six rounds of two engines can tell.
    let board = ranked(&[own("mmsg", 1.201), own("uring", 1.20), own("std", 1.0)]);
    let places = [("mmsg", Some(1)), ("uring", Some(1)), ("std", Some(3))];
    assert_eq!(speed(&board.over_all[0].standing), places);
}

#[test]
fn an_engine_with_the_same_speed_as_std_is_not_recommended_over_it() {
    let board = ranked(&[row("std", 2, 1.0, 1.0), row("nix", 2, 1.001, 1.0)]);
    let text = board.recommendation(By::Speed);
    assert!(
        text.starts_with("Use nix or std, which cannot be told apart"),
        "{text}"
    );
    let board = ranked(&[row("std", 2, 1.0, 1.0), row("nix", 2, 0.5, 1.0)]);
    let text = board.recommendation(By::Speed);
    assert!(
        text.starts_with("Use std: over 1 setting nix, the next, received 0.50"),
        "{text}"
    );
}

/// One on the first place is ahead, however wide its interval is; several are only noise.
#[test]
fn nothing_noisy_is_recommended() {
    let noisy = |engine: &str, ratio: f64| Row {
        ratio_sd_pct: Some(40.0),
        cpu_ratio_sd_pct: Some(40.0),
        ..row(engine, 2, ratio, 1.1)
    };
    let board = ranked(&[
        row("std", 2, 1.0, 1.0),
        noisy("tokio", 0.9),
        noisy("mmsg", 1.1),
    ]);
    let claims = board.claims(By::Both);
    let expected =
        "Too noisy to say: mmsg, std and tokio within +-44 %, 5 % needed; try --until 5%";
    assert!(claims[0].starts_with(expected), "{claims:?}");
    assert!(
        claims[1].starts_with("too noisy to say which is the cheapest: "),
        "{claims:?}"
    );
    let board = ranked(&[row("std", 2, 1.0, 1.0), noisy("mmsg", 9.0)]);
    let claims = board.claims(By::Speed);
    let expected = "Use mmsg: over 1 setting it received 9.0 (5.9 to 13.8) times";
    assert!(claims[0].starts_with(expected), "{claims:?}");
}

#[test]
fn the_next_is_the_next_by_value_with_or_without_an_interval() {
    let bare = Row {
        ratio_sd_pct: None,
        ratio_to_std_low: None,
        ..row("mmsg", 2, 0.9, 1.0)
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), bare, row("tokio", 2, 0.5, 1.0)]);
    let claims = board.claims(By::Speed);
    let expected = "Use std: over 1 setting mmsg, the next, received 0.900 times";
    assert!(claims[0].starts_with(expected), "{claims:?}");
}

#[test]
fn over_all_only_settings_count_that_all_engines_have() {
    // Alone, mio-exhaustive would look twice as fast: it was not there when things were slow.
    let mut rows = vec![
        row("mio-exhaustive", 2, 2.0, 1.0),
        row("mio-exhaustive", 4, 2.0, 1.0),
    ];
    for (threads, ratio) in [(1, 0.5), (2, 2.1), (4, 2.1)] {
        rows.push(row("std", threads, 1.0, 1.0));
        rows.push(row("mio-level", threads, ratio, 1.0));
    }
    let board = ranked(&rows);
    let over_all = &board.over_all[0];
    assert_eq!((over_all.settings, over_all.of), (2, 3));
    assert_eq!(over_all.left_out, []);
    assert_eq!(speed(&over_all.standing)[0].0, "mio-level");
    let value = over_all.standing.places[0].reading.value();
    assert!((value - 2.1).abs() < 1e-9, "{value}");
}

#[test]
fn an_engine_that_would_cost_the_others_half_of_the_settings_is_left_out_over_all() {
    let mut rows = vec![row("uring", 2, 9.0, 0.1)];
    for threads in [1, 2] {
        rows.push(row("std", threads, 1.0, 1.0));
        rows.push(row("mmsg", threads, 1.5, 0.7));
    }
    let board = ranked(&rows);
    let over_all = &board.over_all[0];
    assert_eq!((over_all.settings, over_all.of), (2, 2));
    assert_eq!(over_all.left_out, [("uring".to_owned(), 1)]);
    let text = table::draw(&rank(&[file(&rows)]), BOTH, 100);
    assert!(
        text.contains("not ranked over all, too few settings: uring (1)"),
        "{text}"
    );
    assert!(
        text.contains("Use mmsg: over 2 settings it received 1.50"),
        "{text}"
    );
}

#[test]
fn without_a_reference_the_speed_itself_is_ranked() {
    let bare = |engine: &str, pps: f64| Row {
        ratio_to_std: None,
        cpu_ratio_to_std: None,
        received_pps: Some(pps),
        cv_pct: Some(1.0),
        ..row(engine, 2, 1.0, 1.0)
    };
    let board = ranked(&[bare("nix", 1e5), bare("mmsg", 2e5)]);
    let standing = &board.over_all[0].standing;
    assert_eq!(standing.unit, Unit::Absolute);
    assert_eq!(speed(standing), [("mmsg", Some(1)), ("nix", Some(2))]);
    let text = board.recommendation(By::Speed);
    assert!(
        text.contains("it received 200.0 (197.9 to 202.2) thousand datagrams"),
        "{text}"
    );
}

#[test]
fn without_intervals_there_is_an_order_but_no_places_and_no_advice() {
    let once = |engine: &str, ratio: f64| Row {
        ratio_pairs: Some(1),
        ratio_sd_pct: None,
        ratio_to_std_low: None,
        ratio_to_std_high: None,
        ..row(engine, 2, ratio, 1.0)
    };
    let board = ranked(&[once("std", 1.0), once("mmsg", 2.0)]);
    assert_eq!(
        speed(&board.over_all[0].standing),
        [("mmsg", None), ("std", None)]
    );
    let text = board.recommendation(By::Speed);
    assert!(text.starts_with("No recommendation"), "{text}");
    let board = ranked(&[
        once("mmsg", 2.0),
        row("std", 2, 1.0, 1.0),
        row("nix", 2, 0.5, 1.0),
    ]);
    let text = board.recommendation(By::Speed);
    assert!(
        text.starts_with("Use std") && text.contains("mmsg was better"),
        "{text}"
    );
}

#[test]
fn nobody_is_told_to_use_what_loses_without_being_told_so() {
    let lossy = Row {
        loss_pct: Some(40.0),
        ..row("gso", 2, 3.0, 0.3)
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), lossy]);
    let text = board.recommendation(By::Both);
    assert!(
        text.ends_with("but gso lost up to 40.0 % of the datagrams."),
        "{text}"
    );
}

#[test]
fn what_cannot_be_ranked_is_counted_and_never_recommended() {
    let fast = |engine| row(engine, 2, 100.0, 0.01);
    let failed = Row {
        status: Status::Failed,
        ..fast("nix")
    };
    let starving = engines_that(|about| about.starves.is_some());
    let mut rows = vec![
        row("std", 2, 1.0, 1.0),
        row("mmsg", 2, 1.1, 0.9),
        failed,
        fast("null"),
    ];
    rows.extend(starving.iter().map(|engine| fast(engine)));
    let board = ranked(&rows);
    assert_eq!(board.rows, 2);
    assert!(board.recommendation(By::Both).starts_with("Use mmsg:"));
    for remark in [
        "1 row left out: failed",
        "1 row left out: null moves no datagrams",
    ] {
        assert!(
            board.remarks.iter().any(|one| one == remark),
            "{remark}: {:?}",
            board.remarks
        );
    }
    assert!(!starving.is_empty());
}

fn engines_that(is_so: fn(&crate::engine::About) -> bool) -> Vec<&'static str> {
    let all = crate::engines::ALL.iter();
    let them = all.filter(|entry| is_so(entry.about));
    them.map(|entry| entry.about.name).collect()
}

#[test]
fn a_reference_that_nobody_asked_for_is_no_setting() {
    let unconnected = Row {
        connection: Connection::Unconnected,
        ..row("mmsg", 2, 1.1, 0.9)
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), unconnected]);
    assert_eq!(board.settings.len(), 1);
    let text = board.recommendation(By::Both);
    assert_eq!(text, "No recommendation: only mmsg was measured.");
    assert!(rank(&[file(&[row("std", 2, 1.0, 1.0)])]).is_empty());
}

#[test]
fn the_ranking_says_who_is_ahead_and_how_sure_that_is() {
    let mut rows = Vec::new();
    for threads in [1, 2, 4] {
        rows.push(row("std", threads, 1.0, 1.0));
        rows.push(row("mmsg", threads, 1.2, 0.85));
        rows.push(row("uring", threads, 1.19, 0.8));
        rows.push(row("tokio", threads, 0.6, 1.8));
    }
    rows.push(row("quinn-udp", 2, 5.0, 0.2));
    rows[11].throttled = "under-voltage".to_owned();
    insta::assert_snapshot!(table::draw(&rank(&[file(&rows)]), BOTH, 100));
}

mod any_rows;
mod sources;
