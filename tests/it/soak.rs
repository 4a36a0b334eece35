//! Soaks: over loopback, and between two hosts with known faults, each of which has to be one event.

mod far_losses;
mod full_disk;
mod one_way;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use udpbench::log::Log;
use udpbench_field::soak::event::{Counter, Event, Kind, Place as Where, Remark};
use udpbench_field::soak::log::{Entry, SoakLog};

use crate::common::lab::{End, Lab};
use crate::common::{Place, assert_code, path_with_program, program, stderr, stdout, wait_until};

fn log(path: &Path) -> SoakLog {
    Log::open("FILE", path).expect("a log").into()
}

/// Sent probes, unsent ones, and the time of all minutes in ms.
fn counts(log: &SoakLog) -> (u64, u64, u64) {
    let minutes = log.lines.iter().filter_map(|entry| match entry {
        Entry::Minute(minute) => Some(minute),
        _ => None,
    });
    minutes.fold((0, 0, 0), |(sent, unsent, ms), minute| {
        assert_eq!(minute.probes.returned, minute.probes.sent, "{minute:?}");
        let length_ms = minute.probes.length_ns / 1_000_000;
        (
            sent + minute.probes.sent,
            unsent + minute.probes.unsent,
            ms + length_ms,
        )
    })
}

#[test]
fn a_quiet_path_loses_nothing_and_the_summary_follows_from_the_log() {
    let place = Place::new();
    let output = place.run("soak --for 1s --rate 500 --payload 100 -o soak.jsonl");
    assert_code(&output, 0);
    let text = stdout(&output);
    let (_, summary) = text.split_once("soak ").expect("a summary");
    assert!(
        summary.contains("500 probes of 100 B per second over loopback\n"),
        "{text}"
    );
    assert!(
        summary.contains("available  100.0000 % of the time: no silence"),
        "{text}"
    );
    let (sent, unsent, ms) = counts(&log(&place.path("soak.jsonl")));
    assert_eq!((sent + unsent, ms), (500, 1000));
    let again = place.run("summarize soak.jsonl");
    assert_code(&again, 0);
    assert_eq!(stdout(&again), format!("soak {summary}"));
    let refused = stderr(&place.refuses("resume soak.jsonl"));
    assert!(refused.contains("it is complete"), "{refused}");
}

#[test]
fn bad_input_is_refused_with_the_fix() {
    let place = Place::new();
    for (words, fix) in [
        ("--rate 300k", "use 1 to 200k"),
        ("--payload 47", "from 48 to 65507"),
        ("--for 8", "write 8ms or 8s"),
        ("--for 1ms --rate 10", "not a single probe is due"),
        ("--address 10.0.0.1", "use udpbench wire USER@HOST soak"),
    ] {
        let refused = stderr(&place.refuses(&format!("soak {words}")));
        assert!(refused.contains(fix), "{words}: {refused}");
    }
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn an_interrupted_soak_shows_its_summary_and_goes_on_for_the_rest_of_its_time() {
    let place = Place::new();
    let mut command = place.udpbench("soak --for 2s --rate 500 -o soak.jsonl");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let soak = command.spawn().expect("it starts");
    wait_until("the log begins", || place.path("soak.jsonl").exists());
    thread::sleep(Duration::from_millis(700));
    interrupt(&soak);
    let output = soak.wait_with_output().expect("it ends");
    assert_code(&output, 130);
    assert!(
        stdout(&output).contains("not to its end"),
        "{}",
        stdout(&output)
    );
    let how = stderr(&output);
    assert!(how.contains("udpbench resume soak.jsonl"), "{how}");
    let elapsed_ns = log(&place.path("soak.jsonl")).elapsed_ns();
    let left = place.run("resume soak.jsonl");
    assert_code(&left, 0);
    let log = log(&place.path("soak.jsonl"));
    let (sent, unsent, ms) = counts(&log);
    assert!((990..=1000).contains(&(sent + unsent)), "{sent} {unsent}");
    assert!((1980..=2000).contains(&ms), "{ms}");
    let resumed = log.lines.iter().find_map(|entry| match entry {
        Entry::Remark(note) if note.what == Remark::Resumed => Some(note.start_ns),
        _ => None,
    });
    assert!(resumed.is_some_and(|at| at >= elapsed_ns), "{resumed:?}");
}

#[test]
fn a_soak_that_was_killed_before_its_first_line_and_goes_on_says_from_when_to_when_nothing_was_measured()
 {
    let place = Place::new();
    let mut command = place.udpbench("soak --for 2s --rate 500 -o soak.jsonl");
    let mut soak = command.stderr(Stdio::null()).spawn().expect("it starts");
    let path = place.path("soak.jsonl");
    wait_until("the log begins", || {
        fs::read_to_string(&path).is_ok_and(|it| it.ends_with('\n'))
    });
    soak.kill().expect("it runs");
    soak.wait().expect("it is reaped");
    let output = place.run("resume soak.jsonl");
    assert_code(&output, 0);
    let started_at = log(&path).header.run.started_at.clone();
    let (day_and_time, _) = started_at.split_at("2026-11-29T10:00:00".len());
    let said = format!("resumed    not measured from {day_and_time}");
    assert!(stdout(&output).contains(&said), "{}", stdout(&output));
}

fn interrupt(process: &Child) {
    let pid = i32::try_from(process.id()).expect("a pid");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("it runs");
}

/// A soak between two ends, and the pids of its agents.
struct Watched<'a> {
    lab: &'a Lab,
    place: &'a Place,
}

