//! Placement of threads on CPUs by the profiles.

use std::collections::BTreeSet;
use std::fmt::Write;

use insta::assert_snapshot;
use udpbench::host::board::{self, Board};
use udpbench::host::facts::{Cpu, Host};

use crate::common::hosts;

use super::{all, host, plan_command, profile, stdout, threads};

/// Each host: its board, then the CPUs of so many threads; senders before the `>`.
#[test]
fn each_host_places_its_threads_as_its_profile_says_or_says_why_not() {
    let mut told = String::new();
    for name in hosts::names() {
        let host = host(&name);
        let board = board::detect(&host).expect("valid profiles").board;
        writeln!(told, "{name} ({board})").expect("is text");
        for line in placements(&board, &host) {
            writeln!(told, "  {line}").expect("is text");
        }
    }
    assert_snapshot!("hosts", told);
}

fn placements(board: &Board, host: &Host) -> Vec<String> {
    let mut lines = Vec::new();
    for count in [1, 2, 3, 4, 6, 8, 12, 16] {
        match board.placement(threads(count), host) {
            Ok(placed) => {
                let reason = placed.fallback_reason.map(|reason| format!("  ! {reason}"));
                let reason = reason.unwrap_or_default();
                lines.push(format!("{count:>2}: {}{reason}", placed.placement));
            }
            Err(reason) => {
                lines.push(format!("{count:>2}: - {reason}"));
                break; // the same for more
            }
        }
    }
    lines
}

/// Each profile: the CPUs of 1, 2, 3 ... threads of one role.
#[test]
fn each_profile_leaves_cpu_0_to_the_network_as_long_as_there_are_others() {
    let mut told = String::new();
    for board in all() {
        let cpus: Vec<String> = (1..=4)
            .map(|count| match board.one_sided_cpus(threads(count)) {
                Some(cpus) => cpus
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(","),
                None => "-".to_owned(),
            })
            .collect();
        writeln!(told, "{board}: {}", cpus.join("  ")).expect("is text");
        for count in 1..=4 {
            let has_others = board
                .cpus
                .as_ref()
                .is_some_and(|cpus| cpus.count > usize::from(count));
            let takes_it = board
                .one_sided_cpus(threads(count))
                .is_some_and(|cpus| cpus.contains(&0));
            assert!(!(has_others && takes_it), "{board}, {count} threads");
        }
    }
    assert_snapshot!("wire", told);
}

#[test]
fn every_profile_places_its_default_threads_on_its_own_board() {
    for name in hosts::names() {
        let host = host(&name);
        let board = board::detect(&host).expect("valid profiles").board;
        if board.name != name {
            continue; // a variant that is there for what does not fit
        }
        for &threads in &board.defaults.threads {
            let placed = board.placement(threads, &host).expect("has a place");
            assert_eq!(placed.fallback_reason, None, "{name}, {threads} threads");
        }
    }
}

#[test]
fn more_threads_than_cpus_leave_no_cpu_idle() {
    for name in hosts::names() {
        let host = host(&name);
        let cpus = u16::try_from(host.cpus.len()).expect("few");
        let board = board::detect(&host).expect("valid").board;
        for count in cpus..=2 * cpus {
            let Ok(placed) = board.placement(threads(count), &host) else {
                assert_eq!(board.name, "rpi-zero-2-w", "too little memory");
                continue;
            };
            let used: BTreeSet<_> = placed.placement.cpus().flatten().collect();
            assert_eq!(
                used.len(),
                usize::from(cpus),
                "{name}, {count} threads: {used:?}"
            );
        }
    }
}

#[test]
fn the_plan_says_where_each_case_runs() {
    assert_snapshot!("plan-rpi-4b", plan("rpi-4b", "1,2,3,4,8,9"));
    assert_snapshot!("plan-rpi-zero-w", plan("rpi-zero-w", "1,2,3"));
}

