//! Tests that rank made-up rows.

use super::standing::{RankedEngine, Unit};
use super::table::View;
use super::*;
use crate::data::Connection;
use crate::results::row::Status;
use crate::results::row::tests::{of_key, ordinary_row, with_case_of_columns};

/// Returns a row of `engine` in `threads` threads, with ratios of the speed and of the CPU time that scatter by 2 %.
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
        // Intervals follow from the scatter.
        ratio_to_std_low: None,
        ratio_to_std_high: None,
        cpu_ratio_to_std_low: None,
        cpu_ratio_to_std_high: None,
        residual_sd_pct: None,
        residual_cpu_sd_pct: None,
        loss_pct: Some(0.0),
        board: "made-up".to_owned(),
        ..ordinary_row()
    }
}

fn file(rows: &[Row]) -> Results {
    Results {
        name: "made-up.csv".to_owned(),
        rows: rows.iter().cloned().map(with_case_of_columns).collect(),
        ..Results::default()
    }
}

fn ranked(rows: &[Row]) -> BoardRanking {
    let mut boards = rank(&[file(rows)]);
    assert_eq!(boards.len(), 1);
    boards.remove(0)
}

/// Returns each engine of a standing by speed, with its place.
fn speed(standing: &Standing) -> Vec<(&str, Option<usize>)> {
    assert_eq!(standing.measure, Measure::Speed);
    let places = standing.places.iter();
    places
        .map(|place| (place.label.as_str(), place.place))
        .collect()
}

/// Returns the lines of the answer.
fn sentences(board: &BoardRanking, by: RankBy) -> Vec<String> {
    board.answer(by).sentences().collect()
}

const BOTH: View = View {
    details: true,
    by: RankBy::Both,
    top: 3,
};

#[test]
fn those_whose_intervals_overlap_share_a_place() {
    let rows = [
        row("std", 2, 1.0, 1.0),
        row("mmsg", 2, 1.21, 0.9),
        row("uring", 2, 1.208, 0.8),
        row("nix", 2, 0.99, 1.0),
    ];
    let board = ranked(&rows);
    let places = [("mmsg", 1), ("uring", 1), ("std", 3), ("nix", 3)];
    let places = places.map(|(engine, place)| (engine, Some(place)));
    assert_eq!(speed(&board.groups[0].standings[0]), places);
    assert_eq!(speed(&board.averaged[0].standing), places);
    let text = sentences(&board, RankBy::Both).join("\n");
    assert!(
        text.starts_with(
            "Over loopback, of 4 engines: use uring (as fast as mmsg for less CPU time)\n"
        ),
        "{text}"
    );
}

/// Models a round in which one engine was far off: the interval of its ratio is narrow, its scatter round by round is
/// not.
#[test]
fn an_engine_whose_interval_is_above_std_is_not_called_too_noisy_beside_it() {
    for half in [0.059, 0.04] {
        let scattered = Row {
            ratio_to_std_low: Some(1.11 - half),
            ratio_to_std_high: Some(1.11 + half),
            residual_sd_pct: Some(15.0),
            ..row("mmsg", 2, 1.11, 1.0)
        };
        let std = Row {
            residual_sd_pct: Some(15.0),
            ..row("std", 2, 1.0, 1.0)
        };
        let lines = sentences(&ranked(&[std, scattered]), RankBy::Speed);
        assert!(
            lines[0].ends_with(" apart, mmsg perhaps better than std)"),
            "{lines:?}"
        );
    }
}

/// Models two engines that drift together, or whose ratios carry the noise of the reference.
#[test]
fn those_that_differ_round_by_round_do_not_share_a_place_although_their_intervals_overlap() {
    let own = |engine: &str, ratio: f64| Row {
        residual_sd_pct: Some(0.3),
        ..row(engine, 2, ratio, 1.0)
    };
    let rows = [own("std", 1.0), own("mmsg", 1.21), own("uring", 1.20)];
    let places = [("mmsg", Some(1)), ("uring", Some(2)), ("std", Some(3))];
    let board = ranked(&rows);
    assert_eq!(speed(&board.groups[0].standings[0]), places);
    assert_eq!(speed(&board.averaged[0].standing), places);
    // Six rounds of two engines cannot show a difference of 0.1 %.
    let board = ranked(&[own("mmsg", 1.201), own("uring", 1.20), own("std", 1.0)]);
    let places = [("mmsg", Some(1)), ("uring", Some(1)), ("std", Some(3))];
    assert_eq!(speed(&board.averaged[0].standing), places);
}