impl Watched<'_> {
    fn start(&self, words: &str) -> Child {
        let program = program();
        let program = program.get_program().to_str().expect("UTF-8");
        let far = self.lab.far("x");
        let enter = far.get_program().to_str().expect("UTF-8");
        // The third agent is on a host that has another boot id. It boots for longer than --outage.
        fs::write(self.place.path("boot"), "another\n").expect("a new file");
        let boot = "sleep 0.2; mount --bind boot /proc/sys/kernel/random/boot_id && exec \"$@\"";
        let lines = format!(
            "echo $$ >>pids\nshift\n[ $(wc -l <pids) != 3 ] || exec {enter} unshare --mount sh -c '{boot}' sh \"$@\"\n\
             exec {enter} \"$@\""
        );
        let rsh = self.place.script("rsh", &lines);
        let mut command = self.lab.near(program);
        command.args([
            "wire",
            "far",
            "--rsh",
            rsh.to_str().expect("UTF-8"),
            "--agent",
            program,
        ]);
        command.args(["soak", "--address", &self.lab.ipv4(End::Far).to_string()]);
        command
            .args(words.split_whitespace())
            .current_dir(self.place.path("."));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A test may have a chronyc of its own there, for both ends.
        let path = path_with_program();
        let place = self.place.path("");
        command.env("PATH", format!("{}:{path}", place.display()));
        let child = command.spawn().expect("it starts");
        let log = self.place.path("soak.jsonl");
        wait_until("the log begins", || log.exists());
        child
    }

    /// Sends a signal to the agent that started last, and returns whether there was one.
    fn signal(&self, signal: Signal) -> bool {
        let pids = fs::read_to_string(self.place.path("pids")).expect("text");
        let last = pids.lines().last().expect("an agent was started");
        let pid = Pid::from_raw(last.parse().expect("a number"));
        kill(pid, signal).is_ok()
    }

    /// Waits until this many probes were received at the far end: more than the few that find the longest payload.
    fn wait_for_probes(&self, probes: u64) {
        let received = || {
            let snmp = self.lab.far("cat").arg("/proc/net/snmp").output();
            let counts = stdout(&snmp.expect("it runs"));
            let udp = counts.lines().filter_map(|line| line.strip_prefix("Udp: "));
            let received = udp.filter_map(|counts| counts.split(' ').next()?.parse::<u64>().ok());
            received.sum::<u64>() >= probes
        };
        wait_until("the echo receives", received);
    }

    /// Runs a command at the far end.
    fn far(&self, words: &str) {
        let mut words = words.split(' ');
        let program = words.next().unwrap_or_default();
        let status = self.lab.far(program).args(words).status();
        assert!(status.expect("it starts").success());
    }
}

