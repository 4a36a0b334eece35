//! Plans of made-up hosts.

use std::time::Duration;

use proptest::prelude::*;

use super::remarks::MOST_SHOWN;
use super::*;
use crate::data::{Batch, Buffer, Connection, Ip, Sharing, Wait, Workload};
use crate::engines;
use crate::host::board;

fn host() -> Host {
    Host {
        cpus: (0..4)
            .map(|id| crate::host::facts::Cpu {
                id,
                capacity: 1024,
                part: 0,
                max_khz: 0,
                core: id,
                cache: 0,
            })
            .collect(),
        v6_refusal: Some("no IPv6".to_owned()),
        ..Host::default()
    }
}

fn plan(axes: &Axes, board: &str) -> Plan {
    let conditions = Conditions {
        host: &host(),
        board: &board::find("a test", board, "").expect("compiled in"),
        pin: &Pin::Board,
        steering_refusal: None,
        loopback_refusal: None,
        engine_refusals: &[],
        remote: None,
    };
    Plan::new(axes, &conditions)
}

fn axes(engines: &[&str], threads: &[u16], ip: Ip) -> Axes {
    let entry = |name: &&str| engines::find(name).expect("registered");
    Axes {
        engines: engines
            .iter()
            .map(|name| (entry(name), entry(name)))
            .collect(),
        engines_are_asked: true,
        threads: threads
            .iter()
            .map(|&n| n.try_into().expect("in range"))
            .collect(),
        payload: vec![300.try_into().expect("in range")],
        connection: vec![Connection::Unconnected],
        ip: vec![ip],
        batch: vec![Batch::DEFAULT],
        train: Vec::new(),
        loopback: Vec::new(),
        priority: Vec::new(),
        checksum: Vec::new(),
        cmsg: Vec::new(),
        busy_poll: Vec::new(),
        tokio_workers: Vec::new(),
        wait: Vec::new(),
        rcvbuf: vec![Buffer::DEFAULT],
        sndbuf: Vec::new(),
        tos: Vec::new(),
        sched: Vec::new(),
        mlock: Vec::new(),
        workload: Vec::new(),
        transport: Vec::new(),
        direction: vec![],
        address: Vec::new(),
        flows: Vec::new(),
        outstanding: Vec::new(),
        think_time: Vec::new(),
        rate: Vec::new(),
        arrivals: Vec::new(),
        service: Vec::new(),
        server_model: Vec::new(),
        duplex: Vec::new(),
        sharings: vec![Sharing::DEFAULT],
        reference: true,
    }
}

fn reason(axes: &Axes, board: &str) -> String {
    let plan = plan(axes, board);
    let (_, reason) = plan.skipped().last().expect("something is skipped");
    reason.to_owned()
}

#[test]
fn what_cannot_run_is_in_the_plan_with_its_reason() {
    let starved = reason(&axes(&["mio-exhaustive"], &[1], Ip::V4), "generic");
    assert!(
        starved.starts_with("mio-exhaustive starves with 1 thread"),
        "{starved}"
    );
    let no_ipv6 = reason(&axes(&["std"], &[2], Ip::V6), "generic");
    assert!(no_ipv6.starts_with("no IPv6; "), "{no_ipv6}");
    let crowded = reason(&axes(&["std"], &[9], Ip::V4), "rpi-4b");
    assert!(crowded.contains("at most 8 threads"), "{crowded}");
    let mut mixed = axes(&["std"], &[2], Ip::V4);
    mixed.engines[0].1 = engines::find("null").expect("registered");
    assert_eq!(
        reason(&mixed, "generic"),
        "null moves no datagrams: sender and receiver must both be null"
    );
    mixed.engines[0].1 = engines::find("mio-level").expect("registered");
    mixed.threads = vec![1.try_into().expect("in range")];
    assert!(reason(&mixed, "generic").starts_with("one thread runs one engine"));
}

#[cfg(feature = "tokio")]
#[test]
fn a_thread_that_never_gives_way_needs_a_worker_of_its_own() {
    let last = |engine: &str, workers: u16| {
        let mut axes = axes(&[engine], &[4], Ip::V4);
        axes.tokio_workers = vec![workers.try_into().expect("in range")];
        let plan = plan(&axes, "generic");
        plan.cases().last().map(|planned| planned.verdict.clone())
    };
    let skip = "tokio-exhaustive never yields: 4 tasks need 4 workers, not 3";
    let skip = Some(Decision::Skip(skip.to_owned()));
    assert_eq!(last("tokio-exhaustive", 3), skip);
    for (engine, workers) in [("tokio-exhaustive", 4), ("tokio", 1), ("std", 1)] {
        let verdict = last(engine, workers);
        assert!(
            matches!(verdict, Some(Decision::Run(..))),
            "{engine}: {verdict:?}"
        );
    }
}