#[test]
fn an_engine_with_the_same_speed_as_std_is_not_recommended_over_it() {
    let board = ranked(&[row("std", 2, 1.0, 1.0), row("nix", 2, 1.001, 1.0)]);
    let text = sentences(&board, RankBy::Speed).join("\n");
    assert!(
        text.starts_with("Over loopback, of 2 engines: use std or nix (a tie within 5 %)\n"),
        "{text}"
    );
    let board = ranked(&[row("std", 2, 1.0, 1.0), row("nix", 2, 0.5, 1.0)]);
    let text = sentences(&board, RankBy::Speed).join("\n");
    assert!(
        text.contains("engines: use std\none call: std at 300 B, 1.000 times std, 0.00 % lost"),
        "{text}"
    );
}

/// Models a wide interval: what is surely behind the first may be ahead of what may be the first.
#[test]
fn nobody_is_named_before_one_that_measured_better() {
    let wide = Row {
        ratio_sd_pct: Some(40.0),
        cpu_ratio_sd_pct: Some(40.0),
        ..row("tokio", 2, 0.9, 1.3)
    };
    let rows = [row("mmsg", 2, 1.0, 1.0), row("nix", 2, 0.93, 1.1), wide];
    let board = ranked(&rows);
    let places = [("mmsg", Some(1)), ("nix", Some(2)), ("tokio", Some(1))];
    assert_eq!(speed(&board.averaged[0].standing), places);
    let expected =
        "Over loopback, of 3 engines: too noisy to say which is the best: mmsg, nix and tokio (";
    let claims = sentences(&board, RankBy::Both);
    assert!(claims[0].starts_with(expected), "{claims:?}");
    let by_cpu = board.averaged_by(Measure::Cpu).next();
    let leaders = by_cpu.expect("it has CPU times").standing.leaders().len();
    assert_eq!(leaders, 3);
}

#[test]
fn the_last_lines_say_what_the_engines_to_use_gain_and_nothing_of_others() {
    let rows = [
        row("std", 2, 1.0, 1.0),
        row("mmsg", 2, 1.21, 0.9),
        row("gso", 2, 9.0, 0.1),
    ];
    let short = ranked(&rows).answer(RankBy::Both).draw_short(100);
    let expected = "unlike on a cable
         mmsg: 1.21 times std at 300 B; 0.90 of its CPU time
         +-% holds within what was measured here
";
    assert!(short.ends_with(expected), "{short}");
    // The line before names no other.
    let short = ranked(&rows[..2]).answer(RankBy::Both).draw_short(100);
    let expected = "use mmsg
         1.21 times std at 300 B; 0.90 of its CPU time
";
    assert!(short.contains(expected), "{short}");
}

#[test]
fn cpu_times_choose_among_equally_fast_engines_only_where_noise_does_not_hide_who_needs_the_least()
{
    let tokio = |cpu_ratio_sd_pct| Row {
        cpu_ratio_sd_pct: Some(cpu_ratio_sd_pct),
        ..row("tokio", 2, 1.0, 0.9)
    };
    for (deviation_pct, expected) in [
        (2.0, "use mmsg or tokio (as fast as nix for less CPU time)"),
        (40.0, "use mmsg, nix or tokio (a tie within 5 %)"),
    ] {
        let rows = [row("mmsg", 2, 1.0, 0.9), row("nix", 2, 1.0, 1.3)];
        let rows = rows.into_iter().chain([tokio(deviation_pct)]);
        let claims = sentences(&ranked(&rows.collect::<Vec<_>>()), RankBy::Speed);
        assert!(claims[0].ends_with(expected), "{claims:?}");
    }
}

