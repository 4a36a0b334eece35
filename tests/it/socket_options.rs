//! Socket options that are parameters: each is in the rows, and does what it says.

use crate::common::{Place, rows, samples, stderr, stdout};
use udpbench::data::{Checksum, Side, Train};
use udpbench::engines;
use udpbench::host::facts::Host;
use udpbench::results::row::Status;
use udpbench::sys::files::Root;

const SHORT: &str =
    "--threads 2 --payload 300 --connection connected --rounds 5 --duration 50ms --heat 0s";

#[test]
fn trains_of_each_length_are_cases_of_their_own() {
    let place = Place::new();
    let rows = place.sweep(&format!(
        "{SHORT} --engine gso-gro,std --ip v4 --train 1,8,128"
    ));
    let trains = |row: &&udpbench::results::row::Row| row.sender == "gso";
    let gso: Vec<_> = rows.iter().filter(trains).collect();
    let lengths: Vec<Option<usize>> = gso.iter().map(|row| row.train.map(Train::count)).collect();
    assert_eq!(lengths, [Some(1), Some(8), Some(128)]);
    for row in &gso {
        assert_eq!(row.status, Status::Ok, "{:?}", row.reason);
        assert_eq!(row.unaccounted_packets, Some(0));
    }
    assert_eq!(gso[1].label(), "gso>gro/s8/cut");
    let std = rows.iter().filter(|row| row.sender == "std");
    assert!(std.clone().count() == 1 && std.clone().all(|row| row.train.is_none()));
    place.has_them_made_again();
}

#[test]
fn an_option_that_changes_no_case_is_said_to() {
    let place = Place::new();
    let plan_of = |options: &str| {
        let (search, options) = match options.split_once("find lossless ") {
            Some((_, options)) => ("find lossless", options),
            None => ("", options),
        };
        format!("plan {search} --board generic --threads 2 {options}")
    };
    let unused = |options: &str| {
        let plan = stdout(&place.run(&plan_of(options)));
        let lines = plan.lines().filter_map(|line| {
            let (option, _) = line.split_once(" changes nothing in these cases")?;
            option.strip_prefix("advice: ").map(str::to_owned)
        });
        lines.collect::<Vec<String>>()
    };
    for (options, said) in [
        ("--engine std --train 8", "--train 8"),
        ("--engine std,tokio --batch 8,16", "--batch 8"),
        ("--engine std --cmsg none,ecn", "--cmsg ecn"),
        ("--engine mmsg --workload rr --batch 8", "--batch 8"),
        ("--engine std --tokio-workers 0,2", "--tokio-workers 2"),
        ("--engine std --spread hash", "--spread hash"),
        (
            "--engine std --transport tcp --checksum off",
            "--checksum off",
        ),
        ("--engine std --transport tcp --priority 3", "--priority 3"),
        ("find lossless --engine std --cmsg ecn", "--cmsg ecn"),
    ] {
        assert_eq!(unused(options), [said], "{options}");
    }
    for options in [
        "--engine std",
        "--engine std,mmsg,gso --batch 8 --train 8 --cmsg ecn",
        "--engine std --checksum on --priority 0 --cmsg none --busy-poll off --spread even",
        "--engine std --checksum off --priority 3",
    ] {
        assert_eq!(unused(options), [""; 0], "{options}");
    }
    let beside = |options: &str| {
        let plan = stdout(&place.run(&plan_of(options)));
        plan.contains("advice: --cmsg ecn does not reach std: ")
    };
    assert!(beside("--engine std,mmsg --cmsg ecn"));
    assert!(!beside("--engine mmsg --no-reference --cmsg none,ecn"));
    let said = "zerocopy cannot gain over loopback";
    for (named, has) in [
        ("std,gso", false),
        ("std,uring-zerocopy", true),
        ("zerocopy", true),
    ] {
        let plan = place.run(&format!(
            "plan --board generic --threads 2 --engine {named}"
        ));
        let is_unbuilt = named.contains("uring") && engines::find("uring").is_none();
        assert!(
            is_unbuilt || stdout(&plan).contains(said) == has,
            "{}",
            stdout(&plan)
        );
    }
}

#[test]
fn zero_copy_sends_single_datagrams_trains_or_batches_and_tells_that_loopback_copied() {
    let place = Place::new();
    place.run(&format!(
        "{SHORT} --engine zerocopy --no-reference --ip v4,v6 --verify -o alone.csv"
    ));
    place.run(&format!(
        "{SHORT} --engine zerocopy --no-reference --ip v4,v6 --train 8 --verify -o trains.csv"
    ));
    place.run(&format!(
        "{SHORT} --engine uring-zerocopy --no-reference --connection connected,unconnected --verify -o ring.csv"
    ));
    for (file, label) in [
        ("alone.csv", "zerocopy>mmsg/32"),
        ("ring.csv", "uring-zerocopy>uring/32"),
        ("trains.csv", "zerocopy>mmsg/32/s8/cut"),
    ] {
        for row in rows(&place.path(file)) {
            if row.status == Status::Skipped {
                eprintln!("SKIPPED: {}", row.reason);
                continue;
            }
            assert_eq!(row.label(), label);
            assert!(
                row.received_packets > Some(0) && row.corrupted_packets == Some(0),
                "{row:?}"
            );
            assert_eq!(row.unaccounted_packets, Some(0));
            let warning = "the kernel copied all datagrams after all";
            let is_told = row
                .warnings
                .iter()
                .any(|it| it.to_string().contains(warning));
            assert!(is_told, "{:?}", row.warnings);
        }
    }
}

