//! Tests of the answer at the end of a run, for readers who read nothing else.

use super::*;
use crate::data::Direction;
use crate::results::row::tests::row_of_a_wire;

/// Returns a row of the default sweep: payload in bytes, ratio to std, and percent lost. The CPU time follows the
/// speed.
fn measured(engine: &str, payload: u32, ratio: f64, loss_pct: f64) -> Row {
    let (sender, receiver) = engine.split_once('>').unwrap_or((engine, engine));
    Row {
        sender: sender.to_owned(),
        receiver: receiver.to_owned(),
        case: of_key(&format!("{sender}:{receiver}/2t/{payload}B/connected/v4")),
        payload_bytes: payload.try_into().expect("in range"),
        loss_pct: Some(loss_pct),
        received_pps: Some(1e5),
        received_pps_low: Some(0.99e5),
        received_pps_high: Some(1.01e5),
        ..row(engine, 2, ratio, 1.0 / ratio)
    }
}

/// Returns the rows of a default run on a quiet machine.
fn default_sweep() -> Vec<Row> {
    let of_payload = |payload, offload, lossy| {
        vec![
            measured("std", payload, 1.0, 0.0),
            measured("mmsg", payload, 1.07, 0.0),
            measured("gso>gro", payload, offload, lossy),
            measured("mio-level", payload, 0.6, 0.0),
            measured("tokio", payload, 0.88, 0.0),
        ]
    };
    let mut rows = of_payload(26, 94.0, 0.0);
    rows.extend(of_payload(1460, 11.4, 2.7));
    rows
}

fn over_a_wire(rows: Vec<Row>) -> Vec<Row> {
    let wire = row_of_a_wire();
    let rows = rows.into_iter().map(|row| Row {
        case: crate::data::Case {
            direction: Some(Direction::Up),
            ..row.case
        },
        direction: Some(Direction::Up),
        remote: wire.remote.clone(),
        remote_board: wire.remote_board.clone(),
        ..row
    });
    rows.collect()
}

/// Returns twelve engines in nine groups. Engines are somewhat faster with more threads.
fn full_sweep() -> Vec<Row> {
    const RATIOS: [(&str, f64); 12] = [
        ("std", 1.0),
        ("nix", 1.001),
        ("socket2", 0.999),
        ("spin", 1.3),
        ("poll", 0.8),
        ("epoll-level", 0.8),
        ("epoll-drain", 0.95),
        ("mio-level", 0.6),
        ("mio-eager", 0.7),
        ("tokio", 0.9),
        ("mmsg", 1.02),
        ("uring", 1.05),
    ];
    let mut rows = Vec::new();
    for threads in [1_u16, 2, 4] {
        for payload in [26, 300, 1460] {
            rows.extend(RATIOS.map(|(engine, ratio)| {
                let more = if engine == "std" {
                    0.0
                } else {
                    f64::from(threads) / 50.0
                };
                Row {
                    threads: threads.try_into().expect("in range"),
                    ..measured(engine, payload, ratio * (1.0 + more), 0.0)
                }
            }));
        }
    }
    rows
}

/// Returns the answer in a terminal of 80 columns.
fn ending(rows: &[Row]) -> String {
    ranked(rows).answer(RankBy::Both).draw_last(80)
}

/// Returns a default sweep at a rate, which the first row did not keep.
fn at_a_rate() -> Vec<Row> {
    let mut given = default_sweep();
    for row in &mut given {
        row.case.rate = "1000".parse().ok();
        row.target_pps = row.case.rate_in_datagrams();
        row.sent_pps = Some(1000.0);
    }
    given[0].sent_pps = Some(800.0);
    given
}

#[test]
fn who_sends_in_bursts_at_a_rate_is_named_with_the_time_between_them() {
    let mut rows = at_a_rate();
    for row in &mut rows {
        let is_batched = row.case.sender.as_str() == "mmsg";
        row.gap_p99_us = Some(if is_batched { 2040.0 } else { 150.0 });
    }
    let said = "mmsg wakes less often: it sends in bursts 2.04 ms apart (p99; ";
    let answer = ranked(&rows).answer(RankBy::Both);
    assert!(
        answer.said.iter().any(|line| line.starts_with(said)),
        "{answer:?}"
    );
    for row in &mut rows {
        row.gap_p99_us = Some(150.0);
    }
    let answer = ranked(&rows).answer(RankBy::Both);
    assert!(
        !answer.said.iter().any(|line| line.contains("bursts")),
        "{answer:?}"
    );
}