/// An engine in first place is ahead however wide its interval is, if the whole interval is above std. Otherwise the
/// engines are only noise.
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
    let claims = sentences(&board, RankBy::Both);
    let expected = "Over loopback, of 3 engines: too noisy to say which is the best: std, mmsg and tokio (up to 99 % or more apart";
    assert!(claims[0].starts_with(expected), "{claims:?}");
    assert!(claims[1].starts_with("one call"), "{claims:?}");
    let board = ranked(&[row("std", 2, 1.0, 1.0), noisy("mmsg", 9.0)]);
    let claims = sentences(&board, RankBy::Speed);
    assert_eq!(claims[0], "Over loopback, of 2 engines: use mmsg");
    let gain = "batches: mmsg at 300 B, 9.0 times std +-44.3 %, faster, 0.00 % lost";
    assert_eq!(claims[1], gain);
    // Models few rounds, each with mmsg ahead.
    let doubtful = Row {
        ratio_to_std_low: Some(0.93),
        ratio_to_std_high: Some(1.66),
        residual_sd_pct: Some(1.0),
        ..row("mmsg", 2, 1.3, 0.8)
    };
    let std = Row {
        residual_sd_pct: Some(1.0),
        ..row("std", 2, 1.0, 1.0)
    };
    let board = ranked(&[std, doubtful]);
    assert_eq!(speed(&board.averaged[0].standing)[0], ("mmsg", Some(1)));
    let claims = sentences(&board, RankBy::Speed);
    assert!(
        claims[0].starts_with(
            "Over loopback, of 2 engines: too noisy to say which is the best: std and mmsg (up to "
        ),
        "{claims:?}"
    );
    assert!(
        claims[1].contains("1.3 times std +-28.1 %, unclear"),
        "{claims:?}"
    );
}

#[test]
fn the_next_is_the_next_by_value_with_or_without_an_interval() {
    let bare = Row {
        ratio_sd_pct: None,
        ratio_to_std_low: None,
        ..row("nix", 2, 0.9, 1.0)
    };
    let mmsg = Row {
        sender: "mmsg".to_owned(),
        receiver: "mmsg".to_owned(),
        ..bare.clone()
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), mmsg, row("uring", 2, 0.5, 1.0)]);
    let claims = sentences(&board, RankBy::Speed);
    let next = "batches: mmsg at 300 B, 0.90 times std, no interval, 0.00 % lost";
    assert_eq!(claims[..2], ["Over loopback, of 3 engines: use std", next]);
}

#[test]
fn only_groups_are_averaged_that_all_engines_have() {
    // By itself mio-exhaustive would look twice as fast: it was not measured when everything was slow.
    let mut rows = vec![
        row("mio-exhaustive", 2, 2.0, 1.0),
        row("mio-exhaustive", 4, 2.0, 1.0),
    ];
    for (threads, ratio) in [(8, 0.5), (2, 2.1), (4, 2.1)] {
        rows.push(row("std", threads, 1.0, 1.0));
        rows.push(row("mio-level", threads, ratio, 1.0));
    }
    let board = ranked(&rows);
    let averaged = &board.averaged[0];
    assert_eq!((averaged.groups, averaged.of), (2, 3));
    assert!(averaged.left_out.is_empty());
    assert_eq!(speed(&averaged.standing)[0].0, "mio-level");
    let value = averaged.standing.places[0].reading.value();
    assert!((value - 2.1).abs() < 1e-9, "{value}");
}

#[test]
fn an_engine_that_would_cost_the_others_half_of_the_groups_is_left_out() {
    let mut rows = vec![row("uring", 2, 9.0, 0.1)];
    for threads in [2, 4] {
        rows.push(row("std", threads, 1.0, 1.0));
        rows.push(row("mmsg", threads, 1.5, 0.7));
    }
    let board = ranked(&rows);
    let averaged = &board.averaged[0];
    assert_eq!((averaged.groups, averaged.of), (2, 2));
    assert_eq!(averaged.left_out, ["uring".to_owned()]);
    let left_out = "Left out, as measured in too few groups: uring";
    assert!(
        sentences(&board, RankBy::Both)
            .iter()
            .any(|line| line == left_out)
    );
    let text = table::draw(&rank(&[file(&rows)]), BOTH, 100);
    assert!(
        text.contains("batches    mmsg    300 B       1.50  1.3   faster     0.700    0.00"),
        "{text}"
    );
}