#[test]
fn a_pi_4b_in_a_cpuset_falls_back_to_the_generic_placement_and_says_so() {
    assert_snapshot!(
        "plan-rpi-4b-two-cpus",
        plan("rpi-4b-two-cpus", "1,2,3,4,8,9")
    );
}

#[test]
fn two_cpus_are_shared_by_more_threads() {
    assert_snapshot!("plan-x86-vm", plan("x86-vm", "1,2,3,4,8,9"));
}

#[test]
fn a_profile_forced_on_a_machine_with_too_few_cpus_falls_back_and_says_so() {
    let mut command = plan_command("x86-vm", "1,2,4,9");
    let output = stdout(command.args(["--board", "rpi-4b"]));
    assert_snapshot!("plan-x86-vm-as-rpi-4b", output);
}

#[test]
fn a_profile_forced_on_a_machine_with_more_cpus_falls_back_and_says_so() {
    let fallback = fallback("rpi-4b", &host("rock-5b"));
    assert_eq!(
        fallback.as_deref(),
        Some("generic placement: rpi-4b has 4 CPUs, but this host has a CPU 4")
    );
}

#[test]
fn big_cores_with_other_numbers_contradict_the_profile() {
    let fallback = fallback("rock-5b", &host("rock-5b-renumbered"));
    assert_eq!(
        fallback.as_deref(),
        Some("generic placement: CPU 4 is big in rock-5b, but here not bigger than CPU 3")
    );
}

#[test]
fn a_kernel_that_does_not_tell_big_cores_from_others_contradicts_the_profile() {
    let alike = |cpu: &Cpu| Cpu {
        capacity: 1024,
        part: 0,
        max_khz: 0,
        ..*cpu
    };
    let shown = host("rock-5b");
    let host = Host {
        cpus: shown.cpus.iter().map(alike).collect(),
        ..shown
    };
    assert_eq!(
        fallback("rock-5b", &host).as_deref(),
        Some("generic placement: CPU 4 is big in rock-5b, but here not bigger than CPU 3")
    );
}

#[test]
fn without_capacities_the_kind_of_core_tells_which_are_big() {
    let alike = |cpu: &Cpu| Cpu {
        capacity: 1024,
        ..*cpu
    };
    for name in ["rock-5b", "rockpro64", "odroid-n2-plus"] {
        let shown = host(name);
        let host = Host {
            cpus: shown.cpus.iter().map(alike).collect(),
            ..shown
        };
        assert_eq!(fallback(name, &host), None, "{name}");
    }
}

#[test]
fn of_clusters_alike_but_for_their_clocks_the_faster_one_is_used() {
    let host = host("libretech-s912");
    let placed = profile("generic").placement(threads(2), &host);
    assert_eq!(placed.expect("has a place").placement.to_string(), "3>2");
}

#[test]
fn big_clusters_that_differ_a_little_are_all_big() {
    let host = host("orange-pi-5-vendor");
    let capacities: BTreeSet<u32> = host.cpus.iter().map(|cpu| cpu.capacity).collect();
    assert_eq!(capacities, [414, 1002, 1024].into());
    assert_eq!(fallback("orange-pi-5", &host), None);
}

#[test]
fn a_cpuset_of_one_kind_of_cores_is_no_contradiction() {
    let shown = host("rock-5b");
    for kind in [0..4, 4..8] {
        let host = Host {
            cpus: shown.cpus[kind.clone()].to_vec(),
            ..shown.clone()
        };
        assert_eq!(profile("rock-5b").contradiction(&host), None, "{kind:?}");
    }
}

/// Why two threads do not go where the profile says, if they do not.
fn fallback(name: &str, host: &Host) -> Option<String> {
    let placed = profile(name).placement(threads(2), host);
    placed.expect("has a place").fallback_reason
}

fn plan(name: &str, threads: &str) -> String {
    stdout(&mut plan_command(name, threads))
}