#[cfg(feature = "tokio")]
#[test]
fn workers_are_the_threads_that_share_the_cpus() {
    let mut axes = axes(&["tokio"], &[2], Ip::V4);
    axes.tokio_workers = vec![3.try_into().expect("in range")];
    let plan = plan(&axes, "generic");
    let last = plan.cases().last().map(|planned| planned.verdict.clone());
    let Some(Decision::Run(_, warnings)) = last else {
        panic!("skipped: {last:?}")
    };
    let shared = PlanWarning::SharedCpus {
        threads: 3,
        cpus: 2,
        location: None,
    };
    assert_eq!(warnings, [shared]);
}

#[test]
fn warnings_at_the_start_are_one_line_each_with_the_number_of_cases() {
    let warnings = |threads: &[u16]| plan(&axes(&["std"], threads, Ip::V4), "generic").warnings();
    let odd = [
        "3 flows cannot be spread evenly over 2 receivers: some get more",
        "5 threads share 4 CPUs",
        "an odd thread count: 3 send, 2 receive",
    ];
    assert!(warnings(&[2]).is_empty());
    assert_eq!(warnings(&[5]), odd.map(|text| format!("warning: {text}")));
    let of_two = odd.map(|text| format!("warning: 2 of 4 cases: {text}"));
    assert_eq!(warnings(&[2, 5]), of_two);
    let many = warnings(&[5, 7]);
    assert_eq!(many.len(), MOST_SHOWN + 1, "{many:?}");
    assert_eq!(
        many[MOST_SHOWN],
        "warning: 2 more: udpbench plan shows them"
    );
}

#[test]
fn what_runs_but_misleads_carries_a_warning() {
    let warnings = |axes: &Axes| match &plan(axes, "generic").blocks[0].cases[0].verdict {
        Decision::Run(_, warnings) => {
            let texts = warnings.iter().map(ToString::to_string);
            texts.collect::<Vec<String>>().join("; ")
        }
        Decision::Skip(reason) => panic!("skipped: {reason}"),
    };
    assert_eq!(warnings(&axes(&["std"], &[2], Ip::V4)), "");
    assert_eq!(
        warnings(&axes(&["std"], &[5], Ip::V4)),
        "5 threads share 4 CPUs; an odd thread count: 3 send, 2 receive; \
         3 flows cannot be spread evenly over 2 receivers: some get more"
    );
}

#[test]
fn a_sender_that_is_the_limit_is_no_judge_of_receivers() {
    let meet = |sender: &str, receivers: &[&str]| {
        let mut axes = axes(&[], &[1, 2], Ip::V4);
        let entry = |name: &str| engines::find(name).expect("registered");
        let pairs = receivers.iter().map(|name| (entry(sender), entry(name)));
        axes.engines = pairs.collect();
        axes.advice()
    };
    let advice = meet("std", &["std", "mmsg"]).expect("std is the limit");
    assert!(advice.contains("--sender gso"), "{advice}");
    assert_eq!(meet("gso", &["std", "mmsg"]), None);
    assert_eq!(meet("std", &["mmsg"]), None);
}

#[test]
fn the_reference_is_in_every_block_once() {
    let plan = plan(&axes(&["mio-level", "std"], &[1, 2], Ip::V4), "generic");
    for block in &plan.blocks {
        let references = block
            .cases
            .iter()
            .filter(|planned| planned.case.is_reference());
        assert_eq!(references.count(), 1);
    }
}