/// An engine that is ten times as fast at one payload and no faster at another is not three times as fast.
#[test]
fn payloads_and_one_thread_are_never_averaged_with_others() {
    let at = |payload: u32, threads, ratio| {
        ["std", "mmsg"].map(|engine| Row {
            payload_bytes: payload.try_into().expect("in range"),
            ..row(
                engine,
                threads,
                if engine == "std" { 1.0 } else { ratio },
                1.0,
            )
        })
    };
    let mut rows = Vec::new();
    rows.extend(at(26, 2, 110.0));
    rows.extend(at(26, 4, 100.0));
    rows.extend(at(1460, 2, 8.0));
    rows.extend(at(26, 1, 1.5));
    let board = ranked(&rows);
    let speeds = board.averaged_by(Measure::Speed);
    let labels = board.labels();
    let best = speeds.map(|one| {
        (
            labels[&one.conditions].as_str(),
            one.standing.places[0].reading.value().round(),
        )
    });
    let expected = [
        ("26 B with 1 thread", 2.0),
        ("26 B with more threads", 105.0),
        ("1460 B with more threads", 8.0),
    ];
    assert_eq!(best.collect::<Vec<_>>(), expected);
}

#[test]
fn engines_that_cross_are_each_told_for_their_payload() {
    let at = |payload: u32, ratio| {
        ["std", "mmsg"].map(|engine| Row {
            payload_bytes: payload.try_into().expect("in range"),
            ..row(engine, 2, if engine == "std" { 1.0 } else { ratio }, 1.0)
        })
    };
    let board = ranked(&[at(26, 1.2), at(1460, 0.83)].concat());
    let text = sentences(&board, RankBy::Speed).join("\n");
    assert!(
        text.starts_with("Over loopback, of 2 engines, for 26 B: use mmsg\nFor 1460 B: use std\n"),
        "{text}"
    );
    assert!(
        text.contains("batches: mmsg at 1460 B, 0.83 times std +-2.1 %, slower, 0.00 % lost"),
        "{text}"
    );
}

#[test]
fn without_a_reference_the_speed_itself_is_ranked() {
    let bare = |engine: &str, pps: f64| Row {
        ratio_to_std: None,
        cpu_ratio_to_std: None,
        received_pps: Some(pps),
        received_pps_low: Some(0.99 * pps),
        received_pps_high: Some(1.01 * pps),
        cv_pct: Some(1.0),
        ..row(engine, 2, 1.0, 1.0)
    };
    let board = ranked(&[bare("nix", 1e5), bare("mmsg", 2e5)]);
    let standing = &board.averaged[0].standing;
    assert_eq!(standing.unit, Unit::Absolute);
    assert_eq!(speed(standing), [("mmsg", Some(1)), ("nix", Some(2))]);
    let text = sentences(&board, RankBy::Speed).join("\n");
    assert!(
        text.contains("batches: mmsg at 300 B, 200.0 kpps +-1.0 %, 0.00 % lost"),
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
        speed(&board.averaged[0].standing),
        [("mmsg", None), ("std", None)]
    );
    let text = sentences(&board, RankBy::Speed).join("\n");
    let why = "too noisy to say which is the best: std and mmsg (an interval is missing: ";
    assert!(text.contains(why), "{text}");
    let board = ranked(&[
        once("mmsg", 2.0),
        row("std", 2, 1.0, 1.0),
        row("nix", 2, 0.5, 1.0),
    ]);
    let text = sentences(&board, RankBy::Speed).join("\n");
    assert!(text.contains(why), "{text}");
}