fn pause(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

#[test]
fn each_fault_is_one_event_of_its_kind() -> io::Result<()> {
    let Some(lab) = Lab::builder().start() else {
        return Ok(());
    };
    let place = Place::new();
    let (lab, place) = (&lab, &place);
    let watched = Watched { lab, place };
    // A busy machine has no delays and silences as long as these.
    let soak = watched.start("--for 11s --rate 1k --outage 100ms --delay 200ms -o soak.jsonl");
    pause(1500);
    watched.far("ip link set eth0 down");
    pause(300);
    watched.far("ip link set eth0 up");
    pause(3000);
    // What was sent in the last second of it comes back, late.
    assert!(watched.signal(Signal::SIGSTOP));
    pause(1300);
    assert!(watched.signal(Signal::SIGCONT));
    pause(2000);
    assert!(watched.signal(Signal::SIGKILL));
    let output = soak.wait_with_output()?;
    assert_code(&output, 0);
    let log = log(&place.path("soak.jsonl"));
    let events: Vec<&Event> = log
        .lines
        .iter()
        .filter_map(|entry| match entry {
            Entry::Event(event) if event.kind != Kind::Unsent => Some(&**event),
            _ => None,
        })
        .collect();
    let [down, stopped, killed] = events[..] else {
        panic!("{events:?}");
    };
    let shape = |event: &Event| (event.kind, event.place);
    assert_eq!(shape(down), (Kind::Silence, Where::Link), "{down:?}");
    assert!(down.silent_ns >= 250_000_000, "{down:?}");
    let is_carrier = |note: &Remark| {
        matches!(
            note,
            Remark::Counted {
                counter: Counter::Carrier,
                ..
            }
        )
    };
    assert!(down.notes.iter().any(is_carrier), "{down:?}");
    assert_eq!(
        shape(stopped),
        (Kind::Silence, Where::FarEnd),
        "{stopped:?}"
    );
    assert!(stopped.longest_silence_ns >= 1_290_000_000, "{stopped:?}");
    assert_eq!(killed.place, Where::FarEnd, "{killed:?}");
    let again = "far: it was restarted (another boot id), ";
    let is_restart = |note: &Remark| matches!(note, Remark::Restarted { .. });
    assert!(killed.notes.iter().any(is_restart), "{killed:?}");
    let shown = stdout(&output);
    assert!(
        shown.contains("at this host's link; carrier changes +"),
        "{shown}"
    );
    assert!(shown.contains(&format!("other end  {again}")), "{shown}");
    assert!(stderr(&output).contains(again), "{}", stderr(&output));
    rows_and_page_have_the_events(place);
    Ok(())
}

#[test]
fn a_soak_that_is_killed_in_its_first_minute_is_summarized_from_its_events() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let watched = Watched {
        lab: &lab,
        place: &place,
    };
    let mut soak = watched.start("--for 30s --rate 1k --outage 300ms --delay 200ms -o soak.jsonl");
    let path = place.path("soak.jsonl");
    watched.wait_for_probes(500);
    watched.far("ip link set eth0 down");
    // It is announced while it lasts.
    let has = |kind: &str| fs::read_to_string(&path).is_ok_and(|log| log.contains(kind));
    wait_until("it is announced", || has("{\"open\":"));
    let open = place.run("summarize soak.jsonl");
    watched.far("ip link set eth0 up");
    wait_until("it is over", || has("{\"event\":"));
    soak.kill().expect("it runs");
    soak.wait().expect("it is reaped");
    let over = place.run("summarize soak.jsonl");
    for output in [open, over] {
        assert_code(&output, 0);
        let text = stdout(&output);
        let share = text
            .split_once("available")
            .and_then(|(_, rest)| rest.split_once('%'));
        let share: f64 = share
            .map_or("", |(share, _)| share.trim())
            .parse()
            .expect("a number");
        assert!(share > 0.0 && share < 100.0, "{text}");
        assert!(
            text.contains("1 silence, longest") && text.contains("not to its end"),
            "{text}"
        );
        let lost = text
            .split_once("\nlost")
            .and_then(|(_, rest)| rest.split_once(" of "));
        let lost: u64 = lost
            .map_or("", |(lost, _)| lost.trim())
            .parse()
            .expect("a number");
        assert!(lost >= 1000, "{text}");
    }
}

#[test]
fn an_echo_that_ends_over_and_over_is_started_less_and_less_often() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let watched = Watched {
        lab: &lab,
        place: &place,
    };
    let mut soak = watched.start("--for 30s --rate 100 -o soak.jsonl");
    watched.wait_for_probes(100);
    let from = Instant::now();
    let starts = || {
        let pids = fs::read_to_string(place.path("pids")).expect("text");
        pids.lines().count()
    };
    let first = starts();
    // A busy machine starts the second one late.
    while starts() == first && from.elapsed() < Duration::from_secs(20)
        || from.elapsed() < Duration::from_secs(6)
    {
        watched.signal(Signal::SIGKILL);
        pause(5);
    }
    soak.kill().expect("it runs");
    soak.wait().expect("it is reaped");
    // Those that follow the first one after 0, 0.5, 1.5 and 3.5 s. Without pauses there are dozens.
    let further = starts() - first;
    assert!((1..=5).contains(&further), "{further}");
}

fn rows_and_page_have_the_events(place: &Place) {
    let rows = place.run("summarize soak.jsonl --format json");
    let document: Value = serde_json::from_slice(&rows.stdout).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    let found = rows.iter().filter(|row| row["kind"] == "silence");
    assert!(found.count() >= 2, "{rows:?}");
    if cfg!(not(feature = "report")) {
        return;
    }
    assert_code(&place.run("report soak.jsonl -o page.html"), 0);
    let page = fs::read_to_string(place.path("page.html")).expect("text");
    for text in [
        "Was the path always there",
        "Events over time",
        "carrier changes +",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // The lane of silences has parts, that of losses none.
    let lane = |kind: &str| {
        let row = page.split(&format!("<th scope=\"row\">{kind}</th>")).nth(1);
        let (row, _) = row.expect("a lane").split_once("<tr").unwrap_or_default();
        row.contains("<u style=")
    };
    assert!(lane("silence") && !lane("loss"), "{page}");
}
