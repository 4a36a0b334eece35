//! Busy polling: its rows over loopback, where it has no effect, and its refusals.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use crate::common::{Place, copy_program, rows, stderr, stdout};
use udpbench::data::BusyPoll;
use udpbench::engines;
use udpbench::results::row::{CaseWarning, Row, Status};
use udpbench::sys::busy_poll::Refusals;

const SHORT: &str = "--no-reference --threads 2 --payload 100 --ip v4 --connection connected --heat 0s --warmup 1ms \
                     --rounds 5 --duration 20ms";

#[test]
fn a_row_says_what_polled_and_that_loopback_has_nothing_to_poll() {
    let place = Place::new();
    let uring = engines::find("uring").map_or("", |_| ",uring");
    place.run(&format!(
        "{SHORT} --engine std,epoll-level,mio-level,poll{uring} --busy-poll off,50us -o out.csv"
    ));
    let refusals = Refusals::read();
    let rows = rows(&place.path("out.csv"));
    let of = |engine: &str, polls: bool| -> Option<Row> {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.receiver == engine && row.busy_poll.is_some() == polls);
        row.cloned()
    };
    let has_effect = |row: &Row| {
        !row.warnings
            .iter()
            .any(|it| *it == CaseWarning::NothingToPoll.into())
    };
    for (engine, by, needs) in [
        ("std", "socket", &None),
        ("poll", "socket", &None),
        ("epoll-level", "socket+epoll", &refusals.epoll),
        ("mio-level", "socket+epoll", &refusals.epoll),
        ("uring", "socket+uring", &refusals.ring),
    ] {
        let Some((off, on)) = of(engine, false).zip(of(engine, true)) else {
            assert_eq!(engine, "uring", "the others are in every build");
            continue;
        };
        assert!(has_effect(&off) && off.busy_poll_by.is_empty(), "{off:?}");
        if off.status == Status::Skipped {
            continue; // no io_uring
        }
        if let Some(why) = refusals.socket.as_ref().or(needs.as_ref()) {
            assert_eq!(
                (on.status, on.reason.to_string().as_str()),
                (Status::Skipped, why.as_str())
            );
            continue;
        }
        assert_eq!(on.status, Status::Ok, "{}", on.reason);
        assert_eq!(on.busy_poll, Some(BusyPoll { us: 50 }));
        assert_eq!(
            (on.busy_poll_by.as_str(), on.busy_poll_napi_pct),
            (by, Some(0.0)),
            "{engine}"
        );
        assert!(!has_effect(&on), "{:?}", on.warnings);
        let waits_elsewhere = on
            .warnings
            .iter()
            .any(|it| it.to_string().contains("waits in poll(2)"));
        assert_eq!(waits_elsewhere, engine == "poll", "{:?}", on.warnings);
    }
    place.has_them_made_again();
}

#[test]
fn clients_poll_too() {
    let place = Place::new();
    place.run(&format!(
        "{SHORT} --workload rr --sender epoll-drain --receiver std --busy-poll 20us -o out.csv"
    ));
    let row = &rows(&place.path("out.csv"))[0];
    if row.status == Status::Skipped {
        let refusals = Refusals::read();
        assert!(
            refusals.socket.is_some() || refusals.epoll.is_some(),
            "{}",
            row.reason
        );
        return;
    }
    assert_eq!(row.busy_poll_by, "socket+epoll", "{row:?}");
}

#[test]
fn without_permission_the_case_is_skipped_with_the_fix() {
    const NOBODY: u32 = 65_534;
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    if !is_root && Refusals::read().socket.is_none() {
        return; // A file capability, which stays.
    }
    let place = Place::new();
    // Nobody must reach the program.
    let copy = std::env::temp_dir().join(format!("udpbench-polls-{}", std::process::id()));
    copy_program(&copy);
    let mut command = Command::new(&copy);
    command.args(format!("plan {SHORT} --engine std --busy-poll 50us").split_whitespace());
    command.current_dir("/");
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output: Output = command.output().expect("it starts");
    std::fs::remove_file(&copy).expect("it is there");
    let plan = stdout(&output);
    assert!(plan.contains("--busy-poll"), "{plan}{}", stderr(&output));
    assert!(
        plan.contains("CAP_NET_ADMIN: use sudo") || plan.contains("Linux 5.11"),
        "{plan}"
    );
    drop(place);
}

#[test]
fn times_out_of_range_are_refused() {
    let place = Place::new();
    for time in ["0us", "11ms", "50"] {
        let output = place.refuses(&format!("{SHORT} --engine std --busy-poll {time}"));
        assert!(
            stderr(&output).contains("from 1us to 10ms"),
            "{}",
            stderr(&output)
        );
    }
}