#[test]
fn every_ending_says_what_a_careful_engineer_would() {
    let (mut all, mut longest) = (String::new(), 0);
    let mut end = |name: &str, rows: &[Row]| {
        let text = ending(rows);
        longest = longest.max(text.lines().count());
        all.extend(["-- ", name, "\n", &text, "\n\n"]);
    };
    end("quiet, over loopback", &default_sweep());

    let lossy = |by: f64| {
        default_sweep().into_iter().map(move |row| Row {
            loss_pct: row.loss_pct.map(|pct| pct + by),
            ..row
        })
    };
    end("all lose", &lossy(12.0).collect::<Vec<_>>());
    let mut one = default_sweep();
    one[1].loss_pct = Some(99.8);
    end("the fastest lost 99.8 % at one payload", &one);

    end(
        "std overran its receivers, and a program of one's own did not",
        &[
            measured("std", 300, 1.0, 7.04),
            measured("py-socket", 300, 0.7, 0.0),
        ],
    );
    let mut one = default_sweep();
    (one[0].loss_pct, one[1].loss_pct) = (Some(2.0), Some(1.2));
    end("the best overran their receivers at one payload", &one);
    end(
        "the best overran the path",
        &over_a_wire(one[..2].iter().chain(&one[3..5]).cloned().collect()),
    );

    let disturbed = default_sweep().into_iter().map(|row| Row {
        disturbed_windows: Some(4),
        ..row
    });
    end("disturbed", &disturbed.collect::<Vec<_>>());
    let poor = default_sweep().into_iter().map(|row| Row {
        received_pps_low: Some(0.5e5),
        ..row
    });
    end("poor", &poor.collect::<Vec<_>>());

    end(
        "one engine",
        &[
            measured("std", 26, 1.0, 0.0),
            measured("mmsg", 26, 1.07, 0.0),
        ],
    );
    end("one payload", &default_sweep()[..5]);

    let tied = ["std", "mmsg", "gso>gro"].map(|engine| measured(engine, 300, 1.0, 0.0));
    end("a wire where all tie", &over_a_wire(tied.to_vec()));
    let mut tied = over_a_wire(tied.to_vec());
    tied[2].loss_pct = Some(99.82);
    end("a wire where all tie, and one loses", &tied);
    end("a wire where offload gains", &over_a_wire(default_sweep()));

    let mut crossing = default_sweep();
    (crossing[1].ratio_to_std, crossing[6].ratio_to_std) = (Some(1.2), Some(0.83));
    end("engines that cross", &crossing);

    end("all engines", &full_sweep());

    let alone = default_sweep()
        .into_iter()
        .filter(|row| row.sender != "gso");
    let alone = alone.map(|row| Row {
        threads: 1.try_into().expect("in range"),
        ..row
    });
    end("one thread", &alone.collect::<Vec<_>>());

    let pairs = |pairs: &[(&str, f64)]| -> Vec<Row> {
        let pairs = pairs.iter();
        pairs
            .map(|(pair, ratio)| measured(pair, 300, *ratio, 0.0))
            .collect()
    };
    let behind_gso = [("std", 1.0), ("gso>std", 3.5), ("gso>mmsg", 3.9)];
    end("receivers of one sender with offload", &pairs(&behind_gso));
    let tied = [("std", 1.0), ("gso>std", 3.9), ("gso>mmsg", 3.9)];
    end("receivers that tie", &pairs(&tied));
    let varied = [
        behind_gso[0],
        ("std>mmsg", 1.2),
        behind_gso[1],
        behind_gso[2],
    ];
    end("senders and receivers", &pairs(&varied));
    let to_std = [("std", 1.0), ("mmsg>std", 1.1), ("gso>std", 3.5)];
    end("senders to one receiver", &pairs(&to_std));
    let offload = [("std", 1.0), ("gso>gro", 9.0), ("gso>mmsg", 3.9)];
    end("only offload besides std", &pairs(&offload));

    let (lost, mut wide) = (
        measured("std", 300, 1.0, 1.4),
        measured("c-plain", 300, 1.5, 0.0),
    );
    (wide.ratio_to_std_low, wide.ratio_to_std_high) = (Some(0.15), Some(4.4));
    end("a wide interval beside an engine that lost", &[lost, wide]);

    end("floods at a given rate", &at_a_rate());
    insta::assert_snapshot!(all);
    assert!(longest <= 19, "{longest} lines");
}

#[test]
fn what_polls_has_its_price_said() {
    let polls = |row: Row, times: f64| Row {
        case: of_key(&format!("{}/busy-50us", row.case.key())),
        busy_poll: "50us".parse().ok(),
        ratio_to_std: row.ratio_to_std.map(|ratio| ratio * times),
        cpu_ratio_to_std: row.cpu_ratio_to_std.map(|ratio| ratio / times),
        ..row
    };
    let rows = ["std", "mmsg"].map(|engine| measured(engine, 26, 1.0, 0.0));
    let rows = rows
        .into_iter()
        .flat_map(|row| [row.clone(), polls(row, 4.0)]);
    let text = ending(&rows.collect::<Vec<_>>());
    let words: Vec<&str> = text.split_whitespace().collect();
    let price = "Busy polling takes CPU time while nothing comes";
    assert!(words.join(" ").contains(price), "{text}");
}

#[test]
fn no_command_is_given_for_messages_that_do_not_go_between_hosts() {
    let rows = |transport: &str| {
        let row = |engine: &str, times: f64| Row {
            case: of_key(&format!(
                "{engine}:{engine}/2t/300B/connected/v4{transport}"
            )),
            transport: transport
                .trim_start_matches('/')
                .parse()
                .unwrap_or_default(),
            ..measured(engine, 300, times, 0.0)
        };
        ending(&[row("std", 1.0), row("tokio", 1.5)])
    };
    assert!(rows("").contains("udpbench wire HOST"));
    assert!(!rows("/unix-dgram").contains("udpbench wire HOST"));
}

#[test]
fn commands_have_the_options_of_the_run_if_it_is_one() {
    let rows = [
        measured("std", 300, 1.0, 0.0),
        measured("tokio", 300, 1.5, 0.0),
    ];
    let typed = "udpbench --engine std,tokio --on board --deploy -o a.csv --pin 0:1";
    let run = || {
        let mut results = file(&rows);
        results.run.command_line = typed.split(' ').map(str::to_owned).collect();
        results
    };
    let next = |results: &[Results]| rank(results).remove(0).answer(RankBy::Both).next.join("\n");
    let expected = "Between two hosts the order may differ:\n\
                    udpbench wire board --deploy --engine std,tokio --pin 0:1";
    assert_eq!(next(&[run()]), expected);
    let several = next(&[run(), run()]);
    assert!(
        several.contains("with your other options:\nudpbench wire HOST --deploy"),
        "{several}"
    );
}