#[test]
fn datagrams_without_checksums_arrive() {
    let place = Place::new();
    place.run(&format!(
        "{SHORT} --engine std,gso --ip v4,v6 --checksum on,off --priority 3 --verify -o off.csv"
    ));
    let rows = rows(&place.path("off.csv"));
    let off: Vec<_> = rows
        .iter()
        .filter(|row| row.checksum == Some(Checksum::Off))
        .collect();
    let of = |engine: &'static str| off.iter().filter(move |row| row.sender == engine);
    assert!(of("std").count() >= 1, "{rows:?}");
    for row in of("std").filter(|row| row.status != Status::Skipped) {
        assert_eq!(row.status, Status::Ok, "{:?}", row.reason);
        assert!(
            row.received_packets > Some(0) && row.corrupted_packets == Some(0),
            "{row:?}"
        );
        assert_eq!(row.priority.map(u8::from), Some(3));
    }
    for row in of("gso") {
        assert_eq!(row.status, Status::Skipped);
        assert!(
            row.reason
                .to_string()
                .contains("segments only what has checksums"),
            "{}",
            row.reason
        );
    }
}

#[test]
fn control_messages_of_each_kind_are_cases_of_their_own_and_arrive_as_sent() {
    let place = Place::new();
    let kinds = "none,timestamp+pktinfo+ecn";
    let many = SHORT.replace("50ms", "10ms");
    let rows = place.sweep(&format!(
        "{many} --engine mmsg,gso-gro,zerocopy,std --ip v4,v6 --tos ef --cmsg {kinds} --verify"
    ));
    let mut found = Vec::new();
    for row in &rows {
        if row.status == Status::Skipped {
            eprintln!("SKIPPED: {}", row.reason);
            continue;
        }
        assert_eq!(row.status, Status::Ok, "{} {}", row.label(), row.reason);
        assert_eq!(row.unaccounted_packets, Some(0), "{}", row.label());
        assert!(
            row.received_packets > Some(0) && row.corrupted_packets == Some(0),
            "{row:?}"
        );
        found.push(row.label());
    }
    for label in ["mmsg/32", "mmsg/32/pktinfo+ecn+timestamp", "std"] {
        assert!(found.iter().any(|it| it == label), "{label} in {found:?}");
    }
    let std = rows.iter().filter(|row| row.sender == "std");
    assert!(std.clone().all(|row| row.cmsg.is_none()));
    place.has_them_made_again();
}

#[test]
fn an_engine_that_cannot_read_a_kind_says_so() {
    if engines::find("quinn-udp").is_none() {
        return;
    }
    let place = Place::new();
    let rows = place.sweep(&format!(
        "{SHORT} --engine quinn-udp --ip v4 --cmsg ecn+timestamp"
    ));
    let row = rows.iter().find(|row| row.sender == "quinn-udp");
    let reason = row.expect("a row").reason.to_string();
    let expected = "quinn-udp reads no other control messages than pktinfo+ecn";
    assert!(reason.contains(expected), "{reason}");
    let asked = stdout(&place.run("plan --engine mmsg --workload rr --cmsg ecn"));
    assert!(asked.contains("control messages need a flood"), "{asked}");
    let refused = stderr(&place.refuses("--engine mmsg --cmsg tos"));
    assert!(refused.contains("joined by +"), "{refused}");
}

#[test]
fn each_receiver_takes_the_packets_of_its_cpu() {
    let place = Place::new();
    let host = Host::read(&Root::default());
    let four = SHORT.replace(
        "--threads 2",
        "--threads 4 --engine std --ip v4 --spread cpu --rate 2k",
    );
    if let Some(why) = &host.incoming_cpu_refusal {
        let rows = place.sweep(&four);
        assert!(
            rows.iter().any(|row| row.reason.to_string() == *why),
            "{rows:?}"
        );
        return;
    }
    let has_rps = host
        .lo_rps_cpus
        .as_ref()
        .is_some_and(|cpus| !cpus.is_empty());
    let [first, second, ..] = host.pinnable_cpus[..] else {
        return;
    };
    if has_rps {
        return;
    }
    // Both senders are on the CPU of one receiver. With the hash, the other one would get half of the flows.
    let output = place.run(&format!(
        "{four} --no-reference --pin {first},{first}:{first},{second} -o out.csv"
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let windows = samples(&place.path("out.jsonl"));
    let received_on = |cpu: usize| -> u64 {
        let threads = windows.iter().flat_map(|window| &window.threads);
        let threads = threads.filter(|it| it.side == Side::Receiver);
        let threads = threads.filter(|it| it.cpu == u32::try_from(cpu).ok());
        threads.map(|it| it.received_packets).sum()
    };
    assert!(received_on(first) > 0, "{windows:?}");
    assert_eq!(received_on(second), 0, "{windows:?}");
}

#[test]
fn receivers_without_a_cpu_or_without_company_take_no_packets_by_cpu() {
    let place = Place::new();
    let four = "--threads 4 --payload 300 --engine std --ip v4 --spread cpu --pin none";
    let plan = stdout(&place.run(&format!("plan {four}")));
    let is_refused = plan.contains("--spread cpu needs receivers on CPUs: leave out --pin none");
    assert!(is_refused || plan.contains("use --spread even"), "{plan}");
    let output = place.refuses(&format!("{SHORT} --engine std --spread cpu"));
    let fix = "--spread cpu: several receivers have to share the port: use --threads 4";
    assert!(stderr(&output).contains(fix), "{}", stderr(&output));
}