#[test]
fn nobody_is_told_to_use_what_loses_without_being_told_so() {
    let lossy = Row {
        loss_pct: Some(40.0),
        ..row("gso", 2, 3.0, 0.3)
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), lossy]);
    let text = sentences(&board, RankBy::Both).join("\n");
    assert!(
        text.starts_with("No recommendation: besides std, only offload")
            && text.contains(
                "gso at 300 B, 3.00 times std +-2.1 %, lossy, CPU time 0.300, 40.00 % lost"
            ),
        "{text}"
    );
    // Nor is what sends less preferred to what overran its receivers, or anything if every engine loses.
    let lossy = |engine, ratio, loss_pct| Row {
        loss_pct: Some(loss_pct),
        ..row(engine, 2, ratio, 1.0 / ratio)
    };
    let board = ranked(&[lossy("std", 1.0, 0.0), lossy("mmsg", 3.0, 99.8)]);
    for by in [RankBy::Both, RankBy::Speed, RankBy::Cpu] {
        let why = "no recommendation: mmsg received more than std for less CPU time, but overran its receivers or \
                   the path (99.8 % lost)";
        assert!(sentences(&board, by)[0].ends_with(why));
    }
    // But what needs less CPU time than the faster one may be used.
    let slower = Row {
        cpu_ratio_to_std: Some(1.5),
        ..lossy("mmsg", 3.0, 99.8)
    };
    let board = ranked(&[lossy("std", 1.0, 0.0), slower]);
    assert_eq!(
        sentences(&board, RankBy::Both)[0],
        "Over loopback, of 2 engines: use std"
    );
    let board = ranked(&[lossy("std", 1.0, 1.0), lossy("mmsg", 3.0, 99.8)]);
    let lines = sentences(&board, RankBy::Both);
    assert!(
        lines[0].ends_with("no recommendation: all lost 1 % or more, the least std (1.0 %)"),
        "{lines:?}"
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
    assert_eq!(board.rows().count(), 2);
    let first = &sentences(&board, RankBy::Both)[0];
    assert_eq!(first, "Over loopback, of 2 engines: use mmsg");
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
    let all = crate::engines::all();
    let them = all.filter(|entry| is_so(entry.about));
    them.map(|entry| entry.about.name).collect()
}

#[test]
fn the_answer_says_how_far_earlier_runs_differed() {
    let seen = |row: Row, pct: f64| Row {
        earlier_runs: Some(6),
        earlier_runs_pct: Some(pct),
        ..row
    };
    let rows = [
        seen(row("std", 2, 1.0, 1.0), 5.0),
        seen(row("mmsg", 2, 1.2, 0.9), 9.4),
    ];
    let text = sentences(&ranked(&rows), RankBy::Both).join("\n");
    let said = "\n+-% holds within what was measured here\nThe next run may differ by +-9.4 % (rates of mmsg in your last 6)\n";
    assert!(text.contains(said), "{text}");
    let text = sentences(&ranked(&[row("mmsg", 2, 1.2, 0.9)]), RankBy::Both).join("\n");
    assert_eq!(text, "No recommendation: only mmsg was measured");
    let text = sentences(
        &ranked(&[seen(row("mmsg", 2, 1.2, 0.9), 250.0)]),
        RankBy::Both,
    )
    .join("\n");
    let said = "\nThe next run may differ by +-99 % or more (rates of mmsg in your last 6)";
    assert!(text.ends_with(said), "{text}");
}

#[test]
fn a_reference_that_nobody_asked_for_is_no_group() {
    let unconnected = Row {
        connection: Connection::Unconnected,
        ..row("mmsg", 2, 1.1, 0.9)
    };
    let board = ranked(&[row("std", 2, 1.0, 1.0), unconnected]);
    assert_eq!(board.groups.len(), 1);
    let text = sentences(&board, RankBy::Both).join("\n");
    assert_eq!(text, "No recommendation: only mmsg was measured");
    let text = sentences(&ranked(&[row("std", 2, 1.0, 1.0)]), RankBy::Both).join("\n");
    assert_eq!(text, "No recommendation: only std was measured");
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

mod answer;
mod any_rows;
mod believed;
mod round_trip_simulation;
mod round_trips;
mod simulation;
mod sources;