proptest! {
    #[test]
    fn every_point_of_the_matrix_is_in_the_plan_exactly_once(
        engines in proptest::sample::subsequence(vec!["null", "std", "mio-level", "mio-once"], 1..=4),
        threads in proptest::collection::btree_set(1_u16..=256, 1..5),
        payloads in proptest::collection::btree_set(0_u32..=65_507, 1..5),
        ips in proptest::sample::subsequence(vec![Ip::V4, Ip::V6], 1..=2),
        board in proptest::sample::select(vec!["generic", "rpi-4b", "rpi-5"]),
    ) {
        let threads: Vec<u16> = threads.into_iter().collect();
        let mut axes = axes(&engines, &threads, Ip::V4);
        axes.payload = payloads.into_iter().map(|n| n.try_into().expect("in range")).collect();
        axes.ip = ips;
        axes.connection = vec![Connection::Connected, Connection::Unconnected];
        axes.reference = false;
        let plan = plan(&axes, board);
        let mut keys: Vec<String> = plan.cases().map(|planned| planned.case.key()).collect();
        let points = engines.len() * threads.len() * axes.payload.len() * axes.ip.len() * 2;
        prop_assert_eq!(keys.len(), points);
        keys.sort();
        keys.dedup();
        prop_assert_eq!(keys.len(), points);
        for planned in plan.runnable() {
            let Decision::Run(placement, _) = &planned.verdict else { unreachable!() };
            prop_assert_eq!(placement.cpus().count(), planned.case.threads.count());
        }
    }
}

#[test]
fn only_engines_that_can_do_both_are_asked_how_to_wait() {
    let mut axes = axes(&["std", "mmsg", "nix"], &[2], Ip::V4);
    axes.wait = vec![Wait::Block, Wait::Spin];
    let plan = plan(&axes, "generic");
    let keys: Vec<String> = plan.cases().map(|planned| planned.case.key()).collect();
    let case = |engine: &str, rest: &str| format!("{engine}:{engine}/2t/300B/unconnected/v4{rest}");
    assert_eq!(
        keys,
        [
            "std:std/2t/300B/connected/v4".to_owned(),
            case("std", ""),
            case("std", "/spin"),
            case("mmsg", "/batch32"),
            case("mmsg", "/batch32/spin"),
            case("nix", ""),
        ]
    );
}

#[test]
fn flows_that_cannot_be_had_say_what_is_too_many_of_what() {
    let reason = |flows: u16, change: fn(&mut Axes)| {
        let mut axes = axes(&["epoll-level"], &[4], Ip::V4);
        axes.reference = false;
        axes.flows = vec![flows.try_into().expect("in range")];
        change(&mut axes);
        let conditions = Conditions {
            host: &Host {
                open_files: Some(20_000),
                v6_refusal: None,
                ..host()
            },
            board: &board::find("a test", "generic", "").expect("compiled in"),
            pin: &Pin::Board,
            steering_refusal: None,
            loopback_refusal: None,
            engine_refusals: &[],
            remote: None,
        };
        let plan = Plan::new(&axes, &conditions);
        let found = plan.skipped().last().map(|(_, reason)| reason.to_owned());
        found.unwrap_or_default()
    };
    let both_ways = |axes: &mut Axes| axes.workload = vec![Workload::Bidir];
    let asks = |axes: &mut Axes| axes.workload = vec![Workload::Rr];
    assert_eq!(reason(3000, |_| {}), "");
    assert!(reason(3400, |_| {}).starts_with("6800 flows take 20496 open files, and 20000 may be"));
    assert!(reason(3000, both_ways).starts_with("6000 flows take 36096 open files"));
    assert_eq!(reason(4950, asks), "");
    assert!(reason(5000, asks).starts_with("10000 flows take 20100 open files"));
    let from_each = |axes: &mut Axes| {
        axes.workload = vec![Workload::Rr];
        axes.connection = vec![Connection::Connected];
    };
    assert!(reason(3000, from_each).starts_with("6000 flows take 24096 open files"));
    assert!(reason(30_000, both_ways).starts_with("60000 flows, more than 32767"));
    assert!(reason(10_000, |axes| axes.ip = vec![Ip::V6]).ends_with("use --ip v4"));
    let large = |axes: &mut Axes| axes.payload = vec![65_507.try_into().expect("in range")];
    assert!(reason(2000, large).ends_with("use fewer --flows or a smaller --payload"));
    let single =
        |axes: &mut Axes| axes.engines = vec![(engines::reference(), engines::reference())];
    assert!(reason(2, single).starts_with("std serves one socket per thread"));
}

