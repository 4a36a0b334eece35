//! Real-time scheduling and locked memory. Both need a permission, without which a run is refused.

use std::fs;

use crate::common::{Place, rows, stderr, stdout};
use udpbench::data::Mlock;
use udpbench::results::log::Log;
use udpbench::sys::scheduling;

const RUN: &str = "--workload rr --engine std --no-reference --threads 2 --payload 100 --ip v4 --connection connected \
                   --heat 0s --warmup 1ms --rounds 5 --duration 50ms -o out.csv";

#[test]
fn real_time_threads_run_or_are_refused_with_the_fix() {
    let place = Place::new();
    let output = place.run(&format!("{RUN} --sched other,fifo:5,rr:6"));
    if scheduling::most_priority().is_none() {
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("--sched fifo:5: "),
            "{}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("setcap cap_sys_nice=ep"),
            "{}",
            stderr(&output)
        );
        assert_eq!(place.files(), [""; 0]);
        return;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let mut found: Vec<(String, String)> = rows(&place.path("out.csv"))
        .into_iter()
        .map(|row| {
            (
                row.sched.map_or_else(String::new, |it| it.to_string()),
                row.case.key(),
            )
        })
        .collect();
    found.sort();
    let key = "std:std/2t/100B/connected/v4";
    let expected = [
        (String::new(), format!("{key}/rr")),
        ("fifo:5".to_owned(), format!("{key}/sched-fifo:5/rr")),
        ("rr:6".to_owned(), format!("{key}/sched-rr:6/rr")),
    ];
    assert_eq!(found, expected);
}

#[test]
fn memory_is_locked_or_that_is_refused_with_the_fix() {
    let place = Place::new();
    let output = place.run(&format!("{RUN} --mlock on"));
    if !scheduling::may_lock_memory() {
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("--mlock on: the limit"),
            "{}",
            stderr(&output)
        );
        return;
    }
    let log: Log = Log::open("FILE", &place.path("out.jsonl")).expect("a log");
    let cases: Vec<_> = log.header.plan.cases().map(|it| it.case.mlock).collect();
    assert_eq!(cases, [Some(Mlock::On)]);
    // A limit may permit less memory than the threads need.
    let is_limited = stdout(&output).contains("cannot be locked");
    assert!(output.status.success() || is_limited, "{}", stderr(&output));
}

#[test]
fn a_case_that_would_stop_the_machine_is_skipped_and_throttling_is_a_warning() {
    let place = Place::new();
    let plan = |runtime: &str, more: &str| {
        let kernel = place.path("root/proc/sys/kernel");
        fs::create_dir_all(&kernel).expect("writable");
        fs::write(kernel.join("sched_rt_runtime_us"), runtime).expect("writable");
        fs::write(kernel.join("sched_rt_period_us"), "1000000\n").expect("writable");
        fs::write(kernel.join("osrelease"), "6.6.31+rpt-rpi-v8\n").expect("writable");
        let status = place.path("root/proc/self");
        fs::create_dir_all(&status).expect("writable");
        fs::write(status.join("status"), "Cpus_allowed_list:\t0-1\n").expect("writable");
        let root = place.path("root").display().to_string();
        stdout(&place.run(&format!(
            "plan --engine null --sched fifo:5 --ip v4 --pin none --root {root} {more}"
        )))
    };
    if scheduling::most_priority().is_none() {
        return;
    }
    let skipped = plan("-1\n", "--threads 2");
    assert!(
        skipped.contains("real-time threads on all CPUs"),
        "{skipped}"
    );
    let alone = plan("-1\n", "--threads 1");
    assert!(!alone.contains("real-time threads on all CPUs"), "{alone}");
    let throttled = plan("950000\n", "--threads 2");
    let warning = "RT throttling stops threads that never sleep for 50 of each 1000 ms";
    assert!(throttled.contains(warning), "{throttled}");
    // Since Linux 6.12 it depends on how the kernel was built.
    let release = place.path("root/proc/sys/kernel/osrelease");
    let boot = place.path("root/boot");
    fs::create_dir_all(&boot).expect("writable");
    for (config, expected) in [
        (
            None,
            "RT throttling may stop threads that never sleep for 50",
        ),
        (
            Some("# CONFIG_RT_GROUP_SCHED is not set\n"),
            "if others wait for their CPU",
        ),
        (Some("CONFIG_RT_GROUP_SCHED=y\n"), warning),
    ] {
        fs::write(&release, "6.12.25\n").expect("writable");
        if let Some(config) = config {
            fs::write(boot.join("config-6.12.25"), config).expect("writable");
        }
        let told = stdout(&place.run(&format!(
            "plan --engine null --sched fifo:5 --ip v4 --pin none --threads 2 --root {}",
            place.path("root").display()
        )));
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(expected), "{config:?}: {told}");
    }
}

#[test]
fn real_time_threads_that_never_sleep_are_skipped_where_others_need_their_cpu() {
    if scheduling::most_priority().is_none() {
        return;
    }
    let place = Place::new();
    let status = place.path("root/proc/self");
    fs::create_dir_all(&status).expect("writable");
    fs::write(status.join("status"), "Cpus_allowed_list:\t0-1\n").expect("writable");
    let root = place.path("root").display().to_string();
    let plan = |arguments: &str| {
        let output = place.run(&format!(
            "plan --sched rr:5 --ip v4 --root {root} {arguments}"
        ));
        let text = stdout(&output) + &stderr(&output);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let starves = "real-time threads that never sleep would keep others off";
    for (arguments, place) in [
        (
            "--engine std --threads 2 --pin 1:1 --wait spin --workload rr",
            "CPU 1",
        ),
        ("--engine std --threads 2 --pin 1:1", "CPU 1"),
        (
            "--engine std --threads 2 --pin 0:1 --workload bidir",
            "CPU 0",
        ),
        ("--engine std --threads 4 --pin none", "the 2 CPUs"),
    ] {
        let text = plan(arguments);
        assert!(
            text.contains(&format!("{starves} {place}")),
            "{arguments}: {text}"
        );
    }
    for arguments in [
        "--engine std --threads 2 --pin 1:1 --workload rr",
        "--engine std --threads 2 --pin 0:1 --wait spin --workload rr",
        "--engine std --threads 2 --pin 1:1 --rate 1k",
        "--engine std --threads 2 --pin none",
        "--engine std --threads 1 --pin none",
    ] {
        let text = plan(arguments);
        assert!(!text.contains(starves), "{arguments}: {text}");
    }
}