#[test]
fn logs_have_numbers_of_datagrams_as_before_and_bits_as_text() {
    for (text, stored) in [("20k", "20000"), ("100Mbit", "\"100Mbit\"")] {
        let rate = text.parse::<crate::data::AskedRate>().expect(text);
        assert_eq!(serde_json::to_string(&rate).expect("stored"), stored);
        assert_eq!(
            serde_json::from_str::<crate::data::AskedRate>(stored).expect(stored),
            rate
        );
    }
    for wrong in ["0", "-1", "\"fast\"", "1.5"] {
        assert!(
            serde_json::from_str::<crate::data::AskedRate>(wrong).is_err(),
            "{wrong}"
        );
    }
}

/// Returns the schedule of a plan of `std` with this direction, and the plan.
fn schedule_of_std(direction: Option<crate::data::Direction>) -> (Schedule, Plan) {
    let mut plan = plan(&axes(&["std"], &[2], Ip::V4), "generic");
    for planned in plan.blocks.iter_mut().flat_map(|block| &mut block.cases) {
        planned.case.direction = direction;
    }
    let settings = Settings {
        warmup: Duration::from_millis(50),
        window: Duration::from_millis(200),
        request_time: Duration::from_millis(3),
        ..Settings::default()
    };
    let schedule = Schedule {
        settings,
        rounds: 10,
        until: None,
        verify: false,
        heat: Duration::from_secs(2),
        cooldown: None,
        seed: 0,
    };
    (schedule, plan)
}

#[test]
fn the_expected_time_is_that_of_all_windows_and_of_the_waits_around_them() {
    let (mut schedule, plan) = schedule_of_std(None);
    let cases = u32::try_from(plan.runnable().count()).expect("few");
    assert!(cases > 0);
    let settings = &schedule.settings;
    let restart = settings.time_of_restart();
    let here = settings.time_per_window();
    assert!(here > settings.warmup + settings.window + settings.request_time);
    let all = schedule.heat + (here * cases + restart) * 10;
    assert_eq!(schedule.expected_time(&plan), all);
    let each = schedule.time_per_window(&plan);
    assert_eq!(
        each,
        (here * cases + restart) / cases,
        "a restart is shared"
    );
    // Verification: once per case, without the warm-up.
    let verifying = (here.saturating_sub(settings.warmup + settings.window) + VERIFYING) * cases;
    schedule.verify = true;
    assert_eq!(schedule.expected_time(&plan), all + verifying);
}

#[test]
fn a_window_between_two_hosts_waits_until_the_path_is_quiet() {
    let (mut schedule, plan) = schedule_of_std(Some(crate::data::Direction::Up));
    let case = plan.cases().next().expect("std").case;
    let of = |schedule: &Schedule| schedule.settings.time_of(&case);
    let own = schedule.settings.time_per_window();
    assert!(of(&schedule) > own + QUIET_ON_A_PATH);
    // On a path with delay, each of its requests takes longer.
    let near = of(&schedule);
    schedule.settings.request_time += Duration::from_millis(50);
    assert!(of(&schedule) >= near + Duration::from_millis(50) * 7);
    assert!(schedule.expected_time(&plan) > schedule.heat + of(&schedule) * 10);
}

#[test]
fn ends_that_share_a_cpu_are_told_the_cpus_that_they_can_have_or_that_there_are_too_few() {
    let host = host();
    let pinned = |pin: Pin| {
        let conditions = Conditions {
            host: &host,
            board: &board::find("a test", "generic", "").expect("compiled in"),
            pin: &pin,
            steering_refusal: None,
            loopback_refusal: None,
            engine_refusals: &[],
            remote: None,
        };
        Plan::new(&axes(&["std"], &[2], Ip::V4), &conditions)
    };
    let shared = |plan: &Plan| plan.runnable().find_map(|planned| planned.shared_cpu(None));
    assert_eq!(shared(&pinned(Pin::Board)), None);
    assert_eq!(shared(&pinned(Pin::None)), None);
    let plan = pinned(Pin::To(vec![1], vec![1]));
    assert_eq!(shared(&plan), Some(1));
    assert_eq!(plan.pin_apart(&host.cpus), Ok(Pin::To(vec![3], vec![2])));
    let only = plan.pin_apart(&host.cpus[..1]);
    assert!(only.is_err_and(|instead| instead.contains("only one CPU")));
    let eight = self::plan(&axes(&["std"], &[2, 8], Ip::V4), "generic");
    let crowd = eight.pin_apart(&host.cpus);
    assert!(crowd.is_err_and(|instead| instead.contains("too few CPUs")));
}
